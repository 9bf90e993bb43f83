#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wavegate::kir {

/// Kernel values are scalars. Integers are signless: the operation says how the bits are read.
enum class Type : uint8_t { none, boolean, i8, i16, i32, i64, f16, f32, f64 };

constexpr bool is_integer(Type type) {
  return type >= Type::i8 && type <= Type::i64;
}
constexpr bool is_float(Type type) {
  return type >= Type::f16;
}

/// Width in bits; a boolean has 1 and cannot be stored in memory.
constexpr uint32_t bit_width(Type type) {
  constexpr uint32_t widths[] = {0, 1, 8, 16, 32, 64, 16, 32, 64};
  return widths[static_cast<uint8_t>(type)];
}

/// Size in memory in bytes. Precondition: not boolean.
constexpr uint32_t byte_size(Type type) {
  return bit_width(type) / 8;
}

/// The name in the text form: "bool", "i32", "f32", ...
std::string_view to_string(Type type);
std::optional<Type> parse_type(std::string_view name);

}  // namespace wavegate::kir
