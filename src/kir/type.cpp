#include "wavegate/kir/type.h"

#include <array>

namespace wavegate::kir {
namespace {
constexpr std::array<std::string_view, 9> kNames = {"none", "bool", "i8", "i16", "i32", "i64", "f16", "f32", "f64"};
}

std::string_view to_string(Type type) {
  return kNames[static_cast<uint8_t>(type)];
}

std::optional<Type> parse_type(std::string_view name) {
  for (size_t i = 1; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Type>(i);
  return std::nullopt;
}

}  // namespace wavegate::kir
