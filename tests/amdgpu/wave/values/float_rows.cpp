#include <bit>
#include <cmath>

#include "amdgpu/wave/values/rows.h"

namespace wavegate::amdgpu::wave::testing {

namespace {

#define V WAVEGATE_VALUE

/// MAD rounds its product and keeps no denormals, whatever MODE says.
u64 unfused(Lane& x, Float to, u64 a, u64 b, u64 c) {
  to.flush_sources = to.flush_results = true;
  const u64 product = to.multiply(a, b);
  // Whether what is rounded up to the least number counts as a denormal is not said.
  x.unspecified = to.format.magnitude(product) == u64{1} << to.format.fraction_bits;
  return to.add(product, c);
}
u64 unfused_kept(const Float& to, u64 a, u64 b, u64 c) {
  return to.add(to.multiply(a, b), c);
}
u64 legacy_product(const Float& to, u64 a, u64 b) {
  return to.is_zero(to.source(a)) || to.is_zero(to.source(b)) ? 0 : to.multiply(a, b);
}
u64 legacy_fused(const Float& to, u64 a, u64 b, u64 c) {
  return to.is_zero(to.source(a)) || to.is_zero(to.source(b)) ? to.add(0, c) : to.fused(a, b, c);
}

/// A NaN loses against a number; in IEEE mode a signalling one does not. -0 is less than +0.
u64 extreme(const Lane& x, const Float& to, u64 a, u64 b, bool least) {
  a = to.source(a), b = to.source(b);
  if (x.ieee && (to.is_signalling(a) || to.is_signalling(b))) return to.format.nan();
  if (to.is_nan(a)) return b;
  if (to.is_nan(b)) return a;
  if (to.is_zero(a) && to.is_zero(b)) return least ? a | b : a & b;
  return (to.compare(a, b) < 0) == least ? a : b;
}
u64 smaller(const Lane& x, const Float& to, u64 a, u64 b) {
  return extreme(x, to, a, b, true);
}
u64 larger(const Lane& x, const Float& to, u64 a, u64 b) {
  return extreme(x, to, a, b, false);
}
/// Any NaN is handed on.
u64 smaller_or_nan(const Lane& x, const Float& to, u64 a, u64 b) {
  return to.is_nan(a) || to.is_nan(b) ? to.format.nan() : smaller(x, to, a, b);
}
u64 larger_or_nan(const Lane& x, const Float& to, u64 a, u64 b) {
  return to.is_nan(a) || to.is_nan(b) ? to.format.nan() : larger(x, to, a, b);
}
u64 median(const Lane& x, const Float& to, u64 a, u64 b, u64 c) {
  if (to.is_nan(a) || to.is_nan(b) || to.is_nan(c)) return smaller(x, to, smaller(x, to, a, b), c);
  const u64 largest = larger(x, to, larger(x, to, a, b), c);
  if (to.compare(largest, a) == 0) return larger(x, to, b, c);
  if (to.compare(largest, b) == 0) return larger(x, to, a, c);
  return larger(x, to, a, b);
}

/// x - floor(x), which rounding must not bring to 1. Of f16 nothing is said about that.
u64 fraction(Lane& x, const Float& to, u64 a) {
  const u64 result = to.subtract(a, to.integral(a, Round::down));
  const bool reached = result == to.format.one();
  x.unspecified = reached && to.format.fraction_bits == kF16.fraction_bits;
  return reached ? to.format.one() - 1 : result;
}
int exponent_of(const Float& to, u64 a) {
  a = to.source(a);
  if (to.is_zero(a) || to.is_nan(a) || to.is_infinite(a)) return 0;
  int exponent = 0;
  std::frexp(to_double(to.format, a), &exponent);
  if (to.format.fraction_bits == kF64.fraction_bits && to.is_denormal(a)) {
    // Digits of the fraction alone.
    exponent = 1 - kF64.bias() - kF64.fraction_bits;
    for (u64 digits = to.format.magnitude(a); digits != 0; digits >>= 1) ++exponent;
  }
  return exponent;
}
u64 mantissa_of(const Float& to, u64 a) {
  a = to.source(a);
  if (to.is_zero(a) || to.is_nan(a) || to.is_infinite(a)) return a;
  return to.scaled(a, -exponent_of(to, a));
}

/// By the case distinction of the ISA documents, but for one case: where both the denominator's reciprocal and the
/// quotient are denormal, they scale the denominator up, beyond all bounds; only down gives a quotient.
u64 div_scale(Lane& x, const Float& to) {
  const u64 value = to.source(x.a()), denominator = to.source(x.b()), numerator = to.source(x.c());
  const bool is_double = to.format.fraction_bits == kF64.fraction_bits;
  const int by = is_double ? 128 : 64;
  const int apart = to.biased_exponent(numerator) - to.biased_exponent(denominator);
  Float plain = to;
  plain.flush_results = false;
  const bool small_reciprocal = to.is_denormal(plain.divide(to.format.one(), denominator));
  const bool small_quotient = to.is_denormal(plain.divide(numerator, denominator));
  const bool is_denominator = to.compare(value, denominator) == 0, is_numerator = to.compare(value, numerator) == 0;
  x.flag = false;
  if (to.is_zero(numerator) || to.is_zero(denominator)) return to.format.nan();
  if (apart >= (is_double ? 768 : 96)) {
    x.flag = true;
    return is_denominator ? to.scaled(value, by) : value;
  }
  if (to.is_denormal(denominator)) return to.scaled(value, by);
  if (small_reciprocal && small_quotient) {
    x.flag = true;
    return is_denominator ? to.scaled(value, -by) : value;
  }
  if (small_reciprocal) return to.scaled(value, -by);
  if (small_quotient) {
    x.flag = true;
    return is_numerator ? to.scaled(value, by) : value;
  }
  return to.biased_exponent(numerator) <= (is_double ? 53 : 23) ? to.scaled(value, by) : value;
}
/// The scale is div_scale's, undone: documents of gfx9 and gfx10 say 2^32 and 2^64, which undo nothing; those of gfx11
/// say that the addend, the quotient so far, decides which way it goes.
u64 div_fmas(Lane& x, const Float& to) {
  const int by = to.format.fraction_bits == kF64.fraction_bits ? 128 : 64;
  const bool is_large = to.biased_exponent(x.c()) > to.format.bias();
  // Whether what exceeds all bounds before it is scaled comes back is not said; no quotient does.
  const u64 plain = to.fused(x.a(), x.b(), x.c());
  x.unspecified = x.mask && (is_large ? to.is_denormal(plain) || to.is_zero(plain) : to.is_infinite(plain));
  return to.fused(x.a(), x.b(), x.c(), x.mask ? (is_large ? by : -by) : 0);
}
u64 div_fixup(Lane& x, const Float& to) {
  const u64 quotient = x.a(), denominator = x.b(), numerator = x.c();
  const u64 sign = (denominator ^ numerator) & to.format.sign();
  const int apart = to.biased_exponent(numerator) - to.biased_exponent(denominator);
  const int fraction_bits = to.format.fraction_bits;
  if (to.is_nan(numerator) || to.is_nan(denominator)) return to.format.nan();
  if (to.is_zero(denominator) && to.is_zero(numerator)) return to.format.nan();
  if (to.is_infinite(denominator) && to.is_infinite(numerator)) return to.format.nan();
  if (to.is_zero(denominator) || to.is_infinite(numerator)) return sign | to.format.infinity();
  if (to.is_infinite(denominator) || to.is_zero(numerator)) return sign;
  if (fraction_bits != kF16.fraction_bits && apart < (fraction_bits == kF64.fraction_bits ? -1075 : -150)) return sign;
  // Where a quotient of numbers is none, it has overflowed on its way.
  x.unspecified = to.is_nan(quotient);
  return sign | to.format.magnitude(quotient);
}

/// Which of the three coordinates is the largest: 0, 1, 2.
int major_axis(const Lane& x) {
  const auto size = [&](u64 value) { return x.f32.format.magnitude(x.f32.source(value)); };
  const bool any_nan = x.f32.is_nan(x.a()) || x.f32.is_nan(x.b()) || x.f32.is_nan(x.c());
  if (any_nan) return -1;
  if (size(x.c()) >= size(x.a()) && size(x.c()) >= size(x.b())) return 2;
  return size(x.b()) >= size(x.a()) ? 1 : 0;
}
u64 cube(Lane& x, char what) {
  const int axis = major_axis(x);
  x.unspecified = axis < 0;
  if (axis < 0) return 0;
  const u64 major = x.source[static_cast<std::size_t>(axis)];
  const bool negative = x.f32.compare(major, 0) < 0;
  const u64 minus = kF32.sign();
  switch (what) {
    case 'i': return from_integer(x.f32, 2 * axis + (negative ? 1 : 0));
    case 'm': return x.f32.add(major, major);
    case 's': return axis == 0 ? (negative ? x.c() : x.c() ^ minus) : axis == 2 && negative ? x.a() ^ minus : x.a();
    default: return axis == 1 ? (negative ? x.c() ^ minus : x.c()) : x.b() ^ minus;
  }
}

// Approximate instructions: the correctly rounded value.
u64 from_long_double(const Float& to, long double value) {
  if (std::isnan(value)) return to.format.nan();
  const u64 sign = std::signbit(value) ? to.format.sign() : 0;
  if (std::isinf(value)) return sign | to.format.infinity();
  if (value == 0) return sign;
  int exponent = 0;
  const long double fraction = std::frexp(std::fabs(value), &exponent);
  return rounded(to, {sign != 0, static_cast<u128>(static_cast<u64>(std::ldexp(fraction, 64))), exponent - 64, true});
}
long double number(const Float& from, u64 a) {
  return to_double(from.format, from.source(a));
}
/// Of so many turns; multiples of a quarter are exact.
u64 sine(Lane& x, const Float& to, u64 a, int quarters_ahead) {
  const long double turns = number(to, a);
  if (!std::isfinite(turns)) return to.format.nan();
  x.unspecified = std::fabs(turns) > 256;
  if (x.unspecified && x.generation == isa::Generation::gfx9 && to.format.fraction_bits == kF32.fraction_bits) {
    x.unspecified = false;
    return quarters_ahead != 0 ? to.format.one() : 0;
  }
  const long double quarters = std::fmod(turns, 1.0L) * 4;
  const long double nearest = std::floor(quarters + 0.5L);
  const long double angle = (quarters - nearest) * 1.57079632679489661923132169163975144L;
  const int quadrant = (static_cast<int>(nearest) + quarters_ahead) & 3;
  const long double value = (quadrant & 1) != 0 ? std::cos(angle) : std::sin(angle);
  if (turns == 0 && quarters_ahead == 0) return a;
  // Which zero it is where turns are whole or half is not said.
  if (value == 0) x.unspecified = true;
  return from_long_double(to, quadrant >= 2 ? -value : value);
}
u64 reciprocal(const Float& to, u64 a) {
  return to.divide(to.format.one(), a);
}
/// Of f64, where the interpreter's long doubles round twice, the neighbour will do in the rare case.
u64 reciprocal_root(Lane& x, const Float& to, u64 a) {
  if (to.is_zero(a)) return (a & to.format.sign()) | to.format.infinity();
  if (to.is_nan(a) || to.is_negative(a)) return to.format.nan();
  if (to.is_infinite(a)) return 0;
  const u64 result = reciprocal_square_root(to, a);
  x.unspecified = result != std::bit_cast<u64>(static_cast<double>(1 / std::sqrt(number(to, a)))) &&
                  to.format.fraction_bits == kF64.fraction_bits;
  return result;
}
u64 power_of_two(const Float& to, u64 a) {
  const long double power = number(to, a);
  const long double value = std::exp2(power);
  if (std::fabs(power) < 5000 && std::trunc(power) == power) return to.scaled(to.format.one(), static_cast<int>(power));
  return from_long_double(to, value);
}
u64 logarithm(const Float& to, u64 a) {
  const long double value = number(to, a);
  if (value == 0) return to.format.sign() | to.format.infinity();
  if (!(value > 0)) return to.format.nan();
  const long double result = std::log2(value);
  if (std::isfinite(result) && std::trunc(result) == result) return from_integer(to, static_cast<i128>(result));
  return from_long_double(to, result);
}
u64 half_dot(Lane& x) {
  // Products are exact; each sum is rounded.
  const isa::Instruction& instruction = *x.instruction;
  const bool packed = instruction.encoding == isa::Encoding::vop3p;
  // Of f32 there are no denormals, whatever MODE says, and on gfx90a none of f16.
  Float single = x.f32, half = x.f16;
  single.flush_sources = single.flush_results = true;
  half.flush_sources = half.flush_sources || instruction.target == isa::Target::gfx90a;
  u64 sum = x.c() ^ (packed && (instruction.neg_lo & 4) != 0 ? kF32.sign() : 0);
  const auto factor = [&](unsigned number, int first) {
    const unsigned sign = first == 0 ? instruction.neg_lo : instruction.neg_hi;
    const u64 bits = dot_part(x, number, first, 16) ^ (packed && (sign >> number & 1) != 0 ? kF16.sign() : 0);
    return converted(half, single, half.source(bits));
  };
  // Whether a sum in the middle is flushed, too, is not said, nor whether what rounds to the least number is.
  const u64 least = u64{1} << kF32.fraction_bits;
  const u64 middle = x.f32.fused(factor(0, 0), factor(1, 0), single.source(sum));
  sum = single.fused(factor(0, 16), factor(1, 16), single.result(middle));
  x.unspecified = x.f32.is_denormal(middle) || kF32.magnitude(middle) == least || kF32.magnitude(sum) == least;
  return sum;
}

constexpr Format kBf16{8, 7}, kFp8{4, 3}, kBf8{5, 2};

/// A dot product whose rounding AMD leaves open: compared where all of it is exact.
u64 exact_dot(Lane& x, Format a, Format b, int bits, Format sum) {
  const isa::Instruction& instruction = *x.instruction;
  x.unspecified = false;
  if (instruction.encoding == isa::Encoding::vop3) x.unspecified |= (instruction.op_sel & 3) != 0;
  for (const isa::Operand& operand : instruction.sources())
    x.unspecified |= operand.has(isa::OperandFlags::negate) || operand.has(isa::OperandFlags::absolute);
  const auto number_of = [&](Format format, u64 value) {
    const Float of{format};
    x.unspecified |= of.is_nan(value) || of.is_infinite(value);
    return to_double(format, value);
  };
  // Of VOP3P there are those of bytes, whose addend alone has signs.
  const bool packed = instruction.encoding == isa::Encoding::vop3p;
  u64 addend = x.c();
  if (packed && (instruction.neg_hi & 4) != 0) addend &= ~sum.sign();
  if (packed && (instruction.neg_lo & 4) != 0) addend ^= sum.sign();
  double total = number_of(sum, addend);
  for (int i = 0; i < 32; i += bits) total += number_of(a, part(x.a(), i, bits)) * number_of(b, part(x.b(), i, bits));
  const u64 result = converted({kF64}, {sum}, std::bit_cast<u64>(total));
  x.unspecified |= to_double(sum, result) != total || std::fabs(total) > 1000;
  return result;
}

// What there is in all three formats.
#define ALL_FORMATS(F, t, s)                                                                                           \
  V(v_add_##s, #t "=" #t #t, F.add(x.a(), x.b())), V(v_mul_##s, #t "=" #t #t, F.multiply(x.a(), x.b())),               \
      V(v_min_##s, #t "=" #t #t, smaller(x, F, x.a(), x.b())), V(v_max_##s, #t "=" #t #t, larger(x, F, x.a(), x.b())), \
      V(v_minimum_##s, #t "=" #t #t, smaller_or_nan(x, F, x.a(), x.b())),                                              \
      V(v_maximum_##s, #t "=" #t #t, larger_or_nan(x, F, x.a(), x.b())),                                               \
      V(v_fma_##s, #t "=" #t #t #t, F.fused(x.a(), x.b(), x.c())),                                                     \
      V(v_fmac_##s, #t "=" #t #t #t, F.fused(x.a(), x.b(), x.c())),                                                    \
      V(v_ceil_##s, #t "=" #t, F.integral(x.a(), Round::up)),                                                          \
      V(v_floor_##s, #t "=" #t, F.integral(x.a(), Round::down)),                                                       \
      V(v_trunc_##s, #t "=" #t, F.integral(x.a(), Round::zero)),                                                       \
      V(v_rndne_##s, #t "=" #t, F.integral(x.a(), Round::nearest)), V(v_fract_##s, #t "=" #t, fraction(x, F, x.a())),  \
      V(v_frexp_mant_##s, #t "=" #t, mantissa_of(F, x.a())), V(v_div_fixup_##s, #t "=" #t #t #t, div_fixup(x, F)),     \
      V(v_rcp_##s, #t "=" #t, reciprocal(F, x.a())), V(v_sqrt_##s, #t "=" #t, F.square_root(x.a())),                   \
      V(v_rsq_##s, #t "=" #t, reciprocal_root(x, F, x.a()))
// What there is in f32 and f16.
#define SHORT_FORMATS(F, t, s)                                                                                   \
  V(v_sub_##s, #t "=" #t #t, F.subtract(x.a(), x.b())), V(v_subrev_##s, #t "=" #t #t, F.subtract(x.b(), x.a())), \
      V(v_fmaak_##s, #t "=" #t #t #t, F.fused(x.a(), x.b(), x.c())),                                             \
      V(v_fmamk_##s, #t "=" #t #t #t, F.fused(x.a(), x.b(), x.c())),                                             \
      V(v_min3_##s, #t "=" #t #t #t, smaller(x, F, smaller(x, F, x.a(), x.b()), x.c())),                         \
      V(v_max3_##s, #t "=" #t #t #t, larger(x, F, larger(x, F, x.a(), x.b()), x.c())),                           \
      V(v_med3_##s, #t "=" #t #t #t, median(x, F, x.a(), x.b(), x.c())),                                         \
      V(v_maxmin_##s, #t "=" #t #t #t, smaller(x, F, larger(x, F, x.a(), x.b()), x.c())),                        \
      V(v_minmax_##s, #t "=" #t #t #t, larger(x, F, smaller(x, F, x.a(), x.b()), x.c())),                        \
      V(v_minimum3_##s, #t "=" #t #t #t, smaller_or_nan(x, F, smaller_or_nan(x, F, x.a(), x.b()), x.c())),       \
      V(v_maximum3_##s, #t "=" #t #t #t, larger_or_nan(x, F, larger_or_nan(x, F, x.a(), x.b()), x.c())),         \
      V(v_maximumminimum_##s, #t "=" #t #t #t, smaller_or_nan(x, F, larger_or_nan(x, F, x.a(), x.b()), x.c())),  \
      V(v_minimummaximum_##s, #t "=" #t #t #t, larger_or_nan(x, F, smaller_or_nan(x, F, x.a(), x.b()), x.c())),  \
      V(v_sin_##s, #t "=" #t, sine(x, F, x.a(), 0)), V(v_cos_##s, #t "=" #t, sine(x, F, x.a(), 1)),              \
      V(v_exp_##s, #t "=" #t, power_of_two(F, x.a())), V(v_log_##s, #t "=" #t, logarithm(F, x.a()))

// clang-format off
constexpr Row kRows[] = {
    ALL_FORMATS(x.f32, f, f32), ALL_FORMATS(x.f64, d, f64), ALL_FORMATS(x.f16, h, f16),
    SHORT_FORMATS(x.f32, f, f32), SHORT_FORMATS(x.f16, h, f16),
    V(v_mul_legacy_f32, "f=ff", legacy_product(x.f32, x.a(), x.b())),
    V(v_fma_legacy_f32, "f=fff", legacy_fused(x.f32, x.a(), x.b(), x.c())),
    V(v_fmac_legacy_f32, "f=fff", legacy_fused(x.f32, x.a(), x.b(), x.c())),
    V(v_mad_f32, "f=fff", unfused(x, x.f32, x.a(), x.b(), x.c())),
    V(v_mac_f32, "f=fff", unfused(x, x.f32, x.a(), x.b(), x.c())),
    V(v_madak_f32, "f=fff", unfused(x, x.f32, x.a(), x.b(), x.c())),
    V(v_madmk_f32, "f=fff", unfused(x, x.f32, x.a(), x.b(), x.c())),
    V(v_mad_legacy_f32, "f=fff", x.f32.add(legacy_product(x.f32, x.a(), x.b()), x.c())),
    V(v_mac_legacy_f32, "f=fff", x.f32.add(legacy_product(x.f32, x.a(), x.b()), x.c())),
    V(v_mad_f16, "h=hhh", unfused_kept(x.f16, x.a(), x.b(), x.c())),
    V(v_mac_f16, "h=hhh", unfused_kept(x.f16, x.a(), x.b(), x.c())),
    V(v_madak_f16, "h=hhh", unfused_kept(x.f16, x.a(), x.b(), x.c())),
    V(v_madmk_f16, "h=hhh", unfused_kept(x.f16, x.a(), x.b(), x.c())),
    V(v_mad_legacy_f16, "h=hhh", unfused_kept(x.f16, x.a(), x.b(), x.c())),
    V(v_fma_legacy_f16, "h=hhh", x.f16.fused(x.a(), x.b(), x.c())),
    V(v_div_fixup_legacy_f16, "h=hhh", div_fixup(x, x.f16)),
    V(v_frexp_exp_i32_f32, "i=f", exponent_of(x.f32, x.a()) & 0xffffffff),
    V(v_frexp_exp_i32_f64, "i=d", exponent_of(x.f64, x.a()) & 0xffffffff),
    V(v_frexp_exp_i16_f16, "s=h", exponent_of(x.f16, x.a()) & 0xffff),
    V(v_ldexp_f32, "f=fi", x.f32.scaled(x.a(), static_cast<int>(std::clamp<i64>(sx(x.b()), -9999, 9999)))),
    V(v_ldexp_f64, "d=di", x.f64.scaled(x.a(), static_cast<int>(std::clamp<i64>(sx(x.b()), -9999, 9999)))),
    V(v_ldexp_f16, "h=hs", x.f16.scaled(x.a(), static_cast<int>(sx(x.b(), 16)))),
    V(v_div_scale_f32, "f=fff", div_scale(x, x.f32)),
    V(v_div_scale_f64, "d=ddd", div_scale(x, x.f64)),
    V(v_div_fmas_f32, "f=fffm", div_fmas(x, x.f32)),
    V(v_div_fmas_f64, "d=dddm", div_fmas(x, x.f64)),
    V(v_cubeid_f32, "f=fff", cube(x, 'i')),
    V(v_cubema_f32, "f=fff", cube(x, 'm')),
    V(v_cubesc_f32, "f=fff", cube(x, 's')),
    V(v_cubetc_f32, "f=fff", cube(x, 't')),
    V(v_rcp_iflag_f32, "f=f", reciprocal(x.f32, x.a())),
    V(v_exp_legacy_f32, "f=f", power_of_two(x.f32, x.a())),
    V(v_log_legacy_f32, "f=f", logarithm(x.f32, x.a())),
    V(v_dot2_f32_f16, "f=uuf", half_dot(x)),
    V(v_dot2_f16_f16, "h=uuh", exact_dot(x, kF16, kF16, 16, kF16)),
    V(v_dot2_bf16_bf16, "w=uuw", exact_dot(x, kBf16, kBf16, 16, kBf16)),
    V(v_dot4_f32_fp8_fp8, "f=uuf", exact_dot(x, kFp8, kFp8, 8, kF32)),
    V(v_dot4_f32_fp8_bf8, "f=uuf", exact_dot(x, kFp8, kBf8, 8, kF32)),
    V(v_dot4_f32_bf8_fp8, "f=uuf", exact_dot(x, kBf8, kFp8, 8, kF32)),
    V(v_dot4_f32_bf8_bf8, "f=uuf", exact_dot(x, kBf8, kBf8, 8, kF32)),
    V(v_dot2c_f32_f16, "f=uuf", half_dot(x)),
};
// clang-format on

}  // namespace

std::span<const Row> float_rows() {
  return kRows;
}

}  // namespace wavegate::amdgpu::wave::testing
