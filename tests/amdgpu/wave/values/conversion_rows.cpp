#include "amdgpu/wave/values/rows.h"

namespace wavegate::amdgpu::wave::testing {

namespace {

#define V WAVEGATE_VALUE

u64 to_i32(const Float& from, u64 a) {
  return static_cast<u64>(to_integer(from, a, -0x80000000ll, 0x7fffffff)) & 0xffffffffu;
}
u64 to_u32(const Float& from, u64 a) {
  return static_cast<u64>(to_integer(from, a, 0, 0xffffffff));
}
u64 to_i16(const Float& from, u64 a) {
  return static_cast<u64>(to_integer(from, a, -0x8000, 0x7fff)) & 0xffffu;
}
u64 to_u16(const Float& from, u64 a) {
  return static_cast<u64>(to_integer(from, a, 0, 0xffff));
}
/// floor(a + 0.5). Whether the sum is rounded is not said: where that matters, neither result is wrong.
u64 to_nearest(Lane& x) {
  const u64 half = 0x3f000000;
  const u64 sum = x.f32.integral(x.f32.add(x.a(), half), Round::down);
  const u64 exact_sum = x.f64.add(converted(x.f32, x.f64, x.a()), converted(x.f32, x.f64, half));
  x.unspecified = to_i32(x.f32, sum) != to_i32(x.f64, x.f64.integral(exact_sum, Round::down));
  return to_i32(x.f32, sum);
}
/// A fraction of the largest integer, of -1 to 1 or of 0 to 1. Whether the product is rounded to f32 first is not said.
u64 norm(Lane& x, const Float& from, u64 a, bool is_signed) {
  if (from.is_nan(a)) return 0;
  const u64 one = x.f64.format.one(), low = is_signed ? one | kF64.sign() : 0;
  u64 value = converted(from, x.f64, a);
  if (x.f64.compare(value, one) > 0) value = one;
  if (x.f64.compare(value, low) < 0) value = low;
  const Float plain{kF64}, single{kF32};
  const u64 product = plain.multiply(value, from_integer(plain, is_signed ? 32767 : 65535));
  const i64 result = to_integer(plain, plain.integral(product, Round::nearest), -32767, 65535);
  const u64 rounded_product = single.integral(converted(plain, single, product), Round::nearest);
  x.unspecified |= to_integer(single, rounded_product, -32767, 65535) != result;
  return static_cast<u64>(result) & 0xffffu;
}
u64 towards_zero(const Lane& x, u64 a) {
  return converted(x.f32, {kF16, Round::zero}, a);
}
u64 byte_in(u64 word, u64 index, u64 value) {
  const int at = static_cast<int>(index & 3) * 8;
  return (word & ~(u64{0xff} << at)) | value << at;
}

// clang-format off
constexpr Row kRows[] = {
    V(v_cvt_f32_i32, "f=i", from_integer(x.f32, sx(x.a()))),
    V(v_cvt_f32_u32, "f=u", from_integer(x.f32, static_cast<i128>(x.a()))),
    V(v_cvt_f64_i32, "d=i", from_integer(x.f64, sx(x.a()))),
    V(v_cvt_f64_u32, "d=u", from_integer(x.f64, static_cast<i128>(x.a()))),
    V(v_cvt_f16_u16, "h=w", from_integer(x.f16, static_cast<i128>(x.a()))),
    V(v_cvt_f16_i16, "h=s", from_integer(x.f16, sx(x.a(), 16))),
    V(v_cvt_i32_f32, "i=f", to_i32(x.f32, x.a())),
    V(v_cvt_u32_f32, "u=f", to_u32(x.f32, x.a())),
    V(v_cvt_i32_f64, "i=d", to_i32(x.f64, x.a())),
    V(v_cvt_u32_f64, "u=d", to_u32(x.f64, x.a())),
    V(v_cvt_i16_f16, "s=h", to_i16(x.f16, x.a())),
    V(v_cvt_u16_f16, "w=h", to_u16(x.f16, x.a())),
    V(v_cvt_rpi_i32_f32, "i=f", to_nearest(x)),
    V(v_cvt_flr_i32_f32, "i=f", to_i32(x.f32, x.f32.integral(x.a(), Round::down))),
    V(v_cvt_f32_f64, "f=d", converted(x.f64, x.f32, x.a())),
    V(v_cvt_f64_f32, "d=f", converted(x.f32, x.f64, x.a())),
    V(v_cvt_f16_f32, "h=f", converted(x.f32, x.f16, x.a())),
    V(v_cvt_f32_f16, "f=h", converted(x.f16, x.f32, x.a())),
    V(v_cvt_i32_i16, "i=s", sx(x.a(), 16) & 0xffffffff),
    V(v_cvt_u32_u16, "u=w", x.a()),
    V(v_cvt_f32_ubyte0, "f=u", from_integer(x.f32, static_cast<i128>(part(x.a(), 0, 8)))),
    V(v_cvt_f32_ubyte1, "f=u", from_integer(x.f32, static_cast<i128>(part(x.a(), 8, 8)))),
    V(v_cvt_f32_ubyte2, "f=u", from_integer(x.f32, static_cast<i128>(part(x.a(), 16, 8)))),
    V(v_cvt_f32_ubyte3, "f=u", from_integer(x.f32, static_cast<i128>(part(x.a(), 24, 8)))),
    V(v_cvt_off_f32_i4, "f=u", x.f32.scaled(from_integer(x.f32, sx(x.a(), 4)), -4)),
    V(v_cvt_pkrtz_f16_f32, "p=ff", towards_zero(x, x.a()) | towards_zero(x, x.b()) << 16),
    V(v_cvt_pknorm_i16_f32, "u=ff", norm(x, x.f32, x.a(), true) | norm(x, x.f32, x.b(), true) << 16),
    V(v_cvt_pknorm_u16_f32, "u=ff", norm(x, x.f32, x.a(), false) | norm(x, x.f32, x.b(), false) << 16),
    V(v_cvt_pknorm_i16_f16, "u=hh", norm(x, x.f16, x.a(), true) | norm(x, x.f16, x.b(), true) << 16),
    V(v_cvt_pknorm_u16_f16, "u=hh", norm(x, x.f16, x.a(), false) | norm(x, x.f16, x.b(), false) << 16),
    V(v_cvt_norm_i16_f16, "s=h", norm(x, x.f16, x.a(), true)),
    V(v_cvt_norm_u16_f16, "w=h", norm(x, x.f16, x.a(), false)),
    V(v_cvt_pk_i16_i32, "u=ii", (static_cast<u64>(std::clamp<i64>(sx(x.a()), -32768, 32767)) & 0xffff) | (static_cast<u64>(std::clamp<i64>(sx(x.b()), -32768, 32767)) & 0xffff) << 16),
    V(v_cvt_pk_u16_u32, "u=uu", std::min<u64>(x.a(), 0xffff) | std::min<u64>(x.b(), 0xffff) << 16),
    V(v_cvt_pk_i16_f32, "u=ff", to_i16(x.f32, x.a()) | to_i16(x.f32, x.b()) << 16),
    V(v_cvt_pk_u16_f32, "u=ff", to_u16(x.f32, x.a()) | to_u16(x.f32, x.b()) << 16),
    V(v_cvt_pk_u8_f32, "u=fuu", byte_in(x.c(), x.b(), static_cast<u64>(to_integer(x.f32, x.a(), 0, 255)))),
};
// clang-format on

}  // namespace

std::span<const Row> conversion_rows() {
  return kRows;
}

}  // namespace wavegate::amdgpu::wave::testing
