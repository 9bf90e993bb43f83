#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/kir/passes/pass.h"

namespace wavegate::kir {

/// Turns local variables (memories of MemorySpace::local and length 1) into SSA values: results of if_ and switch_,
/// loop-carried values and loop results. A variable read before it is written keeps its memory, so that the
/// reference device can report the read; a removed variable's Memory entry is erased and ids are renumbered.
/// The statistics count the variables as changed, their loads and stores as removed. Time is linear in the kernel's
/// size and that of the result. Preserves: interface, the order of effects.
Result<PassStats> promote_variables(Kernel& kernel);

}  // namespace wavegate::kir
