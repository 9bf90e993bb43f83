#include <array>

#include "wavegate/amdgpu/wave/kernel.h"
#include "wavegate/amdgpu/wave/numeric.h"

namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using u32 = std::uint32_t;
using i32 = std::int32_t;

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
    operation<[](u32 a, u32 b, float c) { return half_dot(a, b, c); }>(v_dot2_f32_f16),
    operation<[](u32 a, u32 b, float c) { return half_dot(a, b, c); }>(v_dot2c_f32_f16),
};
// clang-format on

}  // namespace

std::span<const Operation> dot_operations() {
  return kRows;
}

}  // namespace wavegate::amdgpu::wave
