#include "wavegate/lowering/arena.h"

namespace wavegate::lowering {
namespace {

uint32_t aligned(uint32_t word, std::optional<uint32_t> alignment_bytes) {
  const uint32_t alignment = alignment_bytes && *alignment_bytes > 4 ? (*alignment_bytes + 3) / 4 : 1;
  return (word + alignment - 1) / alignment * alignment;
}

}  // namespace

uint32_t ArenaLayout::scalar_word(std::optional<uint32_t> alignment_bytes) {
  scalar_words_ = aligned(scalar_words_, alignment_bytes) + 1;
  return scalar_words_ - 1;
}

uint32_t ArenaLayout::control_word(std::optional<uint32_t> alignment_bytes) {
  const uint32_t word = aligned(scalar_words_ + control_words_, alignment_bytes);
  control_words_ = word + 1 - scalar_words_;
  return word;
}

}  // namespace wavegate::lowering
