#pragma once

#include <cstdint>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"

namespace wavegate::lowering {

/// copy_words: `source`, `destination` (buffers of a type of 32 bits). Parameters source offset, destination offset,
/// count in words.
Result<kir::Kernel> copy_words_kernel(kir::Type type);

/// fill_words: `destination` (a buffer of a type of 32 bits). Parameters offset, count, word.
Result<kir::Kernel> fill_words_kernel(kir::Type type);

inline constexpr uint32_t kWordsPerWorkgroup = 256;  ///< of copy_words and fill_words

}  // namespace wavegate::lowering
