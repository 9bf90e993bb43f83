#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/kir/passes/pass.h"

namespace wavegate::kir {

/// Replaces pure instructions whose operands are constants by their value; simplifies identities that are exact
/// for every input (x + 0, x * 1, x & x; never a float identity that could change a NaN or a signed zero); replaces
/// an if_ or switch_ on a constant by the block taken, unless that would leave a loop around without a break_ or
/// return_; and replaces a loop-carried value that never changes, or a result that is the same by every exit, by
/// that value. Float folding rounds to nearest even as the reference device does; approximate operations (exp2, log2,
/// sin, cos) are left alone.
/// Preserves: interface, memories, control-flow structure except the constructs that it removes.
Result<PassStats> fold_constants(Kernel& kernel);

}  // namespace wavegate::kir
