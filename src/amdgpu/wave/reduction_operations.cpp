#include <array>
#include <cmath>

#include "wavegate/amdgpu/wave/kernel.h"
#include "wavegate/amdgpu/wave/numeric.h"

/// v_trig_preop_f64: the digits of 2 / pi that count for an argument, for the reduction of large ones.
namespace wavegate::amdgpu::wave {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// 2 / pi behind the point. The instruction knows 1201 bits of it, and zeros behind them.
constexpr u32 kTwoOverPi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
                              0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
                              0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
                              0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
                              0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
                              0x1f8d5d08, 0x56033046, 0xfc7b6bab};
constexpr u32 kKnownBits = 1201;

u32 word_of_constant(u32 index) {
  if (index >= std::size(kTwoOverPi)) return 0;
  const u32 first = index * 32;
  if (first + 32 <= kKnownBits) return kTwoOverPi[index];
  return first >= kKnownBits ? 0 : kTwoOverPi[index] & ~(~0u >> (kKnownBits - first));
}
/// So many bits behind the point are skipped; the next 53.
u64 digits_from(u32 skipped) {
  const u32 index = skipped / 32, shift = skipped % 32;
  const u64 high = static_cast<u64>(word_of_constant(index)) << 32 | word_of_constant(index + 1);
  const u64 rest = word_of_constant(index + 2);
  const u64 aligned = shift == 0 ? high : high << shift | rest >> (32 - shift);
  return aligned >> 11;
}

double digits_of_two_over_pi(double argument, u32 segment) {
  const int exponent = biased_exponent(argument);
  const u32 skipped = (segment & 31) * 53 + (exponent > 1077 ? static_cast<u32>(exponent - 1077) : 0u);
  const int scale = -53 - static_cast<int>(skipped) + (exponent >= 1968 ? 128 : 0);
  return std::ldexp(static_cast<double>(digits_from(skipped)), scale);
}

constexpr std::array kRows{
    operation<[](double a, u32 b) { return digits_of_two_over_pi(a, b); }>(isa::Opcode::v_trig_preop_f64)};

}  // namespace

std::span<const Operation> reduction_operations() {
  return kRows;
}

}  // namespace wavegate::amdgpu::wave
