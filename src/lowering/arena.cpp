#include "wavegate/lowering/arena.h"

namespace wavegate::lowering {

uint32_t ArenaLayout::scalar_word(std::optional<uint32_t> alignment_bytes) {
  const uint32_t alignment = alignment_bytes && *alignment_bytes > 4 ? (*alignment_bytes + 3) / 4 : 1;
  scalar_words_ = (scalar_words_ + alignment - 1) / alignment * alignment;
  return scalar_words_++;
}

uint32_t ArenaLayout::control_word() {
  return scalar_words_ + control_words_++;
}

}  // namespace wavegate::lowering
