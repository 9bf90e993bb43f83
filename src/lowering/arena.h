#pragma once

#include <cstdint>
#include <optional>

namespace wavegate::lowering {

/// Lays out the scalar arena, in 32-bit words: the program's scalars, packed, then the control section (latches,
/// counters), which starts fresh at each run. A scalar that an opaque kernel binds starts on
/// the device's binding alignment, since a descriptor must; its range is four bytes.
class ArenaLayout {
 public:
  /// The next scalar's word. Precondition: no control word was taken.
  uint32_t scalar_word(std::optional<uint32_t> alignment_bytes = {});
  /// The next word of the control section; zero at the start of each run. Aligned like a scalar if asked.
  uint32_t control_word(std::optional<uint32_t> alignment_bytes = {});
  uint32_t scalar_words() const { return scalar_words_; }
  uint32_t words() const { return scalar_words_ + control_words_; }

 private:
  uint32_t scalar_words_ = 0;
  uint32_t control_words_ = 0;
};

}  // namespace wavegate::lowering
