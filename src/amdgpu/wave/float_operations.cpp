#include <array>
#include <limits>

#include "wavegate/amdgpu/wave/kernel.h"
#include "wavegate/amdgpu/wave/numeric.h"

namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;

/// The product is rounded before the sum is, by the MODE of the program: v_mad_f32.
WAVEGATE_LANE float unfused(float a, float b, float c) {
  const float product = a * b;
  return product + c;
}

template <typename T>
WAVEGATE_LANE WithFlag<T> div_scale(T value, T denominator, T numerator) {
  constexpr int kFar = sizeof(T) == 4 ? 96 : 768;
  constexpr int kTiny = sizeof(T) == 4 ? 23 : 53;
  const T up =
      real(static_cast<BitsOf<T>>(BitsOf<T>{Format<T>::bias + (sizeof(T) == 4 ? 64 : 128)} << Format<T>::mantissa));
  const T down =
      real(static_cast<BitsOf<T>>(BitsOf<T>{Format<T>::bias - (sizeof(T) == 4 ? 64 : 128)} << Format<T>::mantissa));
  const bool invalid = is_zero(numerator) || is_zero(denominator);
  const bool far = biased_exponent(numerator) - biased_exponent(denominator) >= kFar;
  const bool denormal_denominator = is_denormal(denominator);
  const bool denormal_reciprocal = is_denormal(T{1} / denominator);
  const bool denormal_quotient = is_denormal(numerator / denominator);
  const bool is_denominator = value == denominator;
  const bool is_numerator = value == numerator;
  const bool tiny = biased_exponent(numerator) <= kTiny;
  const T scaled_up = value * up;
  const T scaled_down = value * down;
  T result = tiny ? scaled_up : value;
  result = denormal_quotient ? (is_numerator ? scaled_up : value) : result;
  result = denormal_reciprocal ? scaled_down : result;
  result = (denormal_reciprocal && denormal_quotient) ? (is_denominator ? scaled_down : value) : result;
  result = denormal_denominator ? scaled_up : result;
  result = far ? (is_denominator ? scaled_up : value) : result;
  result = invalid ? real(kDefaultNan<T>) : result;
  return {result, !invalid && (far || (!denormal_denominator && denormal_quotient))};
}

/// The quotient that v_div_scale's scaling left too small or too large by a power of two is brought back, and rounded
/// once: denormal ones have fewer digits than the sum.
WAVEGATE_LANE float div_fmas(float a, float b, float c, Flag scale) {
  const double power = biased_exponent(c) > Format<float>::bias ? 0x1p64 : 0x1p-64;
  return scale.value != 0 ? static_cast<float>(sticky_sum(a, b, c) * power) : std::fma(a, b, c);
}
WAVEGATE_LANE double div_fmas(double a, double b, double c, Flag scale) {
  const double sum = std::fma(a, b, c);
  const bool is_large = biased_exponent(c) > Format<double>::bias;
  const double product = sum * (is_large ? 0x1p128 : 0x1p-128);
  // Where the sum lies between two denormal results, what it lost decides.
  const double lost = std::fma(a, b, c - sum);
  const double quantum = real(std::uint64_t{1});
  const double middle = quantum * 0x1p127;
  const double rest = sum - product * 0x1p128;
  const double correction = rest == middle && lost > 0 ? quantum : rest == -middle && lost < 0 ? -quantum : 0;
  const bool corrects = !is_large && correction != 0 && biased_exponent(product) <= 1;
  return scale.value == 0 ? sum : corrects ? product + correction : product;
}

template <typename T>
WAVEGATE_LANE T div_fixup(T quotient, T denominator, T numerator) {
  constexpr int kUnderflow = sizeof(T) == 4 ? -150 : -1075;
  constexpr int kMaximum = sizeof(T) == 4 ? 255 : 2047;
  const BitsOf<T> sign = (bits(denominator) ^ bits(numerator)) & kSign<T>;
  // What overflowed on the way is no number, and infinite.
  BitsOf<T> result = is_nan(quotient) ? sign | kInfinity<T> : (bits(quotient) & ~kSign<T>) | sign;
  result = biased_exponent(denominator) == kMaximum ? sign | kInfinity<T> : result;
  result = biased_exponent(numerator) - biased_exponent(denominator) < kUnderflow ? sign : result;
  result = (is_infinite(denominator) || is_zero(numerator)) ? sign : result;
  result = (is_zero(denominator) || is_infinite(numerator)) ? sign | kInfinity<T> : result;
  result = ((is_zero(denominator) && is_zero(numerator)) || (is_infinite(denominator) && is_infinite(numerator)))
               ? kDefaultNan<T>
               : result;
  result = is_nan(denominator) ? bits(denominator) | kQuiet<T> : result;
  result = is_nan(numerator) ? bits(numerator) | kQuiet<T> : result;
  return real(result);
}

/// Which face of a cube a direction meets: 0 to 5 for +x, -x, +y, -y, +z, -z.
WAVEGATE_LANE float cube_face(float x, float y, float z) {
  const float ax = absolute(x), ay = absolute(y), az = absolute(z);
  const float rest = ay >= ax ? (y < 0 ? 3.0f : 2.0f) : (x < 0 ? 1.0f : 0.0f);
  return (az >= ax && az >= ay) ? (z < 0 ? 5.0f : 4.0f) : rest;
}

WAVEGATE_LANE float cube_axis(float x, float y, float z) {
  const float face = cube_face(x, y, z);
  return 2.0f * (face >= 4.0f ? z : face >= 2.0f ? y : x);
}
/// Coordinates within a face.
WAVEGATE_LANE float cube_s(float x, float y, float z) {
  const float face = cube_face(x, y, z);
  return face >= 4.0f ? (face == 5.0f ? -x : x) : face >= 2.0f ? x : (face == 1.0f ? z : -z);
}
WAVEGATE_LANE float cube_t(float x, float y, float z) {
  const float face = cube_face(x, y, z);
  return face >= 4.0f ? -y : face >= 2.0f ? (face == 3.0f ? -z : z) : -y;
}
/// The specular part of Direct3D's lighting: the least number where there is none.
WAVEGATE_LANE float multiply_lit(float a, float b, float c) {
  const float least = real(0xff7fffffu);
  return (is_nan(b) || b <= least || is_nan(c) || c <= 0.0f) ? least : multiply_legacy(a, b);
}

// clang-format off
constexpr std::array kRows{
    operation<[](float a, float b) { return a + b; }>(v_add_f32),
    operation<[](float a, float b) { return a - b; }>(v_sub_f32),
    operation<[](float a, float b) { return b - a; }>(v_subrev_f32),
    operation<[](float a, float b) { return a * b; }>(v_mul_f32),
    operation<[](float a, float b) { return multiply_legacy(a, b); }>(v_mul_legacy_f32),
    operation<[](Ieee ieee, float a, float b) { return minimum_number(a, b, ieee.on); }>(v_min_f32),
    operation<[](Ieee ieee, float a, float b) { return maximum_number(a, b, ieee.on); }>(v_max_f32),
    operation<[](float a, float b) { return minimum_nan(a, b); }>(v_minimum_f32),
    operation<[](float a, float b) { return maximum_nan(a, b); }>(v_maximum_f32),
    operation<[](Ieee ieee, float a, float b, float c) { return minimum_number(minimum_number(a, b, ieee.on), c, ieee.on); }>(v_min3_f32),
    operation<[](Ieee ieee, float a, float b, float c) { return maximum_number(maximum_number(a, b, ieee.on), c, ieee.on); }>(v_max3_f32),
    operation<[](Ieee ieee, float a, float b, float c) { return median(a, b, c, ieee.on); }>(v_med3_f32),
    operation<[](Ieee ieee, float a, float b, float c) { return minimum_number(maximum_number(a, b, ieee.on), c, ieee.on); }>(v_maxmin_f32),
    operation<[](Ieee ieee, float a, float b, float c) { return maximum_number(minimum_number(a, b, ieee.on), c, ieee.on); }>(v_minmax_f32),
    operation<[](float a, float b, float c) { return minimum_nan(minimum_nan(a, b), c); }>(v_minimum3_f32),
    operation<[](float a, float b, float c) { return maximum_nan(maximum_nan(a, b), c); }>(v_maximum3_f32),
    operation<[](float a, float b, float c) { return minimum_nan(maximum_nan(a, b), c); }>(v_maximumminimum_f32),
    operation<[](float a, float b, float c) { return maximum_nan(minimum_nan(a, b), c); }>(v_minimummaximum_f32),
    operation<[](float a, float b, float c) { return std::fma(a, b, c); }>(v_fma_f32),
    operation<[](float a, float b, float c) { return std::fma(a, b, c); }>(v_fmac_f32),
    operation<[](float a, float b, float c) { return std::fma(a, b, c); }>(v_fmaak_f32),
    operation<[](float a, float b, float c) { return std::fma(a, b, c); }>(v_fmamk_f32),
    operation<[](float a, float b, float c) { return std::fma(a, b, c); }>(v_fma_mix_f32),
    operation<[](float a, float b, float c) { return std::fma(a, b, c); }>(v_fma_mixlo_f16),
    operation<[](float a, float b, float c) { return std::fma(a, b, c); }>(v_fma_mixhi_f16),
    operation<[](float a, float b, float c) { return unfused(a, b, c); }>(v_mad_mix_f32),
    operation<[](float a, float b, float c) { return unfused(a, b, c); }>(v_mad_mixlo_f16),
    operation<[](float a, float b, float c) { return unfused(a, b, c); }>(v_mad_mixhi_f16),
    operation<[](float a, float b, float c) { return (a == 0.0f || b == 0.0f) ? 0.0f + c : std::fma(a, b, c); }>(v_fma_legacy_f32),
    operation<[](float a, float b, float c) { return (a == 0.0f || b == 0.0f) ? 0.0f + c : std::fma(a, b, c); }>(v_fmac_legacy_f32),
    flushing(operation<[](float a, float b, float c) { return unfused(a, b, c); }>(v_mad_f32)),
    flushing(operation<[](float a, float b, float c) { return unfused(a, b, c); }>(v_mac_f32)),
    flushing(operation<[](float a, float b, float c) { return unfused(a, b, c); }>(v_madak_f32)),
    flushing(operation<[](float a, float b, float c) { return unfused(a, b, c); }>(v_madmk_f32)),
    operation<[](float a, float b, float c) { return multiply_legacy(a, b) + c; }>(v_mad_legacy_f32),
    operation<[](float a, float b, float c) { return multiply_legacy(a, b) + c; }>(v_mac_legacy_f32),
    operation<[](float a) { return std::ceil(a); }>(v_ceil_f32),
    operation<[](float a) { return std::floor(a); }>(v_floor_f32),
    operation<[](float a) { return std::trunc(a); }>(v_trunc_f32),
    operation<[](float a) { return nearest_even(a); }>(v_rndne_f32),
    operation<[](float a) { return fraction(a); }>(v_fract_f32),
    operation<[](float a) { return mantissa_of(a); }>(v_frexp_mant_f32),
    operation<[](float a) { return exponent_of(a); }>(v_frexp_exp_i32_f32),
    operation<[](float a, std::int32_t b) { return scaled(a, b); }>(v_ldexp_f32),
    operation<[](float a, float b, float c) { return div_scale(a, b, c); }>(v_div_scale_f32),
    operation<[](float a, float b, float c, Flag scale) { return div_fmas(a, b, c, scale); }>(v_div_fmas_f32),
    operation<[](float a, float b, float c) { return div_fixup(a, b, c); }>(v_div_fixup_f32),
    operation<[](float x, float y, float z) { return cube_face(x, y, z); }>(v_cubeid_f32),
    operation<[](float x, float y, float z) { return cube_axis(x, y, z); }>(v_cubema_f32),
    operation<[](float x, float y, float z) { return cube_s(x, y, z); }>(v_cubesc_f32),
    operation<[](float x, float y, float z) { return cube_t(x, y, z); }>(v_cubetc_f32),
    operation<[](float a, float b, float c) { return multiply_lit(a, b, c); }>(v_mullit_f32),
};

constexpr std::array kDoubleRows{
    operation<[](double a, double b) { return a + b; }>(v_add_f64),
    operation<[](double a, double b) { return a * b; }>(v_mul_f64),
    operation<[](Ieee ieee, double a, double b) { return minimum_number(a, b, ieee.on); }>(v_min_f64),
    operation<[](Ieee ieee, double a, double b) { return maximum_number(a, b, ieee.on); }>(v_max_f64),
    operation<[](double a, double b) { return minimum_nan(a, b); }>(v_minimum_f64),
    operation<[](double a, double b) { return maximum_nan(a, b); }>(v_maximum_f64),
    operation<[](double a, double b, double c) { return std::fma(a, b, c); }>(v_fma_f64),
    operation<[](double a, double b, double c) { return std::fma(a, b, c); }>(v_fmac_f64),
    operation<[](double a) { return std::ceil(a); }>(v_ceil_f64),
    operation<[](double a) { return std::floor(a); }>(v_floor_f64),
    operation<[](double a) { return std::trunc(a); }>(v_trunc_f64),
    operation<[](double a) { return nearest_even(a); }>(v_rndne_f64),
    operation<[](double a) { return fraction(a); }>(v_fract_f64),
    operation<[](double a) { return mantissa_of(a); }>(v_frexp_mant_f64),
    operation<[](double a) { return exponent_of(a); }>(v_frexp_exp_i32_f64),
    operation<[](double a, std::int32_t b) { return scaled(a, b); }>(v_ldexp_f64),
    operation<[](double a, double b, double c) { return div_scale(a, b, c); }>(v_div_scale_f64),
    operation<[](double a, double b, double c, Flag scale) { return div_fmas(a, b, c, scale); }>(v_div_fmas_f64),
    operation<[](double a, double b, double c) { return div_fixup(a, b, c); }>(v_div_fixup_f64),
};
// clang-format on

}  // namespace

std::span<const Operation> float_operations() {
  return kRows;
}
std::span<const Operation> double_operations() {
  return kDoubleRows;
}

}  // namespace wavegate::amdgpu::wave
