#pragma once

#include <cstdint>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/kir/opaque_kernel.h"

namespace wavegate::emit::spirv {

/// The kernel's module behind a latch: what kir::guard is to kernels of ours. A new entry function with the old one's
/// name, execution modes and variables loads the first word of a storage buffer (set 0, the binding after the kernel's
/// last) and calls the old one, now a plain function, if it is not zero. The rest of the module is as it was; in
/// particular, its other entry points, except that one whose function is the same tests the latch as well. The word is
/// the same for all invocations, so that barriers stay where they may be.
///
/// The kernel should have been checked against its module (program::check_spirv_interface). Reads hostile modules in
/// time and memory linear in their words, up to a logarithm; what comes of an invalid module is invalid too.
/// `invalid-input` if the module is broken or has no such entry point. `unsupported` if kir::read_spirv does not read
/// it, it has no ids left, or an entry point can list no more variables. The kernel is named.
Result<std::vector<uint32_t>> early_out(const kir::OpaqueKernel& kernel);

}  // namespace wavegate::emit::spirv
