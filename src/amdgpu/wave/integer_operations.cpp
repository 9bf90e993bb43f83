#include <array>
#include <bit>

#include "wavegate/amdgpu/wave/kernel.h"
#include "wavegate/amdgpu/wave/numeric.h"

namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

template <typename T>
WAVEGATE_LANE T smaller(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
WAVEGATE_LANE T larger(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
WAVEGATE_LANE T middle(T a, T b, T c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}

WAVEGATE_LANE i32 signed24(i32 value) {
  return static_cast<i32>(static_cast<u32>(value) << 8) >> 8;
}
WAVEGATE_LANE i32 multiply24(i32 a, i32 b) {
  return static_cast<i32>(static_cast<u32>(signed24(a)) * static_cast<u32>(signed24(b)));
}
WAVEGATE_LANE i64 product24(i32 a, i32 b) {
  return static_cast<i64>(signed24(a)) * signed24(b);
}
WAVEGATE_LANE u32 add(i32 a, i32 b) {
  return static_cast<u32>(a) + static_cast<u32>(b);
}

WAVEGATE_LANE u32 reversed(u32 value) {
  value = (value >> 1 & 0x55555555u) | (value & 0x55555555u) << 1;
  value = (value >> 2 & 0x33333333u) | (value & 0x33333333u) << 2;
  value = (value >> 4 & 0x0f0f0f0fu) | (value & 0x0f0f0f0fu) << 4;
  value = (value >> 8 & 0x00ff00ffu) | (value & 0x00ff00ffu) << 8;
  return value >> 16 | value << 16;
}

/// A byte of eight, or a constant: v_perm_b32's selectors.
WAVEGATE_LANE u32 permuted_byte(u64 bytes, u32 selector) {
  const u32 byte = static_cast<u32>(bytes >> ((selector & 7) * 8)) & 0xffu;
  const u32 sign = (bytes >> ((selector & 3) * 16 + 15) & 1) != 0 ? 0xffu : 0u;
  return selector < 8 ? byte : selector < 12 ? sign : selector == 12 ? 0u : 0xffu;
}
WAVEGATE_LANE u32 permuted(u32 high, u32 low, u32 selectors) {
  const u64 bytes = static_cast<u64>(high) << 32 | low;
  u32 result = 0;
  for (u32 byte = 0; byte < 4; ++byte) result |= permuted_byte(bytes, selectors >> (byte * 8) & 0xffu) << (byte * 8);
  return result;
}

WAVEGATE_LANE u32 byte_of(u32 word, u32 index) {
  return word >> (index * 8) & 0xffu;
}
WAVEGATE_LANE u32 difference(u32 a, u32 b) {
  return a > b ? a - b : b - a;
}
WAVEGATE_LANE u32 sad_bytes(u32 a, u32 b, bool masked) {
  u32 sum = 0;
  for (u32 i = 0; i < 4; ++i) sum += (masked && byte_of(b, i) == 0) ? 0u : difference(byte_of(a, i), byte_of(b, i));
  return sum;
}
/// Four sums of differences, of the bytes from byte 0, 1, 2 and 3 on, each added to 16 bits.
WAVEGATE_LANE u64 quad_sad(u64 a, u32 b, u64 c, bool masked) {
  u64 result = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 sum = sad_bytes(static_cast<u32>(a >> (i * 8)), b, masked) + (static_cast<u32>(c >> (i * 16)) & 0xffffu);
    result |= static_cast<u64>(sum & 0xffffu) << (i * 16);
  }
  return result;
}
WAVEGATE_LANE u32 bounded_sum(u32 a, u32 b) {
  return a + b < a ? ~0u : a + b;
}
WAVEGATE_LANE u32 lerp_bytes(u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) result |= ((byte_of(a, i) + byte_of(b, i) + (byte_of(c, i) & 1)) >> 1 & 0xffu) << (i * 8);
  return result;
}
WAVEGATE_LANE u32 bit_field(u32 value, u32 offset, u32 width) {
  return value >> (offset & 31) & ((1u << (width & 31)) - 1);
}
WAVEGATE_LANE i32 signed_bit_field(i32 value, u32 offset, u32 width) {
  const u32 field = static_cast<u32>(value >> (offset & 31)) & ((1u << (width & 31)) - 1);
  const u32 sign = (width & 31) == 0 ? 0u : 1u << ((width - 1) & 31);
  return static_cast<i32>((field ^ sign) - sign);
}
WAVEGATE_LANE WithFlag<u32> add_carry(u32 a, u32 b, u32 carry) {
  const u32 sum = a + b, all = sum + carry;
  return {all, sum < a || all < sum};
}
WAVEGATE_LANE WithFlag<u32> subtract_borrow(u32 a, u32 b, u32 borrow) {
  const u32 difference = a - b;
  return {difference - borrow, a < b || difference < borrow};
}
/// g++ 12 takes `>>` for the end of a template's arguments, also within a function that is one.
template <typename T>
WAVEGATE_LANE T shifted_down(T value, u32 count) {
  return static_cast<T>(value >> count);
}
WAVEGATE_LANE u32 one(Flag flag) {
  return flag.value & 1;
}

// clang-format off
constexpr std::array kRows{
    operation<[](u32 a) { return a; }>(v_mov_b32),
    operation<[](u64 a) { return a; }>(v_mov_b64),
    operation<[](u32 a) { return a; }>(v_accvgpr_mov_b32),
    operation<[](u32 a) { return a; }>(v_accvgpr_read_b32),
    operation<[](u32 a) { return a; }>(v_accvgpr_write_b32),
    operation<[](u32 a, u32 b, Flag c) { return c.value != 0 ? b : a; }>(v_cndmask_b32),
    operation<[](u32 a) { return ~a; }>(v_not_b32),
    operation<[](u32 a, u32 b) { return a & b; }>(v_and_b32),
    operation<[](u32 a, u32 b) { return a | b; }>(v_or_b32),
    operation<[](u32 a, u32 b) { return a ^ b; }>(v_xor_b32),
    operation<[](u32 a, u32 b) { return ~(a ^ b); }>(v_xnor_b32),
    operation<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>(v_and_or_b32),
    operation<[](u32 a, u32 b, u32 c) { return a | b | c; }>(v_or3_b32),
    operation<[](u32 a, u32 b, u32 c) { return a ^ b ^ c; }>(v_xor3_b32),
    operation<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>(v_xad_u32),
    operation<[](u32 a, u32 b, u32 c) { return a + b + c; }>(v_add3_u32),
    operation<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>(v_lshl_add_u32),
    operation<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>(v_add_lshl_u32),
    operation<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }>(v_lshl_or_b32),
    operation<[](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }>(v_lshl_add_u64),
    operation<[](u32 a, u32 b) { return b << (a & 31); }>(v_lshlrev_b32),
    operation<[](u32 a, u32 b) { return shifted_down(b, a & 31); }>(v_lshrrev_b32),
    operation<[](u32 a, i32 b) { return shifted_down(b, a & 31); }>(v_ashrrev_i32),
    operation<[](u32 a, u64 b) { return b << (a & 63); }>(v_lshlrev_b64),
    operation<[](u32 a, u64 b) { return shifted_down(b, a & 63); }>(v_lshrrev_b64),
    operation<[](u32 a, i64 b) { return shifted_down(b, a & 63); }>(v_ashrrev_i64),
    operation<[](u32 a, u32 b) { return a + b; }>(v_add_nc_u32),
    operation<[](u32 a, u32 b) { return a - b; }>(v_sub_nc_u32),
    operation<[](u32 a, u32 b) { return b - a; }>(v_subrev_nc_u32),
    operation<[](i32 a, i32 b) { return add(a, b); }>(v_add_nc_i32),
    operation<[](u32 a, u32 b) { return a - b; }>(v_sub_nc_i32),
    operation<[](u32 a, u32 b) { return add_carry(a, b, 0); }>(v_add_co_u32),
    operation<[](u32 a, u32 b) { return subtract_borrow(a, b, 0); }>(v_sub_co_u32),
    operation<[](u32 a, u32 b) { return subtract_borrow(b, a, 0); }>(v_subrev_co_u32),
    operation<[](u32 a, u32 b, Flag c) { return add_carry(a, b, one(c)); }>(v_add_co_ci_u32),
    operation<[](u32 a, u32 b, Flag c) { return subtract_borrow(a, b, one(c)); }>(v_sub_co_ci_u32),
    operation<[](u32 a, u32 b, Flag c) { return subtract_borrow(b, a, one(c)); }>(v_subrev_co_ci_u32),
    operation<[](u32 a, u32 b) { return a * b; }>(v_mul_lo_u32),
    operation<[](u32 a, u32 b) { return a * b; }>(v_mul_lo_i32),
    operation<[](u32 a, u32 b) { return static_cast<u32>(shifted_down(static_cast<u64>(a) * b, 32)); }>(v_mul_hi_u32),
    operation<[](i32 a, i32 b) { return static_cast<i32>(shifted_down(static_cast<i64>(a) * b, 32)); }>(v_mul_hi_i32),
    operation<[](u32 a, u32 b) { return (a & 0xffffffu) * (b & 0xffffffu); }>(v_mul_u32_u24),
    operation<[](i32 a, i32 b) { return multiply24(a, b); }>(v_mul_i32_i24),
    operation<[](u32 a, u32 b) { return static_cast<u32>(shifted_down(static_cast<u64>(a & 0xffffffu) * (b & 0xffffffu), 32)); }>(v_mul_hi_u32_u24),
    operation<[](i32 a, i32 b) { return static_cast<i32>(shifted_down(product24(a, b), 32)); }>(v_mul_hi_i32_i24),
    operation<[](u32 a, u32 b, u32 c) { return (a & 0xffffffu) * (b & 0xffffffu) + c; }>(v_mad_u32_u24),
    operation<[](i32 a, i32 b, i32 c) { return add(multiply24(a, b), c); }>(v_mad_i32_i24),
    operation<[](u32 a, u32 b, u64 c) { const u64 sum = static_cast<u64>(a) * b + c; return WithFlag<u64>{sum, sum < c}; }>(v_mad_u64_u32),
    operation<[](i32 a, i32 b, i64 c) {
      const i64 product = static_cast<i64>(a) * b;
      const i64 sum = static_cast<i64>(static_cast<u64>(product) + static_cast<u64>(c));
      return WithFlag<i64>{sum, ((product ^ sum) & (c ^ sum)) < 0};
    }>(v_mad_i64_i32),
    operation<[](u32 a, u32 b) { return smaller(a, b); }>(v_min_u32),
    operation<[](u32 a, u32 b) { return larger(a, b); }>(v_max_u32),
    operation<[](i32 a, i32 b) { return smaller(a, b); }>(v_min_i32),
    operation<[](i32 a, i32 b) { return larger(a, b); }>(v_max_i32),
    operation<[](u32 a, u32 b, u32 c) { return smaller(smaller(a, b), c); }>(v_min3_u32),
    operation<[](u32 a, u32 b, u32 c) { return larger(larger(a, b), c); }>(v_max3_u32),
    operation<[](u32 a, u32 b, u32 c) { return middle(a, b, c); }>(v_med3_u32),
    operation<[](i32 a, i32 b, i32 c) { return smaller(smaller(a, b), c); }>(v_min3_i32),
    operation<[](i32 a, i32 b, i32 c) { return larger(larger(a, b), c); }>(v_max3_i32),
    operation<[](i32 a, i32 b, i32 c) { return middle(a, b, c); }>(v_med3_i32),
    operation<[](u32 a, u32 b, u32 c) { return smaller(larger(a, b), c); }>(v_maxmin_u32),
    operation<[](u32 a, u32 b, u32 c) { return larger(smaller(a, b), c); }>(v_minmax_u32),
    operation<[](i32 a, i32 b, i32 c) { return smaller(larger(a, b), c); }>(v_maxmin_i32),
    operation<[](i32 a, i32 b, i32 c) { return larger(smaller(a, b), c); }>(v_minmax_i32),
    operation<[](u32 a, u32 b, u32 c) { return bit_field(a, b, c); }>(v_bfe_u32),
    operation<[](i32 a, u32 b, u32 c) { return signed_bit_field(a, b, c); }>(v_bfe_i32),
    operation<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>(v_bfi_b32),
    operation<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>(v_bfm_b32),
    operation<[](u32 a, u32 b, u32 c) { return static_cast<u32>(shifted_down(static_cast<u64>(a) << 32 | b, c & 31)); }>(v_alignbit_b32),
    operation<[](u32 a, u32 b, u32 c) { return static_cast<u32>(shifted_down(static_cast<u64>(a) << 32 | b, (c & 3) * 8)); }>(v_alignbyte_b32),
    operation<[](u32 a, u32 b, u32 c) { return permuted(a, b, c); }>(v_perm_b32),
    operation<[](u32 a) { return reversed(a); }>(v_bfrev_b32),
    operation<[](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; }>(v_bcnt_u32_b32),
    operation<[](u32 a) { return a == 0 ? ~0u : static_cast<u32>(std::countl_zero(a)); }>(v_ffbh_u32),
    operation<[](u32 a) { return a == 0 ? ~0u : static_cast<u32>(std::countr_zero(a)); }>(v_ffbl_b32),
    operation<[](i32 a) { const u32 changed = static_cast<u32>(a ^ shifted_down(a, 31)); return changed == 0 ? ~0u : static_cast<u32>(std::countl_zero(changed)); }>(v_ffbh_i32),
    operation<[](u32 a, u32 b, u32 c) { return lerp_bytes(a, b, c); }>(v_lerp_u8),
    operation<[](u32 a, u32 b, u32 c) { return sad_bytes(a, b, false) + c; }>(v_sad_u8),
    operation<[](u32 a, u32 b, u32 c) { return (sad_bytes(a, b, false) << 16) + c; }>(v_sad_hi_u8),
    operation<[](u32 a, u32 b, u32 c) { return sad_bytes(a, b, true) + c; }>(v_msad_u8),
    operation<[](u32 a, u32 b, u32 c) { return difference(a & 0xffffu, b & 0xffffu) + difference(shifted_down(a, 16), shifted_down(b, 16)) + c; }>(v_sad_u16),
    operation<[](u32 a, u32 b, u32 c) { return difference(a, b) + c; }>(v_sad_u32),
    operation<[](u64 a, u32 b, u64 c) { return quad_sad(a, b, c, false); }>(v_qsad_pk_u16_u8),
    operation<[](u64 a, u32 b, u64 c) { return quad_sad(a, b, c, true); }>(v_mqsad_pk_u16_u8),
};

constexpr std::array kShortRows{
    operation<[](U16 a) { return U16{~a.value}; }>(v_not_b16),
    operation<[](U16 a, U16 b) { return U16{a.value & b.value}; }>(v_and_b16),
    operation<[](U16 a, U16 b) { return U16{a.value | b.value}; }>(v_or_b16),
    operation<[](U16 a, U16 b) { return U16{a.value ^ b.value}; }>(v_xor_b16),
    operation<[](U16 a, U16 b, Flag c) { return c.value != 0 ? b : a; }>(v_cndmask_b16),
    operation<[](U16 a, U16 b) { return U16{a.value + b.value}; }>(v_add_nc_u16),
    operation<[](U16 a, U16 b) { return U16{a.value - b.value}; }>(v_sub_nc_u16),
    operation<[](U16 a, U16 b) { return U16{b.value - a.value}; }>(v_subrev_u16),
    operation<[](I16 a, I16 b) { return I16{a.value + b.value}; }>(v_add_nc_i16),
    operation<[](I16 a, I16 b) { return I16{a.value - b.value}; }>(v_sub_nc_i16),
    operation<[](U16 a, U16 b) { return U16{a.value * b.value}; }>(v_mul_lo_u16),
    operation<[](U16 a, U16 b, U16 c) { return U16{a.value * b.value + c.value}; }>(v_mad_u16),
    operation<[](I16 a, I16 b, I16 c) { return I16{static_cast<i32>(static_cast<u32>(a.value) * static_cast<u32>(b.value) + static_cast<u32>(c.value))}; }>(v_mad_i16),
    operation<[](U16 a, U16 b, U16 c) { return U16{a.value * b.value + c.value}; }>(v_mad_legacy_u16),
    operation<[](I16 a, I16 b, I16 c) { return I16{static_cast<i32>(static_cast<u32>(a.value) * static_cast<u32>(b.value) + static_cast<u32>(c.value))}; }>(v_mad_legacy_i16),
    operation<[](U16 a, U16 b, u32 c) { return a.value * b.value + c; }>(v_mad_u32_u16),
    operation<[](I16 a, I16 b, i32 c) { return add(a.value * b.value, c); }>(v_mad_i32_i16),
    operation<[](U16 a, U16 b) { return U16{b.value << (a.value & 15)}; }>(v_lshlrev_b16),
    operation<[](U16 a, U16 b) { return U16{shifted_down(b.value, a.value & 15)}; }>(v_lshrrev_b16),
    operation<[](U16 a, I16 b) { return I16{shifted_down(b.value, a.value & 15)}; }>(v_ashrrev_i16),
    operation<[](U16 a, U16 b) { return U16{smaller(a.value, b.value)}; }>(v_min_u16),
    operation<[](U16 a, U16 b) { return U16{larger(a.value, b.value)}; }>(v_max_u16),
    operation<[](I16 a, I16 b) { return I16{smaller(a.value, b.value)}; }>(v_min_i16),
    operation<[](I16 a, I16 b) { return I16{larger(a.value, b.value)}; }>(v_max_i16),
    operation<[](U16 a, U16 b, U16 c) { return U16{smaller(smaller(a.value, b.value), c.value)}; }>(v_min3_u16),
    operation<[](U16 a, U16 b, U16 c) { return U16{larger(larger(a.value, b.value), c.value)}; }>(v_max3_u16),
    operation<[](U16 a, U16 b, U16 c) { return U16{middle(a.value, b.value, c.value)}; }>(v_med3_u16),
    operation<[](I16 a, I16 b, I16 c) { return I16{smaller(smaller(a.value, b.value), c.value)}; }>(v_min3_i16),
    operation<[](I16 a, I16 b, I16 c) { return I16{larger(larger(a.value, b.value), c.value)}; }>(v_max3_i16),
    operation<[](I16 a, I16 b, I16 c) { return I16{middle(a.value, b.value, c.value)}; }>(v_med3_i16),
    operation<[](U16 a, U16 b) { return a.value | b.value << 16; }>(v_pack_b32_f16),
    operation<[](u32 a) {
      const i32 low = shifted_down(static_cast<i32>(a << 16), 16), high = shifted_down(static_cast<i32>(a), 16);
      return U16{static_cast<u32>(clamped(low, 0, 255) | clamped(high, 0, 255) << 8)};
    }>(v_sat_pk_u8_i16),
    operation<[](U16 a, U16 b) { return U16{a.value + b.value}; }>(v_pk_add_u16),
    operation<[](U16 a, U16 b) { return U16{a.value - b.value}; }>(v_pk_sub_u16),
    operation<[](I16 a, I16 b) { return I16{a.value + b.value}; }>(v_pk_add_i16),
    operation<[](I16 a, I16 b) { return I16{a.value - b.value}; }>(v_pk_sub_i16),
    operation<[](U16 a, U16 b) { return U16{a.value * b.value}; }>(v_pk_mul_lo_u16),
    operation<[](U16 a, U16 b, U16 c) { return U16{a.value * b.value + c.value}; }>(v_pk_mad_u16),
    operation<[](I16 a, I16 b, I16 c) { return I16{static_cast<i32>(static_cast<u32>(a.value) * static_cast<u32>(b.value) + static_cast<u32>(c.value))}; }>(v_pk_mad_i16),
    operation<[](U16 a, U16 b) { return U16{b.value << (a.value & 15)}; }>(v_pk_lshlrev_b16),
    operation<[](U16 a, U16 b) { return U16{shifted_down(b.value, a.value & 15)}; }>(v_pk_lshrrev_b16),
    operation<[](U16 a, I16 b) { return I16{shifted_down(b.value, a.value & 15)}; }>(v_pk_ashrrev_i16),
    operation<[](U16 a, U16 b) { return U16{smaller(a.value, b.value)}; }>(v_pk_min_u16),
    operation<[](U16 a, U16 b) { return U16{larger(a.value, b.value)}; }>(v_pk_max_u16),
    operation<[](I16 a, I16 b) { return I16{smaller(a.value, b.value)}; }>(v_pk_min_i16),
    operation<[](I16 a, I16 b) { return I16{larger(a.value, b.value)}; }>(v_pk_max_i16),
};

// With `clamp` integers stop at the bounds of their type rather than wrap.
constexpr std::array kSaturatingRows{
    operation<[](u32 a, u32 b) { return a + b < a ? ~0u : a + b; }>(v_add_nc_u32),
    operation<[](u32 a, u32 b) { return a < b ? 0u : a - b; }>(v_sub_nc_u32),
    operation<[](u32 a, u32 b) { return b < a ? 0u : b - a; }>(v_subrev_nc_u32),
    operation<[](i32 a, i32 b) { return static_cast<i32>(clamped<i64>(static_cast<i64>(a) + b, -0x80000000ll, 0x7fffffffll)); }>(v_add_nc_i32),
    operation<[](i32 a, i32 b) { return static_cast<i32>(clamped<i64>(static_cast<i64>(a) - b, -0x80000000ll, 0x7fffffffll)); }>(v_sub_nc_i32),
    operation<[](u32 a, u32 b, u32 c) {
      const u64 sum = static_cast<u64>(a & 0xffffffu) * (b & 0xffffffu) + c;
      return static_cast<u32>(sum > 0xffffffffull ? 0xffffffffull : sum);
    }>(v_mad_u32_u24),
    operation<[](i32 a, i32 b, i32 c) { return static_cast<i32>(clamped<i64>(product24(a, b) + c, -0x80000000ll, 0x7fffffffll)); }>(v_mad_i32_i24),
    operation<[](u32 a, u32 b, u32 c) { return bounded_sum(sad_bytes(a, b, false), c); }>(v_sad_u8),
    operation<[](u32 a, u32 b, u32 c) { return bounded_sum(sad_bytes(a, b, false) << 16, c); }>(v_sad_hi_u8),
    operation<[](u32 a, u32 b, u32 c) { return bounded_sum(sad_bytes(a, b, true), c); }>(v_msad_u8),
    operation<[](u32 a, u32 b, u32 c) { return bounded_sum(difference(a & 0xffffu, b & 0xffffu) + difference(shifted_down(a, 16), shifted_down(b, 16)), c); }>(v_sad_u16),
    operation<[](u32 a, u32 b, u32 c) { return bounded_sum(difference(a, b), c); }>(v_sad_u32),
    operation<[](U16 a, U16 b, U16 c) { return U16{static_cast<u32>(smaller<u64>(static_cast<u64>(a.value) * b.value + c.value, 0xffffu))}; }>(v_mad_u16),
    operation<[](I16 a, I16 b, I16 c) { return I16{static_cast<i32>(clamped<i64>(static_cast<i64>(a.value) * b.value + c.value, -32768, 32767))}; }>(v_mad_i16),
    operation<[](U16 a, U16 b, U16 c) { return U16{static_cast<u32>(smaller<u64>(static_cast<u64>(a.value) * b.value + c.value, 0xffffu))}; }>(v_pk_mad_u16),
    operation<[](I16 a, I16 b, I16 c) { return I16{static_cast<i32>(clamped<i64>(static_cast<i64>(a.value) * b.value + c.value, -32768, 32767))}; }>(v_pk_mad_i16),
    operation<[](U16 a, U16 b, u32 c) { return bounded_sum(a.value * b.value, c); }>(v_mad_u32_u16),
    operation<[](I16 a, I16 b, i32 c) { return static_cast<i32>(clamped<i64>(static_cast<i64>(a.value) * b.value + c, -0x80000000ll, 0x7fffffffll)); }>(v_mad_i32_i16),
    operation<[](U16 a, U16 b) { return U16{smaller(a.value + b.value, 0xffffu)}; }>(v_add_nc_u16),
    operation<[](U16 a, U16 b) { return U16{a.value < b.value ? 0u : a.value - b.value}; }>(v_sub_nc_u16),
    operation<[](U16 a, U16 b) { return U16{b.value < a.value ? 0u : b.value - a.value}; }>(v_subrev_u16),
    operation<[](I16 a, I16 b) { return I16{clamped(a.value + b.value, -32768, 32767)}; }>(v_add_nc_i16),
    operation<[](I16 a, I16 b) { return I16{clamped(a.value - b.value, -32768, 32767)}; }>(v_sub_nc_i16),
    operation<[](U16 a, U16 b) { return U16{smaller(a.value + b.value, 0xffffu)}; }>(v_pk_add_u16),
    operation<[](U16 a, U16 b) { return U16{a.value < b.value ? 0u : a.value - b.value}; }>(v_pk_sub_u16),
    operation<[](I16 a, I16 b) { return I16{clamped(a.value + b.value, -32768, 32767)}; }>(v_pk_add_i16),
    operation<[](I16 a, I16 b) { return I16{clamped(a.value - b.value, -32768, 32767)}; }>(v_pk_sub_i16),
};
// clang-format on

}  // namespace

std::span<const Operation> integer_operations() {
  return kRows;
}
std::span<const Operation> short_operations() {
  return kShortRows;
}
std::span<const Operation> saturating_operations() {
  return kSaturatingRows;
}

}  // namespace wavegate::amdgpu::wave
