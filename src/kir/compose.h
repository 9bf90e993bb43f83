#pragma once

#include <cstdint>
#include <string_view>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"

/// Kernels made out of kernels. A kernel goes in verified and comes out verified; the result has the (first) kernel's
/// name, which is a plain field to change.
namespace wavegate::kir {

/// The kernel behind a latch: each invocation first reads the i32 scalar and ends if it is zero. The scalar is a `read`
/// binding at the end of the interface, so that its slot is the last of the slots in the launch words; it is called
/// `latch`, with a number behind where that name is taken. A dispatch must not write the slot by another binding. The
/// latch is the same for all invocations, so that barriers stay legal. What other bindings promise by their access
/// holds for a dispatch whose latch is not zero. `invalid-input` if `latch` is not a name.
Result<Kernel> guard(Kernel kernel, std::string_view latch);

}  // namespace wavegate::kir
