#pragma once

#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/kir/passes/pass.h"

namespace wavegate::kir {

/// Turns the launch parameters for which `chosen` is true into read-only scalar bindings, appended to the interface
/// in order: the kernel then reads on the device what the host would have given at launch. The other parameters
/// keep their order. `invalid-input` if a chosen parameter is neither i32 nor f32.
/// Preserves: everything but the interface and the indices of parameters.
Result<PassStats> parameters_to_scalars(Kernel& kernel, const std::vector<bool>& chosen);

}  // namespace wavegate::kir
