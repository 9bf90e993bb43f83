#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/kir/passes/pass.h"

namespace wavegate::kir {

/// What every kernel goes through before a device sees it: promote_variables, then fold_constants and
/// remove_dead_code. Preserves: interface, memories but for promoted variables, the order of effects.
Result<PassStats> simplify(Kernel& kernel);

}  // namespace wavegate::kir
