#include "wavegate/cli/number_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

#include "wavegate/amdgpu/wave/numeric.h"

namespace wavegate::cli {
namespace {

using amdgpu::object::NumberKind;
using io::ElementType;

std::vector<std::byte> bytes_of(const void* value, std::size_t size) {
  const auto* const first = static_cast<const std::byte*>(value);
  return {first, first + size};
}

/// A float, or nothing for what is no text of one or beyond the largest double.
std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [read, fault] = std::from_chars(text.data(), end, value);
  if (fault == std::errc::invalid_argument || read != end) return std::nullopt;
  // from_chars does not tell whether what it could not represent is too large or too small.
  if (fault == std::errc::result_out_of_range) value = std::strtod(std::string(text).c_str(), nullptr);
  if (fault == std::errc::result_out_of_range && !std::isfinite(value)) return std::nullopt;
  return value;
}

/// The double as a float whose last bit is set where digits were lost, so that rounding it again to a half as long is
/// as good as rounding once.
float rounded_to_odd(double value) {
  float single = static_cast<float>(value);
  if (!std::isfinite(single) || static_cast<double>(single) == value) return single;
  if (std::fabs(static_cast<double>(single)) > std::fabs(value)) single = std::nextafter(single, 0.0F);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(single) | 1U);
}

std::optional<std::vector<std::byte>> float_bytes(ElementType type, std::string_view text) {
  const auto wide = parse_double(text);
  if (!wide) return std::nullopt;
  if (type == ElementType::f64) return bytes_of(&*wide, sizeof(double));
  if (type == ElementType::f32) {
    // A double beyond the largest float by half a step or more is infinity, by IEEE 754's conversion.
    const float single = static_cast<float>(*wide);
    if (std::isinf(single) && !std::isinf(*wide)) return std::nullopt;
    return bytes_of(&single, sizeof(float));
  }
  constexpr std::uint32_t kInfinity = 0x7c00;
  const std::uint32_t half = amdgpu::wave::half_bits(rounded_to_odd(*wide), amdgpu::wave::Rounding::nearest_even);
  if ((half & 0x7fffU) == kInfinity && !std::isinf(*wide)) return std::nullopt;
  return bytes_of(&half, 2);
}

std::optional<std::vector<std::byte>> integer_bytes(ElementType type, std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (is_hexadecimal) text.remove_prefix(2);
  std::uint64_t magnitude = 0;
  const char* const end = text.data() + text.size();
  const auto [read, fault] = std::from_chars(text.data(), end, magnitude, is_hexadecimal ? 16 : 10);
  if (fault != std::errc() || read != end) return std::nullopt;
  const std::size_t size = io::size_of(type);
  const bool is_signed = kind_of(type) == NumberKind::signed_integer;
  const std::uint64_t most =
      type == ElementType::boolean ? 1 : std::numeric_limits<std::uint64_t>::max() >> (64 - size * 8);
  const std::uint64_t limit = is_signed ? most / 2 + (negative ? 1 : 0) : negative ? 0 : most;
  if (magnitude > limit) return std::nullopt;
  const std::uint64_t value = negative ? 0 - magnitude : magnitude;
  return bytes_of(&value, size);
}

}  // namespace

NumberKind kind_of(ElementType type) {
  switch (type) {
    case ElementType::f16:
    case ElementType::f32:
    case ElementType::f64: return NumberKind::floating;
    case ElementType::i8:
    case ElementType::i16:
    case ElementType::i32:
    case ElementType::i64: return NumberKind::signed_integer;
    default: return NumberKind::unsigned_integer;
  }
}

std::optional<std::vector<std::byte>> number_bytes(ElementType type, std::string_view text) {
  return kind_of(type) == NumberKind::floating ? float_bytes(type, text) : integer_bytes(type, text);
}

}  // namespace wavegate::cli
