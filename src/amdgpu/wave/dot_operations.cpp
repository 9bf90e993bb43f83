#include <algorithm>
#include <array>

#include "wavegate/amdgpu/wave/kernel.h"
#include "wavegate/amdgpu/wave/small_float.h"

namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using u32 = std::uint32_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

WAVEGATE_LANE i32 signed_part(u32 word, u32 index, u32 width) {
  return static_cast<i32>(word << (32 - width * (index + 1))) >> (32 - width);
}
WAVEGATE_LANE u32 unsigned_part(u32 word, u32 index, u32 width) {
  return word >> (width * index) & ((1u << width) - 1);
}
template <u32 width>
WAVEGATE_LANE u32 signed_dot(u32 a, u32 b, u32 c) {
  for (u32 i = 0; i < 32 / width; ++i) c += static_cast<u32>(signed_part(a, i, width) * signed_part(b, i, width));
  return c;
}
template <u32 width>
WAVEGATE_LANE u32 unsigned_dot(u32 a, u32 b, u32 c) {
  for (u32 i = 0; i < 32 / width; ++i) c += unsigned_part(a, i, width) * unsigned_part(b, i, width);
  return c;
}
WAVEGATE_LANE float low(u32 word) {
  return of_half(word & 0xffffu);
}
WAVEGATE_LANE float high(u32 word) {
  return of_half(word >> 16);
}
/// Products of f16 are exact in f32; each sum is rounded.
WAVEGATE_LANE float half_dot(u32 a, u32 b, float c) {
  return std::fma(high(a), high(b), std::fma(low(a), low(b), c));
}

/// The same of halves whose denormals are zeros.
WAVEGATE_LANE u32 without_denormals(u32 halves) {
  const u32 low_kept = (halves & 0x7c00u) != 0 ? 0xffffu : 0x8000u;
  const u32 high_kept = (halves & 0x7c000000u) != 0 ? 0xffff0000u : 0x80000000u;
  return halves & (low_kept | high_kept);
}
WAVEGATE_LANE float normal_half_dot(u32 a, u32 b, float c) {
  return half_dot(without_denormals(a), without_denormals(b), c);
}

WAVEGATE_LANE float low_bfloat(u32 word) {
  return of_bfloat(word & 0xffffu);
}
WAVEGATE_LANE float high_bfloat(u32 word) {
  return of_bfloat(word >> 16);
}
WAVEGATE_LANE float bfloat_dot(u32 a, u32 b, float c) {
  return std::fma(high_bfloat(a), high_bfloat(b), std::fma(low_bfloat(a), low_bfloat(b), c));
}
template <const SmallFormat& format_a, const SmallFormat& format_b>
WAVEGATE_LANE float small_dot(u32 a, u32 b, float c) {
  for (u32 i = 0; i < 4; ++i)
    c = std::fma(of_small(unsigned_part(a, i, 8), format_a), of_small(unsigned_part(b, i, 8), format_b), c);
  return c;
}
/// Of sources whose signedness the instruction says.
template <u32 width, bool signed_a, bool signed_b>
WAVEGATE_LANE i64 any_dot(u32 a, u32 b, i64 c) {
  for (u32 i = 0; i < 32 / width; ++i) {
    const i32 x = signed_a ? signed_part(a, i, width) : static_cast<i32>(unsigned_part(a, i, width));
    const i32 y = signed_b ? signed_part(b, i, width) : static_cast<i32>(unsigned_part(b, i, width));
    c += static_cast<i64>(x) * y;
  }
  return c;
}
WAVEGATE_LANE i32 bounded(i64 value) {
  return static_cast<i32>(clamped<i64>(value, -0x80000000ll, 0x7fffffffll));
}
WAVEGATE_LANE u32 bounded_unsigned(i64 value) {
  return static_cast<u32>(value > 0xffffffffll ? 0xffffffffll : value);
}
template <u32 width>
WAVEGATE_LANE i32 bounded_dot(u32 a, u32 b, i32 c) {
  return bounded(any_dot<width, true, true>(a, b, c));
}
template <u32 width>
WAVEGATE_LANE u32 bounded_unsigned_dot(u32 a, u32 b, u32 c) {
  i64 sum = c;
  for (u32 i = 0; i < 32 / width; ++i) sum += static_cast<i64>(unsigned_part(a, i, width)) * unsigned_part(b, i, width);
  return bounded_unsigned(sum);
}
constexpr Exactness kApproximate = Exactness::approximate;

// clang-format off
constexpr std::array kRows{
    operation<[](u32 a, u32 b, u32 c) { return signed_dot<16>(a, b, c); }>(v_dot2_i32_i16),
    operation<[](u32 a, u32 b, u32 c) { return unsigned_dot<16>(a, b, c); }>(v_dot2_u32_u16),
    operation<[](u32 a, u32 b, u32 c) { return signed_dot<8>(a, b, c); }>(v_dot4_i32_i8),
    operation<[](u32 a, u32 b, u32 c) { return unsigned_dot<8>(a, b, c); }>(v_dot4_u32_u8),
    operation<[](u32 a, u32 b, u32 c) { return signed_dot<4>(a, b, c); }>(v_dot8_i32_i4),
    operation<[](u32 a, u32 b, u32 c) { return unsigned_dot<4>(a, b, c); }>(v_dot8_u32_u4),
    operation<[](u32 a, u32 b, u32 c) { return signed_dot<16>(a, b, c); }>(v_dot2c_i32_i16),
    operation<[](u32 a, u32 b, u32 c) { return signed_dot<8>(a, b, c); }>(v_dot4c_i32_i8),
    operation<[](u32 a, u32 b, u32 c) { return signed_dot<4>(a, b, c); }>(v_dot8c_i32_i4),
    flushing(operation<[](u32 a, u32 b, float c) { return half_dot(a, b, c); }>(v_dot2_f32_f16, kApproximate)),
    flushing(operation<[](u32 a, u32 b, float c) { return half_dot(a, b, c); }>(v_dot2c_f32_f16, kApproximate)),
    operation<[](u32 a, u32 b, float c) { return bfloat_dot(a, b, c); }>(v_dot2_f32_bf16, kApproximate),
    operation<[](u32 a, u32 b, F16 c) { return F16{half_dot(a, b, c.value)}; }>(v_dot2_f16_f16, kApproximate),
    operation<[](u32 a, u32 b, U16 c) { return U16{bfloat_bits(bfloat_dot(a, b, of_bfloat(c.value)))}; }>(v_dot2_bf16_bf16, kApproximate),
    operation<[](u32 a, u32 b, float c) { return small_dot<kFp8, kFp8>(a, b, c); }>(v_dot4_f32_fp8_fp8, kApproximate),
    operation<[](u32 a, u32 b, float c) { return small_dot<kFp8, kBf8>(a, b, c); }>(v_dot4_f32_fp8_bf8, kApproximate),
    operation<[](u32 a, u32 b, float c) { return small_dot<kBf8, kFp8>(a, b, c); }>(v_dot4_f32_bf8_fp8, kApproximate),
    operation<[](u32 a, u32 b, float c) { return small_dot<kBf8, kBf8>(a, b, c); }>(v_dot4_f32_bf8_bf8, kApproximate),
};

constexpr std::array kSaturatingRows{
    operation<[](u32 a, u32 b, i32 c) { return bounded_dot<16>(a, b, c); }>(v_dot2_i32_i16),
    operation<[](u32 a, u32 b, u32 c) { return bounded_unsigned_dot<16>(a, b, c); }>(v_dot2_u32_u16),
    operation<[](u32 a, u32 b, i32 c) { return bounded_dot<8>(a, b, c); }>(v_dot4_i32_i8),
    operation<[](u32 a, u32 b, u32 c) { return bounded_unsigned_dot<8>(a, b, c); }>(v_dot4_u32_u8),
    operation<[](u32 a, u32 b, i32 c) { return bounded_dot<4>(a, b, c); }>(v_dot8_i32_i4),
    operation<[](u32 a, u32 b, u32 c) { return bounded_unsigned_dot<4>(a, b, c); }>(v_dot8_u32_u4),
};

/// MI200's.
constexpr std::array kNormalRows{
    flushing(operation<[](u32 a, u32 b, float c) { return normal_half_dot(a, b, c); }>(v_dot2_f32_f16, kApproximate)),
    flushing(operation<[](u32 a, u32 b, float c) { return normal_half_dot(a, b, c); }>(v_dot2c_f32_f16, kApproximate)),
};

/// By signedness: of neither source, of the first, of the second, of both.
#define WAVEGATE_MIXED(opcode, width)                                                                                          \
  operation<[](u32 a, u32 b, i32 c) { return static_cast<u32>(any_dot<width, false, false>(a, b, c)); }>(opcode),              \
      operation<[](u32 a, u32 b, i32 c) { return static_cast<u32>(any_dot<width, true, false>(a, b, c)); }>(opcode),           \
      operation<[](u32 a, u32 b, i32 c) { return static_cast<u32>(any_dot<width, false, true>(a, b, c)); }>(opcode),           \
      operation<[](u32 a, u32 b, i32 c) { return static_cast<u32>(any_dot<width, true, true>(a, b, c)); }>(opcode),            \
      operation<[](u32 a, u32 b, i32 c) { return bounded(any_dot<width, false, false>(a, b, c)); }>(opcode),                   \
      operation<[](u32 a, u32 b, i32 c) { return bounded(any_dot<width, true, false>(a, b, c)); }>(opcode),                    \
      operation<[](u32 a, u32 b, i32 c) { return bounded(any_dot<width, false, true>(a, b, c)); }>(opcode),                    \
      operation<[](u32 a, u32 b, i32 c) { return bounded(any_dot<width, true, true>(a, b, c)); }>(opcode)
constexpr std::array kMixedRows{WAVEGATE_MIXED(v_dot4_i32_iu8, 8), WAVEGATE_MIXED(v_dot8_i32_iu4, 4)};
// clang-format on

}  // namespace

std::span<const Operation> dot_operations() {
  return kRows;
}
std::span<const Operation> saturating_dot_operations() {
  return kSaturatingRows;
}

const Operation* find_normal_dot(isa::Opcode opcode) {
  const auto* const row = std::ranges::find(kNormalRows, opcode, &Operation::opcode);
  return row == kNormalRows.end() ? nullptr : row;
}

const Operation* find_mixed_dot(isa::Opcode opcode, unsigned signs, bool clamp) {
  if (opcode != v_dot4_i32_iu8 && opcode != v_dot8_i32_iu4) return nullptr;
  return &kMixedRows[(opcode == v_dot4_i32_iu8 ? 0u : 8u) + (clamp ? 4u : 0u) + (signs & 3)];
}

}  // namespace wavegate::amdgpu::wave
