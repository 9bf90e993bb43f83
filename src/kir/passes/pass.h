#pragma once

#include <cstdint>

namespace wavegate::kir {

/// What a pass did. A pass is a free function `Result<PassStats> name(Kernel&)`; it takes a verified kernel and
/// leaves a verified kernel.
struct PassStats {
  uint32_t changed = 0;  ///< instructions replaced or rewritten
  uint32_t removed = 0;  ///< instructions deleted
  bool any() const { return changed + removed != 0; }
};

}  // namespace wavegate::kir
