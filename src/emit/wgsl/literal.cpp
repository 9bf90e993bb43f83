#include "wavegate/emit/wgsl/literal.h"

#include <cmath>

#include "wavegate/base/format.h"

namespace wavegate::emit::wgsl {
namespace {

/// The parts of a float format.
struct Format {
  uint32_t fraction_bits;
  uint32_t exponent_bits;
  char suffix;
};

std::string without_trailing(std::string text, char c) {
  while (text.back() == c) text.pop_back();
  return text;
}

std::optional<std::string> float_literal(const Format& format, uint64_t bits) {
  const uint32_t width = format.fraction_bits + format.exponent_bits;
  const uint64_t fraction = bits & ((uint64_t{1} << format.fraction_bits) - 1);
  const uint64_t largest_exponent = (uint64_t{1} << format.exponent_bits) - 1;
  const uint64_t exponent = bits >> format.fraction_bits & largest_exponent;
  const bool negative = (bits >> width & 1) != 0;
  if (bits == 0) return wavegate::format("0.0{}", format.suffix);
  if (exponent == 0 || exponent == largest_exponent) return std::nullopt;

  const int power = static_cast<int>(exponent) - static_cast<int>(largest_exponent / 2);
  const double magnitude = std::ldexp(static_cast<double>(fraction | uint64_t{1} << format.fraction_bits),
                                      power - static_cast<int>(format.fraction_bits));
  std::string text;
  if (magnitude < 1048576 && magnitude * 64 == std::floor(magnitude * 64)) {  // six decimals hold it
    text = without_trailing(wavegate::format("{:.6f}", magnitude), '0');
    if (text.back() == '.') text += '0';
  } else if (format.suffix == 'h') {  // not all compilers read these in hexadecimal
    return std::nullopt;
  } else {
    const uint32_t digits = (format.fraction_bits + 3) / 4;
    const uint64_t shifted = fraction << (4 * digits - format.fraction_bits);
    text = without_trailing(wavegate::format("0x1.{:0{}x}", shifted, digits), '0');
    if (text.back() == '.') text.pop_back();
    text += wavegate::format("p{}", power);
  }
  text += format.suffix;
  return negative ? wavegate::format("(-{})", text) : text;
}

}  // namespace

std::string_view type_name(kir::Type type) {
  switch (type) {
    case kir::Type::boolean: return "bool";
    case kir::Type::f16: return "f16";
    case kir::Type::f32: return "f32";
    default: return "u32";
  }
}

std::optional<std::string> literal(kir::Type type, uint64_t bits) {
  switch (type) {
    case kir::Type::boolean: return bits != 0 ? "true" : "false";
    case kir::Type::f16: return float_literal({.fraction_bits = 10, .exponent_bits = 5, .suffix = 'h'}, bits);
    case kir::Type::f32: return float_literal({.fraction_bits = 23, .exponent_bits = 8, .suffix = 'f'}, bits);
    default: return bits < 65536 ? wavegate::format("{}u", bits) : wavegate::format("{:#x}u", bits);
  }
}

std::string signed_literal(uint64_t bits) {
  const auto value = static_cast<int32_t>(static_cast<uint32_t>(bits));
  if (value == INT32_MIN) return "i32(-2147483648)";
  return value < 0 ? wavegate::format("({}i)", value) : wavegate::format("{}i", value);
}

}  // namespace wavegate::emit::wgsl
