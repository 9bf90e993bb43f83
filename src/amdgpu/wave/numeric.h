#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

/// Arithmetic of one lane that C++ has no operator for. All of it is free of branches, so that loops over lanes become
/// vector code.
namespace wavegate::amdgpu::wave {

#define WAVEGATE_LANE [[gnu::always_inline]] inline

/// What the formats share. `quiet` is the bit that tells quiet NaNs from signalling ones.
template <typename T>
struct Format;
template <>
struct Format<float> {
  using Bits = std::uint32_t;
  using Signed = std::int32_t;
  static constexpr int mantissa = 23;
  static constexpr int bias = 127;
};
template <>
struct Format<double> {
  using Bits = std::uint64_t;
  using Signed = std::int64_t;
  static constexpr int mantissa = 52;
  static constexpr int bias = 1023;
};
template <typename T>
using BitsOf = typename Format<T>::Bits;
template <typename T>
inline constexpr BitsOf<T> kSign = BitsOf<T>{1} << (sizeof(T) * 8 - 1);
template <typename T>
inline constexpr BitsOf<T> kMantissa = (BitsOf<T>{1} << Format<T>::mantissa) - 1;
template <typename T>
inline constexpr BitsOf<T> kInfinity = ~(kSign<T> | kMantissa<T>);
template <typename T>
inline constexpr BitsOf<T> kQuiet = BitsOf<T>{1} << (Format<T>::mantissa - 1);
/// What an invalid operation gives: v_div_fixup's words for it.
template <typename T>
inline constexpr BitsOf<T> kDefaultNan = kSign<T> | kInfinity<T> | kQuiet<T>;

template <typename T>
WAVEGATE_LANE BitsOf<T> bits(T value) {
  return std::bit_cast<BitsOf<T>>(value);
}
WAVEGATE_LANE float real(std::uint32_t word) {
  return std::bit_cast<float>(word);
}
WAVEGATE_LANE double real(std::uint64_t pair) {
  return std::bit_cast<double>(pair);
}
template <typename T>
WAVEGATE_LANE bool is_nan(T value) {
  return (bits(value) & ~kSign<T>) > kInfinity<T>;
}
template <typename T>
WAVEGATE_LANE bool is_signalling(T value) {
  return is_nan(value) && ((bits(value) & kQuiet<T>) == 0);
}
template <typename T>
WAVEGATE_LANE bool is_infinite(T value) {
  return (bits(value) & ~kSign<T>) == kInfinity<T>;
}
template <typename T>
WAVEGATE_LANE bool is_zero(T value) {
  return (bits(value) & ~kSign<T>) == 0;
}
template <typename T>
WAVEGATE_LANE bool is_denormal(T value) {
  return !is_zero(value) && ((bits(value) & kInfinity<T>) == 0);
}
template <typename T>
WAVEGATE_LANE int biased_exponent(T value) {
  return static_cast<int>((bits(value) & kInfinity<T>) >> Format<T>::mantissa);
}
template <typename T>
WAVEGATE_LANE T absolute(T value) {
  return real(bits(value) & ~kSign<T>);
}
template <typename T>
WAVEGATE_LANE T quieted(T value) {
  return real(is_nan(value) ? bits(value) | kQuiet<T> : bits(value));
}

/// One NaN of two is ignored; a signalling one is not in IEEE mode; of zeros, -0 is the smaller.
template <typename T>
WAVEGATE_LANE T minimum_number(T a, T b, bool ieee) {
  const BitsOf<T> ua = bits(a), ub = bits(b);
  BitsOf<T> result = a < b ? ua : ub;
  result = a == b ? (ua | ub) : result;
  result = is_nan(b) ? ua : result;
  result = is_nan(a) ? ub : result;
  result = (ieee && is_signalling(b)) ? (ub | kQuiet<T>) : result;
  result = (ieee && is_signalling(a)) ? (ua | kQuiet<T>) : result;
  return real(result);
}
template <typename T>
WAVEGATE_LANE T maximum_number(T a, T b, bool ieee) {
  const BitsOf<T> ua = bits(a), ub = bits(b);
  BitsOf<T> result = a > b ? ua : ub;
  result = a == b ? (ua & ub) : result;
  result = is_nan(b) ? ua : result;
  result = is_nan(a) ? ub : result;
  result = (ieee && is_signalling(b)) ? (ub | kQuiet<T>) : result;
  result = (ieee && is_signalling(a)) ? (ua | kQuiet<T>) : result;
  return real(result);
}
/// The middle one; of three among which there is a NaN, the smallest.
template <typename T>
WAVEGATE_LANE T median(T a, T b, T c, bool ieee) {
  const T smallest = minimum_number(minimum_number(a, b, ieee), c, ieee);
  const T largest = maximum_number(maximum_number(a, b, ieee), c, ieee);
  const T others = largest == b ? maximum_number(a, c, ieee) : maximum_number(a, b, ieee);
  const T middle = largest == a ? maximum_number(b, c, ieee) : others;
  return is_nan(a) || is_nan(b) || is_nan(c) ? smallest : middle;
}
/// The kind that hands on NaNs: v_minimum_f32 of gfx12.
template <typename T>
WAVEGATE_LANE T minimum_nan(T a, T b) {
  const T number = minimum_number(a, b, false);
  return is_nan(a) ? quieted(a) : is_nan(b) ? quieted(b) : number;
}
template <typename T>
WAVEGATE_LANE T maximum_nan(T a, T b) {
  const T number = maximum_number(a, b, false);
  return is_nan(a) ? quieted(a) : is_nan(b) ? quieted(b) : number;
}

/// To the nearest integer, of two the even one, whatever MODE says.
template <typename T>
WAVEGATE_LANE T nearest_even(T value) {
#if defined(__clang__)  // which knows the builtin from version 18 on
  const T whole = std::trunc(value);
  const T rest = std::fabs(value - whole);
  const bool odd = std::trunc(whole * T{0.5}) * T{2} != whole;
  return std::copysign(rest > T{0.5} || (rest == T{0.5} && odd) ? whole + std::copysign(T{1}, value) : whole, value);
#else
  if constexpr (sizeof(T) == 4) return __builtin_roundevenf(value);
  return static_cast<T>(__builtin_roundeven(value));
#endif
}

/// Zero, whatever the other factor is: the multiplication of Direct3D 9. Denormals are zeros where MODE has it so.
WAVEGATE_LANE float multiply_legacy(float a, float b) {
  return (a == 0.0f || b == 0.0f) ? 0.0f : a * b;
}

/// With the sign of the value also where that leaves zero: without an instruction for it, compilers make 0 of a
/// difference, whose sign depends on MODE's rounding.
template <typename T>
WAVEGATE_LANE T round_down(T value) {
  return std::copysign(std::floor(value), value);
}
template <typename T>
WAVEGATE_LANE T round_up(T value) {
  return std::copysign(std::ceil(value), value);
}

/// x - floor(x), below 1.
template <typename T>
WAVEGATE_LANE T fraction(T value) {
  const T below_one = real(static_cast<BitsOf<T>>(bits(T{1}) - 1));
  const T difference = value - std::floor(value);
  const T result = difference < below_one ? difference : below_one;
  return is_nan(value) ? quieted(value) : is_infinite(value) ? real(kDefaultNan<T>) : result;
}

/// Rounded once: the exact product of a float and a power of two fits a double, whose range is far wider.
WAVEGATE_LANE float scaled(float value, std::int32_t exponent) {
  const std::int32_t bounded = exponent > 400 ? 400 : exponent < -400 ? -400 : exponent;
  const double power = real(static_cast<std::uint64_t>(1023 + bounded) << 52);
  return is_nan(value) ? quieted(value) : static_cast<float>(static_cast<double>(value) * power);
}
inline double scaled(double value, std::int32_t exponent) {
  return is_nan(value) ? quieted(value) : std::scalbn(value, exponent);
}

/// The mask's bits: sNaN, qNaN, -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf.
template <typename T>
WAVEGATE_LANE bool is_of_class(T value, std::uint32_t mask) {
  const bool negative = (bits(value) & kSign<T>) != 0;
  const std::uint32_t number = is_infinite(value)   ? (negative ? 1u << 2 : 1u << 9)
                               : is_zero(value)     ? (negative ? 1u << 5 : 1u << 6)
                               : is_denormal(value) ? (negative ? 1u << 4 : 1u << 7)
                                                    : (negative ? 1u << 3 : 1u << 8);
  const std::uint32_t kind = is_nan(value) ? (is_signalling(value) ? 1u : 2u) : number;
  return (kind & mask) != 0;
}

/// The value whose exponent says where its first digit is: v_frexp_exp. 0 for what has none.
WAVEGATE_LANE std::int32_t leading_zeros(std::uint32_t value) {
  return value == 0 ? 32 : std::countl_zero(value);
}
template <typename T>
WAVEGATE_LANE std::int32_t exponent_of(T value) {
  const int biased = biased_exponent(value);
  const int denormal_shift = static_cast<int>(std::countl_zero(static_cast<BitsOf<T>>(bits(value) & kMantissa<T>))) -
                             (static_cast<int>(sizeof(T)) * 8 - 1 - Format<T>::mantissa);
  const int exponent = biased == 0 ? 1 - denormal_shift : biased;
  return (is_zero(value) || is_nan(value) || is_infinite(value)) ? 0 : exponent - (Format<T>::bias - 1);
}
/// Within [0.5, 1), of the sign of the value.
template <typename T>
WAVEGATE_LANE T mantissa_of(T value) {
  const int denormal_shift = static_cast<int>(std::countl_zero(static_cast<BitsOf<T>>(bits(value) & kMantissa<T>))) -
                             (static_cast<int>(sizeof(T)) * 8 - 1 - Format<T>::mantissa);
  const BitsOf<T> fraction_bits =
      (biased_exponent(value) == 0 ? bits(value) << (denormal_shift & static_cast<int>(sizeof(T) * 8 - 1))
                                   : bits(value)) &
      kMantissa<T>;
  const BitsOf<T> result =
      (bits(value) & kSign<T>) | BitsOf<T>{Format<T>::bias - 1} << Format<T>::mantissa | fraction_bits;
  return (is_zero(value) || is_infinite(value)) ? value : is_nan(value) ? quieted(value) : real(result);
}

/// To an integer: towards zero, at the bounds where it exceeds them, 0 of a NaN.
template <typename T>
WAVEGATE_LANE std::int32_t to_signed(T value) {
  constexpr T kBound = static_cast<T>(2147483648.0);
  const bool inside = (value > -kBound) && (value < kBound);
  const std::int32_t converted = static_cast<std::int32_t>(inside ? value : T{0});
  const std::int32_t bound = value >= kBound ? 0x7fffffff : value <= -kBound ? -0x7fffffff - 1 : 0;
  return inside ? converted : bound;
}
template <typename T>
WAVEGATE_LANE std::uint32_t to_unsigned(T value) {
  constexpr T kHalf = static_cast<T>(2147483648.0);
  constexpr T kBound = static_cast<T>(4294967296.0);
  const bool inside = (value > T{0}) && (value < kBound);
  const bool upper = value >= kHalf;
  const T kept = inside ? (upper ? value - kHalf : value) : T{0};
  const std::uint32_t converted =
      static_cast<std::uint32_t>(static_cast<std::int32_t>(kept)) ^ (upper ? 0x80000000u : 0u);
  return inside ? converted : value >= kBound ? 0xffffffffu : 0u;
}
template <typename T>
WAVEGATE_LANE T clamped(T value, T low, T high) {
  return value < low ? low : value > high ? high : value;
}

/// How a float becomes an f16, by the numbers of the MODE register.
enum class Rounding : std::uint32_t { nearest_even, up, down, to_zero };

/// The bits of an f16. NaNs keep the upper part of their payload.
WAVEGATE_LANE std::uint32_t half_bits(float value, Rounding rounding) {
  const std::uint32_t word = bits(value);
  const std::uint32_t sign = word >> 16 & 0x8000u;
  const std::uint32_t magnitude = word & 0x7fffffffu;
  const std::int32_t exponent = static_cast<std::int32_t>(magnitude >> 23);
  const bool normal = exponent >= 113;
  const std::int32_t wanted = normal ? 13 : 126 - exponent;
  const std::uint32_t shift = static_cast<std::uint32_t>(wanted > 31 ? 31 : wanted);
  const std::uint32_t digits = (magnitude & 0x7fffffu) | (exponent == 0 ? 0u : 0x800000u);
  const std::uint32_t kept = digits >> shift;
  const std::uint32_t rest = digits & ((1u << shift) - 1);
  const std::uint32_t middle = 1u << (shift - 1);
  const std::uint32_t nearest = ((rest > middle) || ((rest == middle) && ((kept & 1) != 0))) ? 1u : 0u;
  const bool away = ((rounding == Rounding::up) && (sign == 0)) || ((rounding == Rounding::down) && (sign != 0));
  const std::uint32_t increment = rounding == Rounding::nearest_even ? nearest : (away && (rest != 0)) ? 1u : 0u;
  const std::uint32_t rounded = kept + increment + (normal ? static_cast<std::uint32_t>(exponent - 113) << 10 : 0u);
  const std::uint32_t beyond = ((rounding == Rounding::nearest_even) || away) ? 0x7c00u : 0x7bffu;
  const std::uint32_t finite = ((exponent >= 143) || (rounded >= 0x7c00u)) ? beyond : rounded;
  const std::uint32_t payload = (magnitude >> 13 & 0x3ffu) == 0 ? 0x200u : magnitude >> 13 & 0x3ffu;
  const std::uint32_t special = magnitude > 0x7f800000u ? 0x7c00u | payload : 0x7c00u;
  return sign | (magnitude >= 0x7f800000u ? special : finite);
}
/// The float of an f16's bits, exactly; a signalling NaN stays one.
WAVEGATE_LANE float of_half(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  const std::uint32_t normal = (magnitude << 13) + (112u << 23);
  const std::uint32_t special = (magnitude << 13) | 0x7f800000u;
  const std::uint32_t denormal = bits(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
  return real(sign | (magnitude >= 0x7c00u ? special : magnitude < 0x400u ? denormal : normal));
}

/// The sum of a product of floats and a float, in whose last bit is kept what the sum loses, so that rounding to fewer
/// digits sees it. The product is exact in f64.
WAVEGATE_LANE double sticky_sum(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = c;
  const double sum = product + addend;
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (addend - part);
  const std::uint64_t sum_bits = bits(sum);
  const bool finite = !is_nan(sum) && !is_infinite(sum);
  const bool towards_zero = (lost < 0) != (sum < 0);
  const std::uint64_t odd = (sum_bits & 1) != 0 ? sum_bits : towards_zero ? sum_bits - 1 : sum_bits + 1;
  return (finite && lost != 0 && !is_zero(sum)) ? real(odd) : sum;
}
/// To 24 bits, the last of which is odd if any was lost: what is then rounded to f16 is rounded once.
WAVEGATE_LANE float sticky_float(double value) {
  const std::uint64_t kept = bits(value) & ~((std::uint64_t{1} << 29) - 1);
  const bool inexact = (bits(value) & ((std::uint64_t{1} << 29) - 1)) != 0;
  const double narrow = is_nan(value) ? value : real(inexact ? kept | std::uint64_t{1} << 29 : kept);
  return static_cast<float>(narrow);
}
/// The sum of a product and an addend in f16, rounded once.
WAVEGATE_LANE float fused_half(float a, float b, float c) {
  return sticky_float(sticky_sum(a, b, c));
}

}  // namespace wavegate::amdgpu::wave
