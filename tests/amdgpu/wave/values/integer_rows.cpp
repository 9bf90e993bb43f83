#include <bit>

#include "amdgpu/wave/values/rows.h"

namespace wavegate::amdgpu::wave::testing {

namespace {

#define V WAVEGATE_VALUE
#define A static_cast<i128>(x.a())
#define B static_cast<i128>(x.b())
#define C static_cast<i128>(x.c())
#define SA static_cast<i128>(sx(x.a()))
#define SB static_cast<i128>(sx(x.b()))
#define SC static_cast<i128>(sx(x.c()))
#define A24 static_cast<i128>(part(x.a(), 0, 24))
#define B24 static_cast<i128>(part(x.b(), 0, 24))
#define SA24 static_cast<i128>(sx(x.a(), 24))
#define SB24 static_cast<i128>(sx(x.b(), 24))

u64 carry(Lane& x, i128 value) {
  x.flag = value < 0 || value > 0xffffffff;
  return x.as_unsigned(value, 32);
}
u64 low(i128 value) {
  return static_cast<u64>(value) & 0xffffffffu;
}
i128 middle(i128 a, i128 b, i128 c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}
u64 distance(u64 a, u64 b) {
  return a > b ? a - b : b - a;
}
u64 bytes_apart(u64 a, u64 b, bool masked) {
  u64 sum = 0;
  for (int i = 0; i < 32; i += 8)
    if (!masked || part(b, i, 8) != 0) sum += distance(part(a, i, 8), part(b, i, 8));
  return sum;
}
/// Four sums over windows of the eight bytes of `a`, one byte further each.
u64 windows_apart(const Lane& x, bool masked) {
  u64 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u64 sum = bytes_apart(part(x.a(), i * 8, 32), x.b(), masked) + part(x.c(), i * 16, 16);
    result |= x.as_unsigned(static_cast<i128>(sum), 16) << (i * 16);
  }
  return result;
}
u64 average(u64 a, u64 b, u64 c) {
  u64 result = 0;
  for (int i = 0; i < 32; i += 8) result |= (part(a, i, 8) + part(b, i, 8) + part(c, i, 1)) / 2 << i;
  return result;
}
u64 permuted(u64 high, u64 low, u64 selectors) {
  u64 result = 0;
  for (int i = 0; i < 32; i += 8) {
    const u64 select = part(selectors, i, 8);
    const u64 all = high << 32 | low;
    u64 byte = 0;
    if (select >= 13) byte = 0xff;
    if (select >= 8 && select <= 11) byte = part(all, static_cast<int>(select - 8) * 16 + 15, 1) * 0xff;
    if (select < 8) byte = part(all, static_cast<int>(select) * 8, 8);
    result |= byte << i;
  }
  return result;
}
u64 reversed(u64 value, int bits) {
  u64 result = 0;
  for (int i = 0; i < bits; ++i) result |= part(value, i, 1) << (bits - 1 - i);
  return result;
}
u64 bits_set(u64 value) {
  u64 count = 0;
  for (; value != 0; value >>= 1) count += value & 1;
  return count;
}
/// How many bits from the top on are like none; all ones if the value has no other.
u64 first_from_top(u64 value, u64 like) {
  for (int i = 0; i < 32; ++i)
    if (part(value, 31 - i, 1) != like) return static_cast<u64>(i);
  return 0xffffffffu;
}
u64 first_from_bottom(u64 value) {
  for (int i = 0; i < 32; ++i)
    if (part(value, i, 1) != 0) return static_cast<u64>(i);
  return 0xffffffffu;
}
u64 signed_field(u64 value, u64 offset, u64 width) {
  const u64 field = part(value, static_cast<int>(offset & 31), static_cast<int>(width & 31));
  return (width & 31) == 0 ? 0 : low(sx(field, static_cast<int>(width & 31)));
}
/// As an arithmetic shift of a signed value gives it: v_bfe_i32 shifts before it cuts out.
u64 signed_field_of(u64 value, u64 offset, u64 width) {
  return signed_field(low(sx(value) >> (offset & 31)), 0, width);
}
u64 mad_u64(Lane& x) {
  const u128 sum = static_cast<u128>(x.a()) * x.b() + x.c();
  x.flag = (sum >> 64) != 0;
  return static_cast<u64>(sum);
}
/// The sum in 65 bits; the flag is the highest of them.
u64 mad_i64(Lane& x) {
  const i128 sum = SA * SB + static_cast<i64>(x.c());
  x.flag = sum < -(i128{1} << 63) || sum >= i128{1} << 63;
  return static_cast<u64>(sum);
}
u64 shifted_add(Lane& x) {
  const u64 count = x.b() & 7;
  x.unspecified = x.b() > 4;
  return (x.a() << count) + x.c();
}
u64 saturated_bytes(u64 a) {
  return static_cast<u64>(std::clamp<i64>(sx(a, 16), 0, 255) | std::clamp<i64>(sx(a >> 16, 16), 0, 255) << 8);
}
template <int bits>
u64 unsigned_dot(Lane& x) {
  i128 sum = C;
  for (int i = 0; i < 32; i += bits)
    sum += static_cast<i128>(dot_part(x, 0, i, bits)) * static_cast<i128>(dot_part(x, 1, i, bits));
  return x.as_unsigned(sum, 32);
}
template <int bits>
u64 signed_dot(Lane& x) {
  i128 sum = SC;
  for (int i = 0; i < 32; i += bits)
    sum += static_cast<i128>(sx(dot_part(x, 0, i, bits), bits)) * sx(dot_part(x, 1, i, bits), bits);
  return x.as_signed(sum, 32);
}

// clang-format off
constexpr Row kRows[] = {
    V(v_mov_b32, "u=u", x.a()),
    V(v_mov_b64, "q=q", x.a()),
    V(v_accvgpr_mov_b32, "u=u", x.a()),
    V(v_accvgpr_read_b32, "u=u", x.a()),
    V(v_accvgpr_write_b32, "u=u", x.a()),
    V(v_cndmask_b32, "u=uum", x.mask ? x.b() : x.a()),
    V(v_not_b32, "u=u", low(~x.a())),
    V(v_and_b32, "u=uu", x.a() & x.b()),
    V(v_or_b32, "u=uu", x.a() | x.b()),
    V(v_xor_b32, "u=uu", x.a() ^ x.b()),
    V(v_xnor_b32, "u=uu", low(~(x.a() ^ x.b()))),
    V(v_and_or_b32, "u=uuu", (x.a() & x.b()) | x.c()),
    V(v_or3_b32, "u=uuu", x.a() | x.b() | x.c()),
    V(v_xor3_b32, "u=uuu", x.a() ^ x.b() ^ x.c()),
    V(v_xad_u32, "u=uuu", low((x.a() ^ x.b()) + x.c())),
    V(v_add3_u32, "u=uuu", low(A + B + C)),
    V(v_lshl_add_u32, "u=uuu", low((x.a() << (x.b() & 31)) + x.c())),
    V(v_add_lshl_u32, "u=uuu", low(low(A + B) << (x.c() & 31))),
    V(v_lshl_or_b32, "u=uuu", low(x.a() << (x.b() & 31)) | x.c()),
    V(v_lshl_add_u64, "q=quq", shifted_add(x)),
    V(v_lshlrev_b32, "u=uu", low(x.b() << (x.a() & 31))),
    V(v_lshrrev_b32, "u=uu", x.b() >> (x.a() & 31)),
    V(v_ashrrev_i32, "i=ui", low(sx(x.b()) >> (x.a() & 31))),
    V(v_lshlrev_b64, "q=uq", x.b() << (x.a() & 63)),
    V(v_lshrrev_b64, "q=uq", x.b() >> (x.a() & 63)),
    V(v_ashrrev_i64, "q=uq", static_cast<i64>(x.b()) >> (x.a() & 63)),
    V(v_add_nc_u32, "u=uu", x.as_unsigned(A + B, 32)),
    V(v_sub_nc_u32, "u=uu", x.as_unsigned(A - B, 32)),
    V(v_subrev_nc_u32, "u=uu", x.as_unsigned(B - A, 32)),
    V(v_add_nc_i32, "i=ii", x.as_signed(SA + SB, 32)),
    V(v_sub_nc_i32, "i=ii", x.as_signed(SA - SB, 32)),
    V(v_add_co_u32, "u=uu", carry(x, A + B)),
    V(v_sub_co_u32, "u=uu", carry(x, A - B)),
    V(v_subrev_co_u32, "u=uu", carry(x, B - A)),
    V(v_add_co_ci_u32, "u=uum", carry(x, A + B + (x.mask ? 1 : 0))),
    V(v_sub_co_ci_u32, "u=uum", carry(x, A - B - (x.mask ? 1 : 0))),
    V(v_subrev_co_ci_u32, "u=uum", carry(x, B - A - (x.mask ? 1 : 0))),
    V(v_mul_lo_u32, "u=uu", low(A * B)),
    V(v_mul_lo_i32, "i=ii", low(SA * SB)),
    V(v_mul_hi_u32, "u=uu", low((A * B) >> 32)),
    V(v_mul_hi_i32, "i=ii", low((SA * SB) >> 32)),
    V(v_mul_u32_u24, "u=uu", low(A24 * B24)),
    V(v_mul_i32_i24, "i=ii", low(SA24 * SB24)),
    V(v_mul_hi_u32_u24, "u=uu", low((A24 * B24) >> 32)),
    V(v_mul_hi_i32_i24, "i=ii", low((SA24 * SB24) >> 32)),
    V(v_mad_u32_u24, "u=uuu", x.as_unsigned(A24 * B24 + C, 32)),
    V(v_mad_i32_i24, "i=iii", x.as_signed(SA24 * SB24 + SC, 32)),
    V(v_mad_u64_u32, "q=uuq", mad_u64(x)),
    V(v_mad_i64_i32, "q=iiq", mad_i64(x)),
    V(v_min_u32, "u=uu", std::min(x.a(), x.b())),
    V(v_max_u32, "u=uu", std::max(x.a(), x.b())),
    V(v_min_i32, "i=ii", low(std::min(SA, SB))),
    V(v_max_i32, "i=ii", low(std::max(SA, SB))),
    V(v_min3_u32, "u=uuu", std::min({x.a(), x.b(), x.c()})),
    V(v_max3_u32, "u=uuu", std::max({x.a(), x.b(), x.c()})),
    V(v_med3_u32, "u=uuu", low(middle(A, B, C))),
    V(v_min3_i32, "i=iii", low(std::min({SA, SB, SC}))),
    V(v_max3_i32, "i=iii", low(std::max({SA, SB, SC}))),
    V(v_med3_i32, "i=iii", low(middle(SA, SB, SC))),
    V(v_maxmin_u32, "u=uuu", std::min(std::max(x.a(), x.b()), x.c())),
    V(v_minmax_u32, "u=uuu", std::max(std::min(x.a(), x.b()), x.c())),
    V(v_maxmin_i32, "i=iii", low(std::min(std::max(SA, SB), SC))),
    V(v_minmax_i32, "i=iii", low(std::max(std::min(SA, SB), SC))),
    V(v_bfe_u32, "u=uuu", part(x.a() >> (x.b() & 31), 0, static_cast<int>(x.c() & 31))),
    V(v_bfe_i32, "i=iuu", signed_field_of(x.a(), x.b(), x.c())),
    V(v_bfi_b32, "u=uuu", (x.a() & x.b()) | (~x.a() & x.c())),
    V(v_bfm_b32, "u=uu", low(part(~u64{0}, 0, static_cast<int>(x.a() & 31)) << (x.b() & 31))),
    V(v_alignbit_b32, "u=uuu", low((x.a() << 32 | x.b()) >> (x.c() & 31))),
    V(v_alignbyte_b32, "u=uuu", low((x.a() << 32 | x.b()) >> (x.c() & 3) * 8)),
    V(v_perm_b32, "u=uuu", permuted(x.a(), x.b(), x.c())),
    V(v_bfrev_b32, "u=u", reversed(x.a(), 32)),
    V(v_bcnt_u32_b32, "u=uu", low(bits_set(x.a()) + x.b())),
    V(v_ffbh_u32, "u=u", first_from_top(x.a(), 0)),
    V(v_ffbh_i32, "u=i", first_from_top(x.a(), part(x.a(), 31, 1))),
    V(v_ffbl_b32, "u=u", first_from_bottom(x.a())),
    V(v_lerp_u8, "u=uuu", average(x.a(), x.b(), x.c())),
    V(v_sad_u8, "u=uuu", x.as_unsigned(static_cast<i128>(bytes_apart(x.a(), x.b(), false)) + C, 32)),
    V(v_sad_hi_u8, "u=uuu", x.as_unsigned(static_cast<i128>(bytes_apart(x.a(), x.b(), false) << 16) + C, 32)),
    V(v_msad_u8, "u=uuu", x.as_unsigned(static_cast<i128>(bytes_apart(x.a(), x.b(), true)) + C, 32)),
    V(v_sad_u16, "u=uuu", x.as_unsigned(static_cast<i128>(distance(part(x.a(), 0, 16), part(x.b(), 0, 16)) + distance(x.a() >> 16, x.b() >> 16)) + C, 32)),
    V(v_sad_u32, "u=uuu", x.as_unsigned(static_cast<i128>(distance(x.a(), x.b())) + C, 32)),
    V(v_qsad_pk_u16_u8, "q=quq", windows_apart(x, false)),
    V(v_mqsad_pk_u16_u8, "q=quq", windows_apart(x, true)),
    V(v_dot2_i32_i16, "i=uui", signed_dot<16>(x)),
    V(v_dot2_u32_u16, "u=uuu", unsigned_dot<16>(x)),
    V(v_dot4_i32_i8, "i=uui", signed_dot<8>(x)),
    V(v_dot4_u32_u8, "u=uuu", unsigned_dot<8>(x)),
    V(v_dot8_i32_i4, "i=uui", signed_dot<4>(x)),
    V(v_dot8_u32_u4, "u=uuu", unsigned_dot<4>(x)),
    V(v_dot2c_i32_i16, "i=uui", signed_dot<16>(x)),
    V(v_dot4c_i32_i8, "i=uui", signed_dot<8>(x)),
    V(v_dot8c_i32_i4, "i=uui", signed_dot<4>(x)),
};

#define SA16 static_cast<i128>(sx(x.a(), 16))
#define SB16 static_cast<i128>(sx(x.b(), 16))
#define SC16 static_cast<i128>(sx(x.c(), 16))
constexpr Row kShortRows[] = {
    V(v_not_b16, "w=w", ~x.a() & 0xffff),
    V(v_and_b16, "w=ww", x.a() & x.b()),
    V(v_or_b16, "w=ww", x.a() | x.b()),
    V(v_xor_b16, "w=ww", x.a() ^ x.b()),
    V(v_cndmask_b16, "w=wwm", x.mask ? x.b() : x.a()),
    V(v_mov_b16, "w=w", x.a()),
    V(v_add_nc_u16, "w=ww", x.as_unsigned(A + B, 16)),
    V(v_sub_nc_u16, "w=ww", x.as_unsigned(A - B, 16)),
    V(v_subrev_u16, "w=ww", x.as_unsigned(B - A, 16)),
    V(v_add_nc_i16, "s=ss", x.as_signed(SA16 + SB16, 16)),
    V(v_sub_nc_i16, "s=ss", x.as_signed(SA16 - SB16, 16)),
    V(v_mul_lo_u16, "w=ww", x.as_unsigned(A * B, 16)),
    V(v_mad_u16, "w=www", x.as_unsigned(A * B + C, 16)),
    V(v_mad_i16, "s=sss", x.as_signed(SA16 * SB16 + SC16, 16)),
    V(v_mad_legacy_u16, "w=www", x.as_unsigned(A * B + C, 16)),
    V(v_mad_legacy_i16, "s=sss", x.as_signed(SA16 * SB16 + SC16, 16)),
    V(v_mad_u32_u16, "u=wwu", x.as_unsigned(A * B + C, 32)),
    V(v_mad_i32_i16, "i=ssi", x.as_signed(SA16 * SB16 + SC, 32)),
    V(v_lshlrev_b16, "w=ww", (x.b() << (x.a() & 15)) & 0xffff),
    V(v_lshrrev_b16, "w=ww", x.b() >> (x.a() & 15)),
    V(v_ashrrev_i16, "s=ws", (sx(x.b(), 16) >> (x.a() & 15)) & 0xffff),
    V(v_min_u16, "w=ww", std::min(x.a(), x.b())),
    V(v_max_u16, "w=ww", std::max(x.a(), x.b())),
    V(v_min_i16, "s=ss", std::min(SA16, SB16) & 0xffff),
    V(v_max_i16, "s=ss", std::max(SA16, SB16) & 0xffff),
    V(v_min3_u16, "w=www", std::min({x.a(), x.b(), x.c()})),
    V(v_max3_u16, "w=www", std::max({x.a(), x.b(), x.c()})),
    V(v_med3_u16, "w=www", middle(A, B, C)),
    V(v_min3_i16, "s=sss", std::min({SA16, SB16, SC16}) & 0xffff),
    V(v_max3_i16, "s=sss", std::max({SA16, SB16, SC16}) & 0xffff),
    V(v_med3_i16, "s=sss", middle(SA16, SB16, SC16) & 0xffff),
    V(v_pack_b32_f16, "u=hh", x.a() | x.b() << 16),
    V(v_sat_pk_u8_i16, "w=u", saturated_bytes(x.a())),
};
// clang-format on

}  // namespace

std::span<const Row> integer_rows() {
  return kRows;
}
std::span<const Row> short_rows() {
  return kShortRows;
}

}  // namespace wavegate::amdgpu::wave::testing
