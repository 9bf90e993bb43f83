#pragma once

#include "wavegate/amdgpu/wave/numeric.h"

/// The formats that matrices are made of besides f16: bf16, xf32 and two of 8 bits. As in numeric.h, free of branches
/// where a loop over lanes uses them.
namespace wavegate::amdgpu::wave {

WAVEGATE_LANE float of_bfloat(std::uint32_t value) {
  return real(value << 16);
}
/// To the nearest, of two the even one. NaNs stay what they are, as far as there is room.
WAVEGATE_LANE std::uint32_t bfloat_bits(float value) {
  const std::uint32_t word = bits(value);
  const std::uint32_t rounded = (word + 0x7fffu + (word >> 16 & 1)) >> 16;
  return is_nan(value) ? (word >> 16 | 0x40u) : rounded;
}

/// An f32 of 10 digits behind the point, to the nearest: what MFMA makes of its sources' f32.
WAVEGATE_LANE float xf32(float value) {
  const std::uint32_t word = bits(value);
  const std::uint32_t rounded = (word + 0xfffu + (word >> 13 & 1)) & ~0x1fffu;
  return is_nan(value) ? value : real(rounded);
}

/// A float of 8 bits.
struct SmallFormat {
  int mantissa;  ///< bits; the exponent has the other 7
  int bias;
  bool fnuz;        ///< gfx942's: no infinities, one NaN in place of -0
  bool infinities;  ///< else all ones is the only NaN, and what is as large is a number
};
/// E4M3 ("fp8") and E5M2 ("bf8"), as gfx942 has them and as later targets do.
inline constexpr SmallFormat kFp8Fnuz{3, 8, true, false}, kBf8Fnuz{2, 16, true, false};
inline constexpr SmallFormat kFp8{3, 7, false, false}, kBf8{2, 15, false, true};

WAVEGATE_LANE float of_small(std::uint32_t byte, const SmallFormat& format) {
  const std::uint32_t sign = (byte & 0x80u) << 24, magnitude = byte & 0x7fu;
  const std::uint32_t top = 0x7fu >> format.mantissa << format.mantissa;  // the exponent's bits
  const std::uint32_t exponent = magnitude >> format.mantissa;
  const std::uint32_t digits = magnitude & ((1u << format.mantissa) - 1);
  const float unit = real(static_cast<std::uint32_t>(127 + 1 - format.bias - format.mantissa) << 23);
  const float denormal = static_cast<float>(static_cast<std::int32_t>(digits)) * unit;
  const float normal =
      real((exponent + static_cast<std::uint32_t>(127 - format.bias)) << 23 | digits << (23 - format.mantissa));
  const float number = real(sign | bits(exponent == 0 ? denormal : normal));
  const float nan = real(0x7fc00000u | sign);
  if (format.fnuz) return byte == 0x80u ? real(0x7fc00000u) : number;
  if (format.infinities) return magnitude < top ? number : magnitude == top ? real(sign | 0x7f800000u) : nan;
  return magnitude == 0x7fu ? nan : number;
}

/// How what is rounded away counts: to the nearest, or by adding `noise`, of which the upper bits count.
struct SmallRounding {
  bool stochastic;
  std::uint32_t noise;
};

/// The byte of a float. What is too large becomes an infinity or NaN, or the largest number if `saturates`.
WAVEGATE_LANE std::uint32_t small_bits(float value, const SmallFormat& format, SmallRounding rounding, bool saturates) {
  const std::uint32_t word = bits(value), sign = word >> 24 & 0x80u, magnitude = word & 0x7fffffffu;
  const std::uint32_t largest = format.infinities ? (0x7fu >> format.mantissa << format.mantissa) - 1
                                : format.fnuz     ? 0x7fu
                                                  : 0x7eu;
  const std::uint32_t beyond = format.fnuz ? 0x80u : sign | (format.infinities ? largest + 1 : 0x7fu);
  const std::uint32_t nan = format.fnuz ? 0x80u : sign | 0x7fu;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const int lowest = 1 - format.bias;  // of normal numbers
  const int lost = 23 - format.mantissa + (exponent < lowest ? lowest - exponent : 0);
  const std::uint32_t shift = static_cast<std::uint32_t>(lost > 31 ? 31 : lost);
  const std::uint32_t digits = (magnitude & 0x7fffffu) | (magnitude < 0x800000u ? 0u : 0x800000u);
  const std::uint32_t kept = digits >> shift, rest = digits & ((1u << shift) - 1), middle = 1u << (shift - 1);
  const std::uint64_t noisy = std::uint64_t{rest} + (rounding.noise >> (32 - shift));
  const bool nearest = (rest > middle) || ((rest == middle) && ((kept & 1) != 0));
  const std::uint32_t increment = (rounding.stochastic ? (noisy >> shift) != 0 : nearest) ? 1u : 0u;
  const int base = exponent < lowest ? 0 : (exponent - lowest) << format.mantissa;
  const std::uint32_t rounded = kept + increment + static_cast<std::uint32_t>(base);
  const std::uint32_t number = rounded > largest               ? (saturates ? sign | largest : beyond)
                               : (format.fnuz && rounded == 0) ? 0u
                                                               : sign | rounded;
  if (is_nan(value)) return nan;
  if (is_infinite(value)) return saturates ? sign | largest : beyond;
  return number;
}

}  // namespace wavegate::amdgpu::wave
