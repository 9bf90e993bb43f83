#include "amdgpu/wave/values/rows.h"

namespace wavegate::amdgpu::wave::testing {

namespace {

#define V WAVEGATE_VALUE

u64 extreme(const Lane& x, u64 a, u64 b, bool least, bool hands_on_nans) {
  const Float& to = x.f16;
  a = to.source(a), b = to.source(b);
  if (hands_on_nans && (to.is_nan(a) || to.is_nan(b))) return kF16.nan();
  if (x.ieee && (to.is_signalling(a) || to.is_signalling(b))) return kF16.nan();
  if (to.is_nan(a) || to.is_nan(b)) return to.is_nan(a) ? b : a;
  if (to.is_zero(a) && to.is_zero(b)) return least ? a | b : a & b;
  return (to.compare(a, b) < 0) == least ? a : b;
}

// Of one half. Those of f32 have words for halves.
// clang-format off
constexpr Row kRows[] = {
    V(v_pk_add_u16, "w=ww", x.as_unsigned(static_cast<i128>(x.a()) + static_cast<i128>(x.b()), 16)),
    V(v_pk_sub_u16, "w=ww", x.as_unsigned(static_cast<i128>(x.a()) - static_cast<i128>(x.b()), 16)),
    V(v_pk_add_i16, "s=ss", x.as_signed(sx(x.a(), 16) + sx(x.b(), 16), 16)),
    V(v_pk_sub_i16, "s=ss", x.as_signed(sx(x.a(), 16) - sx(x.b(), 16), 16)),
    V(v_pk_mul_lo_u16, "w=ww", (x.a() * x.b()) & 0xffff),
    V(v_pk_mad_u16, "w=www", x.as_unsigned(static_cast<i128>(x.a() * x.b() + x.c()), 16)),
    V(v_pk_mad_i16, "s=sss", x.as_signed(static_cast<i128>(sx(x.a(), 16)) * sx(x.b(), 16) + sx(x.c(), 16), 16)),
    V(v_pk_lshlrev_b16, "w=ww", (x.b() << (x.a() & 15)) & 0xffff),
    V(v_pk_lshrrev_b16, "w=ww", x.b() >> (x.a() & 15)),
    V(v_pk_ashrrev_i16, "s=ss", (sx(x.b(), 16) >> (x.a() & 15)) & 0xffff),
    V(v_pk_min_u16, "w=ww", std::min(x.a(), x.b())),
    V(v_pk_max_u16, "w=ww", std::max(x.a(), x.b())),
    V(v_pk_min_i16, "s=ss", std::min(sx(x.a(), 16), sx(x.b(), 16)) & 0xffff),
    V(v_pk_max_i16, "s=ss", std::max(sx(x.a(), 16), sx(x.b(), 16)) & 0xffff),
    V(v_pk_add_f16, "h=hh", x.f16.add(x.a(), x.b())),
    V(v_pk_mul_f16, "h=hh", x.f16.multiply(x.a(), x.b())),
    V(v_pk_fma_f16, "h=hhh", x.f16.fused(x.a(), x.b(), x.c())),
    V(v_pk_fmac_f16, "h=hhh", x.f16.fused(x.a(), x.b(), x.c())),
    V(v_pk_min_f16, "h=hh", extreme(x, x.a(), x.b(), true, false)),
    V(v_pk_max_f16, "h=hh", extreme(x, x.a(), x.b(), false, false)),
    V(v_pk_minimum_f16, "h=hh", extreme(x, x.a(), x.b(), true, true)),
    V(v_pk_maximum_f16, "h=hh", extreme(x, x.a(), x.b(), false, true)),
    V(v_pk_add_f32, "f=ff", x.f32.add(x.a(), x.b())),
    V(v_pk_mul_f32, "f=ff", x.f32.multiply(x.a(), x.b())),
    V(v_pk_fma_f32, "f=fff", x.f32.fused(x.a(), x.b(), x.c())),
};

// Each source is an f32 or a half, as the instruction's op_sel says: the model hands it over as f32.
constexpr Row kMixRows[] = {
    V(v_fma_mix_f32, "f=fff", x.f32.fused(x.a(), x.b(), x.c())),
    V(v_fma_mixlo_f16, "h=fff", converted({kF32}, x.f16, x.f32.fused(x.a(), x.b(), x.c()))),
    V(v_fma_mixhi_f16, "h=fff", converted({kF32}, x.f16, x.f32.fused(x.a(), x.b(), x.c()))),
    V(v_mad_mix_f32, "f=fff", x.f32.add(x.f32.multiply(x.a(), x.b()), x.c())),
    V(v_mad_mixlo_f16, "h=fff", converted({kF32}, x.f16, x.f32.add(x.f32.multiply(x.a(), x.b()), x.c()))),
    V(v_mad_mixhi_f16, "h=fff", converted({kF32}, x.f16, x.f32.add(x.f32.multiply(x.a(), x.b()), x.c()))),
};
// clang-format on

}  // namespace

std::span<const Row> packed_rows() {
  return kRows;
}
std::span<const Row> mix_rows() {
  return kMixRows;
}

}  // namespace wavegate::amdgpu::wave::testing
