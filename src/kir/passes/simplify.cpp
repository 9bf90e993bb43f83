#include "wavegate/kir/passes/simplify.h"

#include "wavegate/kir/passes/fold_constants.h"
#include "wavegate/kir/passes/promote_variables.h"
#include "wavegate/kir/passes/remove_dead_code.h"

namespace wavegate::kir {

Result<PassStats> simplify(Kernel& kernel) {
  PassStats total;
  for (const auto pass : {promote_variables, fold_constants, remove_dead_code}) {
    WAVEGATE_TRY(const PassStats stats, pass(kernel));
    total.changed += stats.changed;
    total.removed += stats.removed;
  }
  return total;
}

}  // namespace wavegate::kir
