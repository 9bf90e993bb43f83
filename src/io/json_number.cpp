#include "wavegate/io/json_number.h"

#include <bit>
#include <cmath>
#include <limits>

#include "wavegate/base/format.h"
#include "wavegate/io/text.h"
#include "wavegate/kir/float16.h"

namespace wavegate::io {
namespace {

std::string shown(const JsonValue& number) {
  if (const auto* negative = number.as<std::int64_t>()) return format("{}", *negative);
  if (const auto* natural = number.as<std::uint64_t>()) return format("{}", *natural);
  if (const auto* real = number.as<double>()) return format("{}", *real);
  return std::string(number.kind());
}

/// A whole number's bits within [minimum, maximum], or the error that names the range.
Result<std::uint64_t> integer_bits(const JsonValue& number, std::int64_t minimum, std::uint64_t maximum,
                                   std::string_view type) {
  if (const auto* natural = number.as<std::uint64_t>())
    if (*natural <= maximum) return *natural;
  if (const auto* negative = number.as<std::int64_t>())
    if (*negative >= minimum) return static_cast<std::uint64_t>(*negative);
  return invalid_input(format("{} is no {}, a whole number from {} to {}", shown(number), type, minimum, maximum));
}

/// A number of a magnitude below `overflow`, the first that rounds to infinity.
Result<double> real(const JsonValue& number, double overflow, std::string_view type) {
  double value = 0;
  if (const auto* negative = number.as<std::int64_t>()) {
    value = static_cast<double>(*negative);
  } else if (const auto* natural = number.as<std::uint64_t>()) {
    value = static_cast<double>(*natural);
  } else if (const auto* fraction = number.as<double>()) {
    value = *fraction;
  } else {
    return invalid_input(format("{} is no {}", number.kind(), type));
  }
  if (std::abs(value) < overflow) return value;
  return invalid_input(format("{} is beyond the range of {}", shown(number), type));
}

// Half a unit in the last place above the largest value.
constexpr double kOverflowF32 = 0x1.ffffffp127;
constexpr double kOverflowF16 = 65520.0;

Result<std::uint64_t> float_bits(const JsonValue& number, kir::Type type, std::string_view name) {
  if (type == kir::Type::f64) {
    WAVEGATE_TRY(const double value, real(number, std::numeric_limits<double>::infinity(), name));
    return std::bit_cast<std::uint64_t>(value);
  }
  if (type == kir::Type::f16) {
    WAVEGATE_TRY(const double value, real(number, kOverflowF16, name));
    return std::uint64_t{kir::double_to_float16(value)};
  }
  WAVEGATE_TRY(const double value, real(number, kOverflowF32, name));
  return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(value))};
}

}  // namespace

Result<std::uint64_t> element_bits(const JsonValue& number, kir::Type type) {
  if (kir::is_float(type)) return float_bits(number, type, kir::to_string(type));
  const std::uint32_t width = kir::bit_width(type);
  const std::uint64_t ones = std::numeric_limits<std::uint64_t>::max() >> (64 - width);
  const auto minimum = -static_cast<std::int64_t>(ones / 2) - 1;
  WAVEGATE_TRY(const std::uint64_t bits, integer_bits(number, minimum, ones, kir::to_string(type)));
  return bits & ones;
}

Result<program::Literal> scalar_literal(const JsonValue& number, program::ScalarType type) {
  const std::string_view name = program::to_string(type);
  Result<std::uint64_t> bits = 0u;
  switch (type) {
    case program::ScalarType::uint32: bits = integer_bits(number, 0, 0xffffffffu, name); break;
    case program::ScalarType::sint32: bits = integer_bits(number, -2147483648ll, 2147483647u, name); break;
    case program::ScalarType::float32: bits = float_bits(number, kir::Type::f32, name); break;
  }
  if (!bits) return bits.error();
  return program::Literal{type, static_cast<std::uint32_t>(*bits)};
}

Result<program::Literal> weak_literal(const JsonValue& number) {
  if (number.as<double>()) return scalar_literal(number, program::ScalarType::float32);
  if (number.as<std::int64_t>()) return scalar_literal(number, program::ScalarType::sint32);
  return scalar_literal(number, program::ScalarType::uint32);
}

Result<std::array<std::uint32_t, 3>> three_sizes(const JsonView& list) {
  WAVEGATE_TRY(const auto items, list.items());
  if (items.empty() || items.size() > 3) return list.error(format("has {} numbers; expected 1 to 3", items.size()));
  std::array<std::uint32_t, 3> sizes = {1, 1, 1};
  for (std::size_t i = 0; i < items.size(); ++i) {
    WAVEGATE_TRY(const std::uint64_t size, items[i].whole("a size", 1, std::numeric_limits<std::uint32_t>::max()));
    sizes[i] = static_cast<std::uint32_t>(size);
  }
  return sizes;
}

Result<JsonValue> parse_number(std::string_view text) {
  if (const auto natural = parse_unsigned(text)) return JsonValue{*natural};
  if (const auto whole = parse_signed(text)) {
    if (*whole < 0) return JsonValue{*whole};
    return JsonValue{static_cast<std::uint64_t>(*whole)};
  }
  if (const auto fraction = parse_real(text)) return JsonValue{*fraction};
  return invalid_input(format("{} is no number", quote(text)));
}

}  // namespace wavegate::io
