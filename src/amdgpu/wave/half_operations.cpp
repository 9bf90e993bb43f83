#include <array>

#include "wavegate/amdgpu/wave/kernel.h"
#include "wavegate/amdgpu/wave/numeric.h"

namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;

/// A sum, difference or product of two f16 in f32 is rounded twice, which gives what rounding once does: f32 has more
/// than twice the digits. A fused one has not, see fused_half.
WAVEGATE_LANE F16 fused(F16 a, F16 b, F16 c) {
  return {fused_half(a.value, b.value, c.value)};
}
/// To the digits of an f16 as the host rounds now, which is as MODE says: its last digit is that of a sum with a number
/// 2^13 times as large. What exceeds the largest f16 is that or infinite, as the rounding has it.
WAVEGATE_LANE float rounded(float value) {
  constexpr float kLargest = 65504.0f, kBeyond = 65521.0f;
  const float bounded = absolute(value) > kBeyond ? std::copysign(kBeyond, value) : value;
  const std::uint32_t exponent = bits(bounded) & kInfinity<float>;
  constexpr std::uint32_t kLeast = 113u << 23;
  const std::uint32_t large = (bits(value) & kSign<float>) | ((exponent < kLeast ? kLeast : exponent) + (13u << 23));
  const float sum = (bounded + real(large)) - real(large);
  const float result = absolute(sum) > kLargest ? std::copysign(real(kInfinity<float>), value) : sum;
  return (is_nan(value) || is_infinite(value) || is_zero(value)) ? value : std::copysign(result, value);
}
WAVEGATE_LANE F16 unfused(F16 a, F16 b, F16 c) {
  return {rounded(a.value * b.value) + c.value};
}
WAVEGATE_LANE F16 smallest(F16 a, F16 b, bool ieee) {
  return {minimum_number(a.value, b.value, ieee)};
}
WAVEGATE_LANE F16 largest(F16 a, F16 b, bool ieee) {
  return {maximum_number(a.value, b.value, ieee)};
}

WAVEGATE_LANE F16 fraction_half(F16 a) {
  constexpr float kBelowOne = 2047.0f / 2048.0f;
  const float result = fraction(a.value);
  return {result > kBelowOne ? kBelowOne : result};
}

WAVEGATE_LANE F16 div_fixup(F16 quotient, F16 denominator, F16 numerator) {
  using u32 = std::uint32_t;
  const float q = quotient.value, d = denominator.value, n = numerator.value;
  const u32 sign = (bits(d) ^ bits(n)) & kSign<float>;
  u32 result = (bits(q) & ~kSign<float>) | sign;
  result = (is_infinite(d) || is_zero(n)) ? sign : result;
  result = (is_zero(d) || is_infinite(n)) ? sign | kInfinity<float> : result;
  result = ((is_zero(d) && is_zero(n)) || (is_infinite(d) && is_infinite(n))) ? kDefaultNan<float> : result;
  result = is_nan(d) ? bits(d) | kQuiet<float> : result;
  result = is_nan(n) ? bits(n) | kQuiet<float> : result;
  return {real(result)};
}

// clang-format off
constexpr std::array kRows{
    operation<[](F16 a, F16 b) { return F16{a.value + b.value}; }>(v_add_f16),
    operation<[](F16 a, F16 b) { return F16{a.value - b.value}; }>(v_sub_f16),
    operation<[](F16 a, F16 b) { return F16{b.value - a.value}; }>(v_subrev_f16),
    operation<[](F16 a, F16 b) { return F16{a.value * b.value}; }>(v_mul_f16),
    operation<[](Ieee ieee, F16 a, F16 b) { return smallest(a, b, ieee.on); }>(v_min_f16),
    operation<[](Ieee ieee, F16 a, F16 b) { return largest(a, b, ieee.on); }>(v_max_f16),
    operation<[](F16 a, F16 b) { return F16{minimum_nan(a.value, b.value)}; }>(v_minimum_f16),
    operation<[](F16 a, F16 b) { return F16{maximum_nan(a.value, b.value)}; }>(v_maximum_f16),
    operation<[](Ieee ieee, F16 a, F16 b, F16 c) { return smallest(smallest(a, b, ieee.on), c, ieee.on); }>(v_min3_f16),
    operation<[](Ieee ieee, F16 a, F16 b, F16 c) { return largest(largest(a, b, ieee.on), c, ieee.on); }>(v_max3_f16),
    operation<[](Ieee ieee, F16 a, F16 b, F16 c) { return F16{median(a.value, b.value, c.value, ieee.on)}; }>(v_med3_f16),
    operation<[](Ieee ieee, F16 a, F16 b, F16 c) { return smallest(largest(a, b, ieee.on), c, ieee.on); }>(v_maxmin_f16),
    operation<[](Ieee ieee, F16 a, F16 b, F16 c) { return largest(smallest(a, b, ieee.on), c, ieee.on); }>(v_minmax_f16),
    operation<[](F16 a, F16 b, F16 c) { return F16{minimum_nan(minimum_nan(a.value, b.value), c.value)}; }>(v_minimum3_f16),
    operation<[](F16 a, F16 b, F16 c) { return F16{maximum_nan(maximum_nan(a.value, b.value), c.value)}; }>(v_maximum3_f16),
    operation<[](F16 a, F16 b, F16 c) { return F16{minimum_nan(maximum_nan(a.value, b.value), c.value)}; }>(v_maximumminimum_f16),
    operation<[](F16 a, F16 b, F16 c) { return F16{maximum_nan(minimum_nan(a.value, b.value), c.value)}; }>(v_minimummaximum_f16),
    operation<[](F16 a, F16 b, F16 c) { return fused(a, b, c); }>(v_fma_f16),
    operation<[](F16 a, F16 b, F16 c) { return fused(a, b, c); }>(v_fma_legacy_f16),
    operation<[](F16 a, F16 b, F16 c) { return fused(a, b, c); }>(v_fmac_f16),
    operation<[](F16 a, F16 b, F16 c) { return fused(a, b, c); }>(v_fmaak_f16),
    operation<[](F16 a, F16 b, F16 c) { return fused(a, b, c); }>(v_fmamk_f16),
    operation<[](F16 a, F16 b, F16 c) { return unfused(a, b, c); }>(v_mad_f16),
    operation<[](F16 a, F16 b, F16 c) { return unfused(a, b, c); }>(v_mad_legacy_f16),
    operation<[](F16 a, F16 b, F16 c) { return unfused(a, b, c); }>(v_mac_f16),
    operation<[](F16 a, F16 b, F16 c) { return unfused(a, b, c); }>(v_madak_f16),
    operation<[](F16 a, F16 b, F16 c) { return unfused(a, b, c); }>(v_madmk_f16),
    operation<[](F16 a) { return F16{round_up(a.value)}; }>(v_ceil_f16),
    operation<[](F16 a) { return F16{round_down(a.value)}; }>(v_floor_f16),
    operation<[](F16 a) { return F16{std::trunc(a.value)}; }>(v_trunc_f16),
    operation<[](F16 a) { return F16{nearest_even(a.value)}; }>(v_rndne_f16),
    operation<[](F16 a) { return fraction_half(a); }>(v_fract_f16),
    operation<[](F16 a) { return F16{mantissa_of(a.value)}; }>(v_frexp_mant_f16),
    operation<[](F16 a) { return I16{exponent_of(a.value)}; }>(v_frexp_exp_i16_f16),
    operation<[](F16 a, I16 b) { return F16{scaled(a.value, b.value)}; }>(v_ldexp_f16),
    operation<[](F16 a, F16 b, F16 c) { return div_fixup(a, b, c); }>(v_div_fixup_f16),
    operation<[](F16 a, F16 b, F16 c) { return div_fixup(a, b, c); }>(v_div_fixup_legacy_f16),
    operation<[](F16 a, F16 b) { return F16{a.value + b.value}; }>(v_pk_add_f16),
    operation<[](F16 a, F16 b) { return F16{a.value * b.value}; }>(v_pk_mul_f16),
    operation<[](F16 a, F16 b, F16 c) { return fused(a, b, c); }>(v_pk_fma_f16),
    operation<[](F16 a, F16 b, F16 c) { return fused(a, b, c); }>(v_pk_fmac_f16),
    operation<[](Ieee ieee, F16 a, F16 b) { return smallest(a, b, ieee.on); }>(v_pk_min_f16),
    operation<[](Ieee ieee, F16 a, F16 b) { return largest(a, b, ieee.on); }>(v_pk_max_f16),
    operation<[](F16 a, F16 b) { return F16{minimum_nan(a.value, b.value)}; }>(v_pk_minimum_f16),
    operation<[](F16 a, F16 b) { return F16{maximum_nan(a.value, b.value)}; }>(v_pk_maximum_f16),
};
// clang-format on

}  // namespace

std::span<const Operation> half_operations() {
  return kRows;
}

}  // namespace wavegate::amdgpu::wave
