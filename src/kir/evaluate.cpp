#include "wavegate/kir/evaluate.h"

#include <bit>
#include <cmath>
#include <limits>

#include "wavegate/kir/float16.h"

namespace wavegate::kir {
namespace {

__extension__ using uint128 = unsigned __int128;
__extension__ using int128 = __int128;

uint64_t mask(uint32_t width) {
  return ~uint64_t{0} >> (64 - width);
}

int64_t sign_extend(uint64_t bits, uint32_t width) {
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

// How the bits of a float type become a number of the host to compute in, and back. A NaN that arithmetic
// makes always has the same bits, whatever the host's rules of propagation.
struct F16 {
  using Number = double;
  static constexpr uint64_t kNan = 0x7e00;
  static double decode(uint64_t bits) { return float16_to_double(static_cast<uint16_t>(bits)); }
  static uint64_t encode(double value) { return std::isnan(value) ? kNan : double_to_float16(value); }
  // The product has 22 bits. Where its sum with an 11-bit number needs more than 53, the smaller term is too
  // small to reach a point half way between two halves: rounding twice is harmless.
  static double fma(double a, double b, double c) { return a * b + c; }
};

struct F32 {
  using Number = float;
  static constexpr uint64_t kNan = 0x7fc00000;
  static float decode(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
  static uint64_t encode(float value) { return std::isnan(value) ? kNan : std::bit_cast<uint32_t>(value); }
  static float fma(float a, float b, float c) { return std::fma(a, b, c); }
};

struct F64 {
  using Number = double;
  static constexpr uint64_t kNan = 0x7ff8000000000000;
  static double decode(uint64_t bits) { return std::bit_cast<double>(bits); }
  static uint64_t encode(double value) { return std::isnan(value) ? kNan : std::bit_cast<uint64_t>(value); }
  static double fma(double a, double b, double c) { return std::fma(a, b, c); }
};

template <typename Visit>
auto with_format(Type type, Visit&& visit) {
  switch (type) {
    case Type::f16: return visit(F16{});
    case Type::f32: return visit(F32{});
    default: return visit(F64{});
  }
}

/// The exact value of any float type.
double to_double(Type type, uint64_t bits) {
  return with_format(type, [&](auto format) { return static_cast<double>(format.decode(bits)); });
}

template <typename Format>
uint64_t evaluate_float(Op op, std::span<const uint64_t> operands) {
  using Number = typename Format::Number;
  const Number a = Format::decode(operands[0]);
  const Number b = operands.size() > 1 ? Format::decode(operands[1]) : Number{};
  switch (op) {
    case Op::add_f: return Format::encode(a + b);
    case Op::sub_f: return Format::encode(a - b);
    case Op::mul_f: return Format::encode(a * b);
    case Op::div_f: return Format::encode(a / b);
    case Op::fma: return Format::encode(Format::fma(a, b, Format::decode(operands[2])));
    case Op::min_f:
    case Op::max_f:
      if (std::isnan(a)) return std::isnan(b) ? Format::kNan : operands[1];
      if (std::isnan(b)) return operands[0];
      // Equal numbers differ at most in the sign of zero, and -0 counts as less than +0.
      if (a == b) return op == Op::min_f ? operands[0] | operands[1] : operands[0] & operands[1];
      return (a < b) == (op == Op::min_f) ? operands[0] : operands[1];
    case Op::sqrt: return Format::encode(std::sqrt(a));
    case Op::floor: return Format::encode(std::floor(a));
    case Op::ceil: return Format::encode(std::ceil(a));
    case Op::trunc: return Format::encode(std::trunc(a));
    case Op::round_even: return Format::encode(std::nearbyint(a));
    case Op::exp2: return Format::encode(std::exp2(a));
    case Op::log2: return Format::encode(std::log2(a));
    case Op::sin: return Format::encode(std::sin(a));
    default: return Format::encode(std::cos(a));
  }
}

bool compare_float(Op op, double a, double b) {
  switch (op) {
    case Op::equal_f: return a == b;
    case Op::not_equal_f: return !(a == b);
    case Op::less_f: return a < b;
    default: return a <= b;
  }
}

bool compare_integer(Op op, uint32_t width, uint64_t a, uint64_t b) {
  switch (op) {
    case Op::equal: return a == b;
    case Op::not_equal: return a != b;
    case Op::less_u: return a < b;
    case Op::less_s: return sign_extend(a, width) < sign_extend(b, width);
    case Op::less_equal_u: return a <= b;
    default: return sign_extend(a, width) <= sign_extend(b, width);
  }
}

uint64_t reverse_bits(uint64_t bits, uint32_t width) {
  uint64_t reversed = 0;
  for (uint32_t i = 0; i < width; ++i) reversed |= (bits >> i & 1) << (width - 1 - i);
  return reversed;
}

/// The result modulo 2^64; the caller cuts it to the width.
uint64_t evaluate_integer(Op op, uint32_t width, uint64_t a, uint64_t b) {
  const int64_t sa = sign_extend(a, width);
  const int64_t sb = sign_extend(b, width);
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::mul_high_u: return static_cast<uint64_t>(static_cast<uint128>(a) * b >> width);
    case Op::mul_high_s: return static_cast<uint64_t>(static_cast<int128>(sa) * sb >> width);
    case Op::div_u: return b == 0 ? a : a / b;
    case Op::div_s: return b == 0 ? a : sb == -1 ? 0 - a : static_cast<uint64_t>(sa / sb);
    case Op::rem_u: return b == 0 ? 0 : a % b;
    case Op::rem_s: return b == 0 || sb == -1 ? 0 : static_cast<uint64_t>(sa % sb);
    case Op::min_u: return a < b ? a : b;
    case Op::min_s: return sa < sb ? a : b;
    case Op::max_u: return a > b ? a : b;
    case Op::max_s: return sa > sb ? a : b;
    case Op::and_: return a & b;
    case Op::or_: return a | b;
    case Op::xor_: return a ^ b;
    case Op::not_: return ~a;
    case Op::shift_left: return a << (b & (width - 1));
    case Op::shift_right_u: return a >> (b & (width - 1));
    case Op::shift_right_s: return static_cast<uint64_t>(sa >> (b & (width - 1)));
    case Op::count_bits: return static_cast<uint64_t>(std::popcount(a));
    case Op::count_leading_zeros: return static_cast<uint64_t>(std::countl_zero(a)) - (64 - width);
    case Op::count_trailing_zeros: return a == 0 ? width : static_cast<uint64_t>(std::countr_zero(a));
    default: return reverse_bits(a, width);
  }
}

/// Saturates to [lowest, 2^digits - 1] towards zero; NaN gives zero.
uint64_t saturate(double value, double lowest, uint32_t digits) {
  if (std::isnan(value)) return 0;
  if (value >= std::ldexp(1.0, static_cast<int>(digits))) return mask(digits);
  if (value <= lowest) return lowest == 0 ? 0 : ~uint64_t{0} << digits;
  return value < 0 ? 0 - static_cast<uint64_t>(-value) : static_cast<uint64_t>(value);
}

/// An integer beyond 53 bits overflows f16, so that double in between does not round twice.
template <typename Integer>
uint64_t integer_to_float(Type type, Integer value) {
  return with_format(type, [&](auto format) { return format.encode(static_cast<decltype(format.decode(0))>(value)); });
}

uint64_t convert_float(Type to, Type from, uint64_t bits) {
  const double value = to_double(from, bits);
  return with_format(to, [&](auto format) { return format.encode(static_cast<decltype(format.decode(0))>(value)); });
}

}  // namespace

uint64_t evaluate(Op op, Type type, Type operand_type, std::span<const uint64_t> operands) {
  const uint32_t width = bit_width(type);
  const uint32_t operand_width = bit_width(operand_type);
  const uint64_t a = operands[0];
  switch (op) {
    case Op::select: return a != 0 ? operands[1] : operands[2];
    case Op::bitcast:
    case Op::extend_u: return a;
    case Op::extend_s: return static_cast<uint64_t>(sign_extend(a, operand_width)) & mask(width);
    case Op::truncate: return a & mask(width);
    case Op::convert_u_to_f: return integer_to_float(type, a);
    case Op::convert_s_to_f: return integer_to_float(type, sign_extend(a, operand_width));
    case Op::convert_f_to_u: return saturate(to_double(operand_type, a), 0, width);
    case Op::convert_f_to_s: {
      const double lowest = -std::ldexp(1.0, static_cast<int>(width) - 1);
      return saturate(to_double(operand_type, a), lowest, width - 1) & mask(width);
    }
    case Op::convert_f: return convert_float(type, operand_type, a);
    case Op::neg_f: return a ^ uint64_t { 1 } << (width - 1);
    case Op::abs_f: return a & mask(width - 1);
    case Op::is_nan: return std::isnan(to_double(operand_type, a)) ? 1 : 0;
    default: break;
  }
  if (op >= Op::add && op <= Op::reverse_bits) {
    return evaluate_integer(op, width, a, operands.size() > 1 ? operands[1] : 0) & mask(width);
  }
  if (op >= Op::equal && op <= Op::less_equal_s) return compare_integer(op, operand_width, a, operands[1]) ? 1 : 0;
  if (op >= Op::equal_f && op <= Op::less_equal_f) {
    return compare_float(op, to_double(operand_type, a), to_double(operand_type, operands[1])) ? 1 : 0;
  }
  return with_format(type, [&](auto format) { return evaluate_float<decltype(format)>(op, operands); });
}

}  // namespace wavegate::kir
