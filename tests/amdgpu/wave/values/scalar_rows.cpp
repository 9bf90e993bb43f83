#include "amdgpu/wave/values/rows.h"

namespace wavegate::amdgpu::wave::testing {

namespace {

#define V WAVEGATE_VALUE
#define A static_cast<i128>(x.a())
#define B static_cast<i128>(x.b())
#define SA static_cast<i128>(sx(x.a()))
#define SB static_cast<i128>(sx(x.b()))

constexpr u64 kWord = 0xffffffffu;

u64 low(i128 value) {
  return static_cast<u64>(value) & kWord;
}
/// SCC is whether the result is not zero.
u64 tested(Lane& x, u64 value, int bits = 32) {
  value = bits == 64 ? value : value & kWord;
  x.flag = value != 0;
  return value;
}
u64 carry(Lane& x, i128 value) {
  x.flag = value < 0 || value > kWord;
  return low(value);
}
u64 overflow(Lane& x, i128 value) {
  x.flag = value < -0x80000000ll || value > 0x7fffffff;
  return low(value);
}
u64 told(Lane& x, bool condition, u64 value) {
  x.flag = condition;
  return value;
}
u64 is(Lane& x, bool condition) {
  return told(x, condition, 0);
}
/// Bits from `offset` on, so many; beyond the value's end there is its sign, or nothing.
u64 field(Lane& x, int bits, bool is_signed) {
  const int offset = static_cast<int>(part(x.b(), 0, bits == 32 ? 5 : 6)), width = static_cast<int>(part(x.b(), 16, 7));
  i128 value = is_signed ? static_cast<i128>(sx(x.a(), bits)) : static_cast<i128>(x.a());
  value >>= offset;
  if (width == 0) return tested(x, 0, bits);
  if (width < bits) {
    value &= (i128{1} << width) - 1;
    if (is_signed && (value >> (width - 1) & 1) != 0) value -= i128{1} << width;
  }
  return tested(x, static_cast<u64>(value), bits);
}
u64 reversed(u64 value, int bits) {
  u64 result = 0;
  for (int i = 0; i < bits; ++i) result |= part(value, i, 1) << (bits - 1 - i);
  return result;
}
u64 count(u64 value, int bits, u64 what) {
  u64 result = 0;
  for (int i = 0; i < bits; ++i) result += part(value, i, 1) == what ? 1 : 0;
  return result;
}
u64 first_from_bottom(u64 value, int bits, u64 what) {
  for (int i = 0; i < bits; ++i)
    if (part(value, i, 1) == what) return static_cast<u64>(i);
  return kWord;
}
u64 first_from_top(u64 value, int bits, u64 what) {
  for (int i = 0; i < bits; ++i)
    if (part(value, bits - 1 - i, 1) == what) return static_cast<u64>(i);
  return kWord;
}
u64 quads(u64 value, int bits, bool whole) {
  u64 result = 0;
  for (int i = 0; i < bits / 4; ++i)
    if (part(value, i * 4, 4) != 0) result |= whole ? u64{15} << (i * 4) : u64{1} << i;
  return result;
}
u64 doubled_bits(u64 value) {
  u64 result = 0;
  for (int i = 0; i < 64; ++i) result |= part(value, i / 2, 1) << i;
  return result;
}
/// A difference of 32 bits, and its negation if it is negative: (0x80000000, 1) is 0x7fffffff.
u64 distance(Lane& x) {
  const i64 difference = sx(low(SA - SB));
  return tested(x, low(difference < 0 ? -difference : difference));
}
u64 extreme(const Lane& x, const Float& to, bool least, bool hands_on_nans) {
  const u64 a = x.a(), b = x.b();
  if (hands_on_nans ? to.is_nan(a) || to.is_nan(b) : to.is_signalling(a) || to.is_signalling(b)) return to.format.nan();
  if (to.is_nan(a) || to.is_nan(b)) return to.is_nan(a) ? b : a;
  if (to.is_zero(a) && to.is_zero(b)) return least ? a | b : a & b;
  return (to.compare(a, b) < 0) == least ? a : b;
}
u64 to_word(const Float& from, u64 a, i64 least, i64 most) {
  return static_cast<u64>(to_integer(from, a, least, most)) & kWord;
}

#define BOTH(name, expression) \
  V(s_##name##_b32, "u=uu", tested(x, expression)), V(s_##name##_b64, "q=qq", tested(x, expression, 64))
// What exec becomes; it is the second operand. The model keeps exec's old value or the new one as the destination's.
#define EXEC(name, expression) \
  V(s_##name##_b32, "u=uu", tested(x, expression)), V(s_##name##_b64, "q=qq", tested(x, expression, 64))
#define COMPARES(prefix, u, i, s, z)                                                                          \
  V(prefix##_eq_i32, i, is(x, s(x.a()) == s(x.b()))), V(prefix##_lg_i32, i, is(x, s(x.a()) != s(x.b()))),     \
      V(prefix##_gt_i32, i, is(x, s(x.a()) > s(x.b()))), V(prefix##_ge_i32, i, is(x, s(x.a()) >= s(x.b()))),  \
      V(prefix##_lt_i32, i, is(x, s(x.a()) < s(x.b()))), V(prefix##_le_i32, i, is(x, s(x.a()) <= s(x.b()))),  \
      V(prefix##_eq_u32, u, is(x, z(x.a()) == z(x.b()))), V(prefix##_lg_u32, u, is(x, z(x.a()) != z(x.b()))), \
      V(prefix##_gt_u32, u, is(x, z(x.a()) > z(x.b()))), V(prefix##_ge_u32, u, is(x, z(x.a()) >= z(x.b()))),  \
      V(prefix##_lt_u32, u, is(x, z(x.a()) < z(x.b()))), V(prefix##_le_u32, u, is(x, z(x.a()) <= z(x.b())))
#define FLOAT_COMPARE(name, condition)                                                                    \
  V(s_cmp_##name##_f32, "-=ff", is(x, [](int order) { return condition; }(x.f32.compare(x.a(), x.b())))), \
      V(s_cmp_##name##_f16, "-=hh", is(x, [](int order) { return condition; }(x.f16.compare(x.a(), x.b()))))
#define FLOATS(F, t, s)                                                                                                \
  V(s_add_##s, #t "=" #t #t, F.add(x.a(), x.b())), V(s_sub_##s, #t "=" #t #t, F.subtract(x.a(), x.b())),               \
      V(s_mul_##s, #t "=" #t #t, F.multiply(x.a(), x.b())),                                                            \
      V(s_fmac_##s, #t "=" #t #t #t, F.fused(x.a(), x.b(), x.c())),                                                    \
      V(s_min_##s, #t "=" #t #t, extreme(x, F, true, false)), V(s_max_##s, #t "=" #t #t, extreme(x, F, false, false)), \
      V(s_minimum_##s, #t "=" #t #t, extreme(x, F, true, true)),                                                       \
      V(s_maximum_##s, #t "=" #t #t, extreme(x, F, false, true)),                                                      \
      V(s_ceil_##s, #t "=" #t, F.integral(x.a(), Round::up)),                                                          \
      V(s_floor_##s, #t "=" #t, F.integral(x.a(), Round::down)),                                                       \
      V(s_trunc_##s, #t "=" #t, F.integral(x.a(), Round::zero)),                                                       \
      V(s_rndne_##s, #t "=" #t, F.integral(x.a(), Round::nearest))

// clang-format off
constexpr Row kRows[] = {
    BOTH(and, x.a() & x.b()), BOTH(or, x.a() | x.b()), BOTH(xor, x.a() ^ x.b()), BOTH(andn2, x.a() & ~x.b()),
    BOTH(orn2, x.a() | ~x.b()), BOTH(nand, ~(x.a() & x.b())), BOTH(nor, ~(x.a() | x.b())), BOTH(xnor, ~(x.a() ^ x.b())),
    V(s_not_b32, "u=u", tested(x, ~x.a())), V(s_not_b64, "q=q", tested(x, ~x.a(), 64)),
    V(s_lshl_b32, "u=uu", tested(x, x.a() << (x.b() & 31))), V(s_lshl_b64, "q=qu", tested(x, x.a() << (x.b() & 63), 64)),
    V(s_lshr_b32, "u=uu", tested(x, x.a() >> (x.b() & 31))), V(s_lshr_b64, "q=qu", tested(x, x.a() >> (x.b() & 63), 64)),
    V(s_ashr_i32, "i=iu", tested(x, low(SA >> (x.b() & 31)))),
    V(s_ashr_i64, "q=qu", tested(x, static_cast<u64>(static_cast<i64>(x.a()) >> (x.b() & 63)), 64)),
    EXEC(and_saveexec, x.a() & x.b()), EXEC(or_saveexec, x.a() | x.b()), EXEC(xor_saveexec, x.a() ^ x.b()),
    EXEC(andn2_saveexec, x.a() & ~x.b()), EXEC(orn2_saveexec, x.a() | ~x.b()), EXEC(nand_saveexec, ~(x.a() & x.b())),
    EXEC(nor_saveexec, ~(x.a() | x.b())), EXEC(xnor_saveexec, ~(x.a() ^ x.b())), EXEC(andn1_saveexec, ~x.a() & x.b()),
    EXEC(orn1_saveexec, ~x.a() | x.b()), EXEC(andn1_wrexec, ~x.a() & x.b()), EXEC(andn2_wrexec, x.a() & ~x.b()),
    COMPARES(s_cmp, "-=uu", "-=ii", sx, u64), COMPARES(s_cmpk, "-=uw", "-=is", sx, u64),
    V(s_cmp_eq_u64, "-=qq", is(x, x.a() == x.b())), V(s_cmp_lg_u64, "-=qq", is(x, x.a() != x.b())),
    V(s_bitcmp0_b32, "-=uu", is(x, (x.a() >> (x.b() & 31) & 1) == 0)), V(s_bitcmp1_b32, "-=uu", is(x, (x.a() >> (x.b() & 31) & 1) == 1)),
    V(s_bitcmp0_b64, "-=qu", is(x, (x.a() >> (x.b() & 63) & 1) == 0)), V(s_bitcmp1_b64, "-=qu", is(x, (x.a() >> (x.b() & 63) & 1) == 1)),
    V(s_mov_b32, "u=u", x.a()), V(s_mov_b64, "q=q", x.a()), V(s_movk_i32, "i=s", x.a() & kWord),
    V(s_cmov_b32, "u=uu", x.mask ? x.a() : x.b()), V(s_cmov_b64, "q=qq", x.mask ? x.a() : x.b()), V(s_cmovk_i32, "i=si", (x.mask ? x.a() : x.b()) & kWord),
    V(s_cselect_b32, "u=uu", x.mask ? x.a() : x.b()), V(s_cselect_b64, "q=qq", x.mask ? x.a() : x.b()),
    V(s_add_u32, "u=uu", carry(x, A + B)), V(s_addc_u32, "u=uu", carry(x, A + B + (x.mask ? 1 : 0))),
    V(s_sub_u32, "u=uu", carry(x, A - B)), V(s_subb_u32, "u=uu", carry(x, A - B - (x.mask ? 1 : 0))),
    V(s_add_i32, "i=ii", overflow(x, SA + SB)), V(s_sub_i32, "i=ii", overflow(x, SA - SB)), V(s_addk_i32, "i=si", overflow(x, SA + SB)),
    V(s_mul_i32, "i=ii", low(SA * SB)), V(s_mulk_i32, "i=si", low(SA * SB)),
    V(s_mul_hi_u32, "u=uu", low((A * B) >> 32)), V(s_mul_hi_i32, "i=ii", low((SA * SB) >> 32)),
    V(s_mul_u64, "q=qq", A * B), V(s_add_nc_u64, "q=qq", A + B), V(s_sub_nc_u64, "q=qq", A - B),
    V(s_lshl1_add_u32, "u=uu", carry(x, A * 2 + B)), V(s_lshl2_add_u32, "u=uu", carry(x, A * 4 + B)),
    V(s_lshl3_add_u32, "u=uu", carry(x, A * 8 + B)), V(s_lshl4_add_u32, "u=uu", carry(x, A * 16 + B)),
    V(s_abs_i32, "i=i", tested(x, low(SA < 0 ? -SA : SA))), V(s_absdiff_i32, "i=ii", distance(x)),
    V(s_min_i32, "i=ii", told(x, SA < SB, low(std::min(SA, SB)))), V(s_max_i32, "i=ii", told(x, SA >= SB, low(std::max(SA, SB)))),
    V(s_min_u32, "u=uu", told(x, x.a() < x.b(), std::min(x.a(), x.b()))), V(s_max_u32, "u=uu", told(x, x.a() >= x.b(), std::max(x.a(), x.b()))),
    V(s_bfm_b32, "u=uu", low(part(~u64{0}, 0, static_cast<int>(x.a() & 31)) << (x.b() & 31))),
    V(s_bfm_b64, "q=uu", part(~u64{0}, 0, static_cast<int>(x.a() & 63)) << (x.b() & 63)),
    V(s_bfe_u32, "u=uu", field(x, 32, false)), V(s_bfe_i32, "i=iu", field(x, 32, true)),
    V(s_bfe_u64, "q=qu", field(x, 64, false)), V(s_bfe_i64, "q=qu", field(x, 64, true)),
    V(s_bitset0_b32, "u=uu", x.b() & ~(u64{1} << (x.a() & 31))), V(s_bitset1_b32, "u=uu", x.b() | u64{1} << (x.a() & 31)),
    V(s_bitset0_b64, "q=uq", x.b() & ~(u64{1} << (x.a() & 63))), V(s_bitset1_b64, "q=uq", x.b() | u64{1} << (x.a() & 63)),
    V(s_brev_b32, "u=u", reversed(x.a(), 32)), V(s_brev_b64, "q=q", reversed(x.a(), 64)),
    V(s_bcnt0_i32_b32, "u=u", tested(x, count(x.a(), 32, 0))), V(s_bcnt0_i32_b64, "u=q", tested(x, count(x.a(), 64, 0))),
    V(s_bcnt1_i32_b32, "u=u", tested(x, count(x.a(), 32, 1))), V(s_bcnt1_i32_b64, "u=q", tested(x, count(x.a(), 64, 1))),
    V(s_ff0_i32_b32, "u=u", first_from_bottom(x.a(), 32, 0)), V(s_ff0_i32_b64, "u=q", first_from_bottom(x.a(), 64, 0)),
    V(s_ff1_i32_b32, "u=u", first_from_bottom(x.a(), 32, 1)), V(s_ff1_i32_b64, "u=q", first_from_bottom(x.a(), 64, 1)),
    V(s_flbit_i32_b32, "u=u", first_from_top(x.a(), 32, 1)), V(s_flbit_i32_b64, "u=q", first_from_top(x.a(), 64, 1)),
    V(s_flbit_i32, "u=i", first_from_top(x.a(), 32, 1 - part(x.a(), 31, 1))), V(s_flbit_i32_i64, "u=q", first_from_top(x.a(), 64, 1 - part(x.a(), 63, 1))),
    V(s_sext_i32_i8, "i=u", sx(x.a(), 8) & 0xffffffff), V(s_sext_i32_i16, "i=u", sx(x.a(), 16) & 0xffffffff),
    V(s_pack_ll_b32_b16, "u=uu", part(x.a(), 0, 16) | part(x.b(), 0, 16) << 16), V(s_pack_lh_b32_b16, "u=uu", part(x.a(), 0, 16) | part(x.b(), 16, 16) << 16),
    V(s_pack_hh_b32_b16, "u=uu", part(x.a(), 16, 16) | part(x.b(), 16, 16) << 16), V(s_pack_hl_b32_b16, "u=uu", part(x.a(), 16, 16) | part(x.b(), 0, 16) << 16),
    V(s_wqm_b32, "u=u", tested(x, quads(x.a(), 32, true))), V(s_wqm_b64, "q=q", tested(x, quads(x.a(), 64, true), 64)),
    V(s_quadmask_b32, "u=u", tested(x, quads(x.a(), 32, false))), V(s_quadmask_b64, "q=q", tested(x, quads(x.a(), 64, false), 64)),
    V(s_bitreplicate_b64_b32, "q=u", doubled_bits(x.a())),
    // Of gfx11.5 and gfx12.
    FLOATS(x.f32, f, f32), FLOATS(x.f16, h, f16),
    V(s_fmaak_f32, "f=fff", x.f32.fused(x.a(), x.b(), x.c())), V(s_fmamk_f32, "f=fff", x.f32.fused(x.a(), x.b(), x.c())),
    V(s_cvt_f32_i32, "f=i", from_integer(x.f32, SA)), V(s_cvt_f32_u32, "f=u", from_integer(x.f32, A)),
    V(s_cvt_i32_f32, "i=f", to_word(x.f32, x.a(), -0x80000000ll, 0x7fffffff)), V(s_cvt_u32_f32, "u=f", to_word(x.f32, x.a(), 0, 0xffffffff)),
    V(s_cvt_f16_f32, "h=f", converted(x.f32, x.f16, x.a())), V(s_cvt_f32_f16, "f=h", converted(x.f16, x.f32, x.a())),
    V(s_cvt_hi_f32_f16, "f=u", converted(x.f16, x.f32, x.a() >> 16)),
    V(s_cvt_pk_rtz_f16_f32, "p=ff", converted(x.f32, {kF16, Round::zero}, x.a()) | converted(x.f32, {kF16, Round::zero}, x.b()) << 16),
    FLOAT_COMPARE(lt, order == -1), FLOAT_COMPARE(eq, order == 0), FLOAT_COMPARE(le, order <= 0), FLOAT_COMPARE(gt, order == 1),
    FLOAT_COMPARE(lg, order == -1 || order == 1), FLOAT_COMPARE(ge, order == 0 || order == 1), FLOAT_COMPARE(o, order != 2), FLOAT_COMPARE(u, order == 2),
    FLOAT_COMPARE(nge, order == -1 || order == 2), FLOAT_COMPARE(nlg, order == 0 || order == 2), FLOAT_COMPARE(ngt, order != 1),
    FLOAT_COMPARE(nle, order >= 1), FLOAT_COMPARE(neq, order != 0), FLOAT_COMPARE(nlt, order != -1),
};
// clang-format on

}  // namespace

std::span<const Row> scalar_rows() {
  return kRows;
}

}  // namespace wavegate::amdgpu::wave::testing
