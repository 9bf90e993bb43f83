#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/kir/passes/pass.h"

namespace wavegate::kir {

/// Removes instructions without effect whose results are never used, control flow whose body has no effect,
/// unused results and loop-carried values, and what follows a construct that never completes.
/// A loop without effect is taken to end, and an unused assume_uniform claims nothing; a barrier is an effect, an
/// unused subgroup operation is not. Every loop keeps a break_ or return_, reachable or not.
/// Preserves: interface, memories (an unused one stays declared).
Result<PassStats> remove_dead_code(Kernel& kernel);

}  // namespace wavegate::kir
