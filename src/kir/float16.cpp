#include "wavegate/kir/float16.h"

#include <bit>

namespace wavegate::kir {
namespace {
constexpr int kDoubleMantissa = 52;
constexpr int kHalfMantissa = 10;
constexpr int kDroppedBits = kDoubleMantissa - kHalfMantissa;
constexpr uint64_t kDoubleMantissaMask = (uint64_t{1} << kDoubleMantissa) - 1;
constexpr int kBiasDifference = 1023 - 15;

/// value >> shift, rounded to nearest even. 0 < shift < 64.
uint64_t shift_right_rounded(uint64_t value, int shift) {
  const uint64_t half = uint64_t{1} << (shift - 1);
  const uint64_t rest = value & ((half << 1) - 1);
  const uint64_t quotient = value >> shift;
  return quotient + (rest > half || (rest == half && (quotient & 1) != 0) ? 1 : 0);
}
}  // namespace

double float16_to_double(uint16_t bits) {
  const uint64_t sign = static_cast<uint64_t>(bits >> 15) << 63;
  const uint64_t exponent = (bits >> kHalfMantissa) & 0x1f;
  const uint64_t mantissa = bits & 0x3ff;
  if (exponent == 0) {  // zero and denormals: mantissa * 2^-24
    const double magnitude = static_cast<double>(mantissa) * 0x1p-24;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint64_t wide = exponent == 0x1f ? 0x7ff : exponent + kBiasDifference;
  return std::bit_cast<double>(sign | wide << kDoubleMantissa | mantissa << kDroppedBits);
}

uint16_t double_to_float16(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 63 << 15);
  const int exponent = static_cast<int>(bits >> kDoubleMantissa & 0x7ff);
  const uint64_t mantissa = bits & kDoubleMantissaMask;
  if (exponent == 0x7ff) {
    const uint64_t quiet_nan = mantissa == 0 ? 0 : 0x200 | mantissa >> kDroppedBits;
    return static_cast<uint16_t>(sign | 0x7c00 | quiet_nan);
  }
  const int half_exponent = exponent - kBiasDifference;
  if (half_exponent >= 0x1f) return static_cast<uint16_t>(sign | 0x7c00);
  if (half_exponent >= 1) {  // a carry out of the mantissa lands in the exponent, as it should, up to infinity
    const uint64_t magnitude = static_cast<uint64_t>(half_exponent) << kDoubleMantissa | mantissa;
    return static_cast<uint16_t>(sign | shift_right_rounded(magnitude, kDroppedBits));
  }
  if (half_exponent < -10) return sign;  // below half of the smallest denormal
  const uint64_t magnitude = uint64_t{1} << kDoubleMantissa | mantissa;
  return static_cast<uint16_t>(sign | shift_right_rounded(magnitude, kDroppedBits + 1 - half_exponent));
}

}  // namespace wavegate::kir
