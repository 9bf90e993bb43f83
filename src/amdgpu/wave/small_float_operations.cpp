#include <array>

#include "wavegate/amdgpu/wave/kernel.h"
#include "wavegate/amdgpu/wave/small_float.h"

/// Conversions between f32 and floats of 8 bits. Sources of 8 or 16 bits and the part of the result are picked as the
/// instruction says before and after. What is too large becomes NaN or an infinity: MODE's FP16_OVFL is taken to be
/// off.
namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <const SmallFormat& format>
WAVEGATE_LANE u32 nearest(float value) {
  return small_bits(value, format, {false, 0}, false);
}
template <const SmallFormat& format>
WAVEGATE_LANE u32 stochastic(float value, u32 noise) {
  return small_bits(value, format, {true, noise}, false);
}
template <const SmallFormat& format>
WAVEGATE_LANE u64 both(u32 half) {
  return bits(of_small(half & 0xffu, format)) | static_cast<u64>(bits(of_small(half >> 8 & 0xffu, format))) << 32;
}

// clang-format off
#define WAVEGATE_SMALL(name, format)                                                                                                  \
  operation<[](u32 a) { return of_small(a & 0xffu, format); }>(v_cvt_f32_##name),                                                     \
  operation<[](U16 a) { return both<format>(a.value); }>(v_cvt_pk_f32_##name),                                                        \
  operation<[](float a, float b) { return U16{nearest<format>(a) | nearest<format>(b) << 8}; }>(v_cvt_pk_##name##_f32),               \
  operation<[](float a, u32 b) { return stochastic<format>(a, b); }>(v_cvt_sr_##name##_f32)
// clang-format on
constexpr std::array kRows{WAVEGATE_SMALL(fp8, kFp8), WAVEGATE_SMALL(bf8, kBf8)};
constexpr std::array kFnuzRows{WAVEGATE_SMALL(fp8, kFp8Fnuz), WAVEGATE_SMALL(bf8, kBf8Fnuz)};

}  // namespace

std::span<const Operation> small_float_operations() {
  return kRows;
}
std::span<const Operation> fnuz_operations() {
  return kFnuzRows;
}

}  // namespace wavegate::amdgpu::wave
