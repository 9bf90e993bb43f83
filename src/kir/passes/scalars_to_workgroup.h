#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/kir/passes/pass.h"

namespace wavegate::kir {

/// Keeps the scalars that a kernel writes in workgroup memory while it runs: they are loaded at its start and stored at
/// its end, by the first invocation. For a kernel that is dispatched as one workgroup and reads and writes the same
/// scalars over and over, as a loop within a kernel does. Precondition: it is dispatched so, and no two scalars are
/// given the same word.
///
/// The kernel ends with its only return (see structure_returns), or is left as it is. Nobody else sees what a scalar
/// holds while the kernel runs. A scalar that the kernel promises to write is not loaded. The statistics count the
/// loads and stores that were replaced. Preserves: interface, order of effects, uniformity of control flow.
Result<PassStats> scalars_to_workgroup(Kernel& kernel);

}  // namespace wavegate::kir
