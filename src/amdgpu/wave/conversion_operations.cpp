#include <array>

#include "wavegate/amdgpu/wave/kernel.h"
#include "wavegate/amdgpu/wave/numeric.h"

namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using u32 = std::uint32_t;
using i32 = std::int32_t;

template <typename T>
WAVEGATE_LANE u32 pack(T low, T high) {
  return (static_cast<u32>(low) & 0xffffu) | static_cast<u32>(high) << 16;
}
/// A fraction of -1 to 1 or 0 to 1 as an integer of 16 bits.
WAVEGATE_LANE i32 signed_norm(float value) {
  const float bounded = is_nan(value) ? 0.0f : clamped(value, -1.0f, 1.0f);
  return static_cast<i32>(nearest_even(bounded * 32767.0f));
}
WAVEGATE_LANE u32 unsigned_norm(float value) {
  const float bounded = is_nan(value) ? 0.0f : clamped(value, 0.0f, 1.0f);
  return static_cast<u32>(static_cast<i32>(nearest_even(bounded * 65535.0f)));
}
WAVEGATE_LANE u32 byte_of(u32 word, u32 index) {
  return word >> (index * 8) & 0xffu;
}
WAVEGATE_LANE float float_of(u32 small) {
  return static_cast<float>(static_cast<i32>(small));
}
WAVEGATE_LANE float nibble(u32 word) {
  return static_cast<float>(static_cast<i32>(word << 28) >> 28);
}
WAVEGATE_LANE u32 towards_zero_half(float value) {
  return half_bits(value, Rounding::to_zero);
}

// clang-format off
constexpr std::array kRows{
    operation<[](i32 a) { return static_cast<float>(a); }>(v_cvt_f32_i32),
    operation<[](u32 a) { return static_cast<float>(a); }>(v_cvt_f32_u32),
    operation<[](float a) { return to_signed(a); }>(v_cvt_i32_f32),
    operation<[](float a) { return to_unsigned(a); }>(v_cvt_u32_f32),
    operation<[](float a) { return to_signed(std::floor(a + 0.5f)); }>(v_cvt_rpi_i32_f32),
    operation<[](float a) { return to_signed(std::floor(a)); }>(v_cvt_flr_i32_f32),
    operation<[](i32 a) { return static_cast<double>(a); }>(v_cvt_f64_i32),
    operation<[](u32 a) { return static_cast<double>(a); }>(v_cvt_f64_u32),
    operation<[](double a) { return to_signed(a); }>(v_cvt_i32_f64),
    operation<[](double a) { return to_unsigned(a); }>(v_cvt_u32_f64),
    operation<[](double a) { return static_cast<float>(a); }>(v_cvt_f32_f64),
    operation<[](float a) { return static_cast<double>(a); }>(v_cvt_f64_f32),
    operation<[](float a) { return F16{a}; }>(v_cvt_f16_f32),
    operation<[](F16 a) { return quieted(a.value); }>(v_cvt_f32_f16),
    operation<[](U16 a) { return F16{float_of(a.value)}; }>(v_cvt_f16_u16),
    operation<[](I16 a) { return F16{static_cast<float>(a.value)}; }>(v_cvt_f16_i16),
    operation<[](F16 a) { return U16{clamped(to_unsigned(a.value), 0u, 65535u)}; }>(v_cvt_u16_f16),
    operation<[](F16 a) { return I16{clamped(to_signed(a.value), -32768, 32767)}; }>(v_cvt_i16_f16),
    operation<[](I16 a) { return a.value; }>(v_cvt_i32_i16),
    operation<[](U16 a) { return a.value; }>(v_cvt_u32_u16),
    operation<[](u32 a) { return float_of(byte_of(a, 0)); }>(v_cvt_f32_ubyte0),
    operation<[](u32 a) { return float_of(byte_of(a, 1)); }>(v_cvt_f32_ubyte1),
    operation<[](u32 a) { return float_of(byte_of(a, 2)); }>(v_cvt_f32_ubyte2),
    operation<[](u32 a) { return float_of(byte_of(a, 3)); }>(v_cvt_f32_ubyte3),
    operation<[](u32 a) { return nibble(a) * 0.0625f; }>(v_cvt_off_f32_i4),
    operation<[](float a, float b) { return pack(towards_zero_half(a), towards_zero_half(b)); }>(v_cvt_pkrtz_f16_f32),
    operation<[](float a, float b) { return pack(signed_norm(a), signed_norm(b)); }>(v_cvt_pknorm_i16_f32),
    operation<[](float a, float b) { return pack(unsigned_norm(a), unsigned_norm(b)); }>(v_cvt_pknorm_u16_f32),
    operation<[](F16 a, F16 b) { return pack(signed_norm(a.value), signed_norm(b.value)); }>(v_cvt_pknorm_i16_f16),
    operation<[](F16 a, F16 b) { return pack(unsigned_norm(a.value), unsigned_norm(b.value)); }>(v_cvt_pknorm_u16_f16),
    operation<[](F16 a) { return I16{signed_norm(a.value)}; }>(v_cvt_norm_i16_f16),
    operation<[](F16 a) { return U16{unsigned_norm(a.value)}; }>(v_cvt_norm_u16_f16),
    operation<[](i32 a, i32 b) { return pack(clamped(a, -32768, 32767), clamped(b, -32768, 32767)); }>(v_cvt_pk_i16_i32),
    operation<[](u32 a, u32 b) { return pack(clamped(a, 0u, 65535u), clamped(b, 0u, 65535u)); }>(v_cvt_pk_u16_u32),
    operation<[](float a, float b) { return pack(clamped(to_signed(a), -32768, 32767), clamped(to_signed(b), -32768, 32767)); }>(v_cvt_pk_i16_f32),
    operation<[](float a, float b) { return pack(clamped(to_unsigned(a), 0u, 65535u), clamped(to_unsigned(b), 0u, 65535u)); }>(v_cvt_pk_u16_f32),
    operation<[](float a, u32 b, u32 c) { const u32 shift = (b & 3) * 8; return (c & ~(0xffu << shift)) | clamped(to_unsigned(a), 0u, 255u) << shift; }>(v_cvt_pk_u8_f32),
};
// clang-format on

}  // namespace

std::span<const Operation> conversion_operations() {
  return kRows;
}

}  // namespace wavegate::amdgpu::wave
