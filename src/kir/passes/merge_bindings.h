#pragma once

#include <cstdint>
#include <span>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/kir/passes/pass.h"

namespace wavegate::kir {

/// Makes one binding of those to which a dispatch gives the same buffer or scalar: binding i becomes binding
/// same_as[i], which is i itself or an earlier one that stays. What remains keeps its order and its name. Its access is
/// what all of them do: `read` and `write` make `read_write`.
///
/// A load that was uniform because its binding was only read gets an assume_uniform, where that may stand and the
/// merged binding is written: between two barriers the invocations of a workgroup still read one value, unless they
/// race. The statistics count the bindings removed, and as changed the loads that got a claim. Preserves: parameters,
/// the order of effects, and that convergent operations stand in uniform flow. `invalid-input` if same_as is none, or
/// joins bindings of another kind or type; the kernel is then as it was.
Result<PassStats> merge_bindings(Kernel& kernel, std::span<const uint32_t> same_as);

/// The same for parameters, of which a launch gives several the same value.
Result<PassStats> merge_parameters(Kernel& kernel, std::span<const uint32_t> same_as);

}  // namespace wavegate::kir
