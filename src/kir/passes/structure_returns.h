#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/kir/passes/pass.h"

namespace wavegate::kir {

/// Leaves no return_ but the one that ends the body, so that something can be put behind the kernel. What followed a
/// construct that some leave by return_ goes into the branch that goes on, where there is one, or else into an if_ over
/// a value that says who left. A loop is left by break_ instead. What no invocation can reach after a construct that
/// all leave is dropped.
/// The statistics count the returns rewritten. Time is linear in the kernel's size, times the depth of its blocks.
/// Preserves: interface, memories, the order of effects, and that convergent operations stand in uniform flow.
/// `unsupported` if blocks would be nested deeper than kMaximumDepth; the kernel is then as it was.
Result<PassStats> structure_returns(Kernel& kernel);

}  // namespace wavegate::kir
