#include "wavegate/kir/interface.h"

#include <algorithm>

namespace wavegate::kir {

std::string_view to_string(Access access) {
  constexpr std::string_view names[] = {"read", "write", "read_write"};
  return names[static_cast<uint8_t>(access)];
}

uint32_t Interface::buffer_count() const {
  return static_cast<uint32_t>(
      std::ranges::count_if(bindings, [](const BindingInfo& b) { return b.kind == BindingKind::buffer; }));
}

uint32_t Interface::scalar_count() const {
  return static_cast<uint32_t>(bindings.size()) - buffer_count();
}

uint32_t Interface::parameter_word(uint32_t parameter) const {
  uint32_t word = scalar_count();
  for (uint32_t i = 0; i < parameter; ++i) word += bit_width(parameters[i].type) == 64 ? 2 : 1;
  return word;
}

uint32_t Interface::launch_words() const {
  return parameter_word(static_cast<uint32_t>(parameters.size()));
}

}  // namespace wavegate::kir
