#include "wavegate/emit/spirv/stream.h"

namespace wavegate::emit::spirv {

void append_string(std::vector<uint32_t>& words, std::string_view text) {
  const size_t first = words.size();
  words.resize(first + text.size() / 4 + 1, 0);
  for (size_t i = 0; i < text.size(); ++i)
    words[first + i / 4] |= static_cast<uint32_t>(static_cast<unsigned char>(text[i])) << (8 * (i % 4));
}

}  // namespace wavegate::emit::spirv
