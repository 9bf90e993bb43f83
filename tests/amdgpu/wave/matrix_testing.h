#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

/// Matrices as plain numbers, and as lanes of a wave hold them. Formats of floats are written from what they are:
/// a sign, so many bits of exponent with a bias, the rest digits.
namespace wavegate::amdgpu::wave::testing {

enum class Format : std::uint8_t { f64, f32, f16, bf16, fp8, bf8, fp8_fnuz, bf8_fnuz, i32, i8, u8, i4, u4 };

struct FloatFormat {
  int bits, exponent_bits, bias;
};
inline FloatFormat float_format(Format format) {
  switch (format) {
    case Format::f64: return {64, 11, 1023};
    case Format::f32: return {32, 8, 127};
    case Format::f16: return {16, 5, 15};
    case Format::bf16: return {16, 8, 127};
    case Format::fp8: return {8, 4, 7};
    case Format::bf8: return {8, 5, 15};
    case Format::fp8_fnuz: return {8, 4, 8};
    case Format::bf8_fnuz: return {8, 5, 16};
    case Format::i32: return {32, 0, 0};
    case Format::i4:
    case Format::u4: return {4, 0, 0};
    default: return {8, 0, 0};
  }
}
inline bool is_integer(Format format) {
  return format >= Format::i32;
}

/// Bits of a value that the format has exactly.
inline std::uint64_t encode(Format format, double value) {
  const FloatFormat f = float_format(format);
  const std::uint64_t all = f.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << f.bits) - 1;
  if (is_integer(format)) return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & all;
  if (value == 0) return 0;
  const int digits = f.bits - 1 - f.exponent_bits;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent) * 2 - 1;
  const std::uint64_t biased = static_cast<std::uint64_t>(exponent - 1 + f.bias);
  return std::uint64_t{value < 0} << (f.bits - 1) | biased << digits |
         static_cast<std::uint64_t>(std::ldexp(fraction, digits));
}
inline double decode(Format format, std::uint64_t bits) {
  const FloatFormat f = float_format(format);
  if (format == Format::i32 || format == Format::i8 || format == Format::i4)
    return static_cast<double>(static_cast<std::int64_t>(bits << (64 - f.bits)) >> (64 - f.bits));
  if (is_integer(format)) return static_cast<double>(bits);
  const int digits = f.bits - 1 - f.exponent_bits;
  const int biased = static_cast<int>(bits >> digits & ((1u << f.exponent_bits) - 1));
  const double fraction = std::ldexp(static_cast<double>(bits & ((std::uint64_t{1} << digits) - 1)), -digits);
  const double magnitude = std::ldexp(biased == 0 ? fraction : 1 + fraction, (biased == 0 ? 1 : biased) - f.bias);
  return (bits >> (f.bits - 1)) != 0 ? -magnitude : magnitude;
}

/// Where an element lies: so many bits from the first bit of the first register of a lane.
struct Spot {
  unsigned lane, bit;
};

/// What the lanes of a wave hold of a matrix, one lane's registers after the other's.
class Registers {
 public:
  Registers(unsigned lanes, unsigned words) : words_(words), memory_(std::size_t{lanes} * words) {}
  void put(Spot spot, Format format, double value) {
    const std::uint64_t bits = encode(format, value);
    const unsigned width = static_cast<unsigned>(float_format(format).bits);
    std::uint32_t* const to = &memory_[std::size_t{spot.lane} * words_ + spot.bit / 32];
    if (width == 64) to[1] = static_cast<std::uint32_t>(bits >> 32);
    if (width >= 32)
      to[0] = static_cast<std::uint32_t>(bits);
    else
      to[0] = (to[0] & ~(((1u << width) - 1) << spot.bit % 32)) | static_cast<std::uint32_t>(bits) << spot.bit % 32;
  }
  double get(Spot spot, Format format) const {
    const unsigned width = static_cast<unsigned>(float_format(format).bits);
    const std::uint32_t* const from = &memory_[std::size_t{spot.lane} * words_ + spot.bit / 32];
    if (width == 64) return decode(format, std::uint64_t{from[1]} << 32 | from[0]);
    return decode(format, width == 32 ? from[0] : from[0] >> spot.bit % 32 & ((1u << width) - 1));
  }
  std::vector<std::uint32_t>& words() { return memory_; }

 private:
  unsigned words_;
  std::vector<std::uint32_t> memory_;
};

inline Format parse_format(std::string_view name) {
  constexpr std::string_view kNames[] = {"f64",      "f32", "f16", "bf16", "fp8", "bf8", "fp8_fnuz",
                                         "bf8_fnuz", "i32", "i8",  "u8",   "i4",  "u4"};
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<Format>(i);
  return Format::f64;
}

/// Where a result of 16 by 16 lies on gfx12.
inline Spot output_spot_of_gfx12(unsigned lanes, unsigned width, unsigned i, unsigned j) {
  if (lanes == 32) return {j + 16 * (i / 8), width * (i % 8)};
  return {j + 32 * (i / 4 % 2) + 16 * (i / 8), width * (i % 4)};
}

/// Of factors whose sums a result of the format holds exactly: f16 has whole numbers to 2048, bf16 to 256.
inline int bits_of_factors(Format result) {
  return result == Format::bf16 ? 2 : result == Format::f16 ? 3 : 8;
}

/// Numbers in a random order that a format has exactly and whose products and sums need few bits, whole ones of `bits`
/// at most: all different as far as there are so many.
inline std::vector<double> distinct_numbers(Format format, std::size_t count, std::mt19937& random, int bits = 8) {
  std::vector<double> numbers;
  const FloatFormat f = float_format(format);
  if (is_integer(format) || f.bits > 8) {
    const int width = std::min(f.bits, bits);
    const int lowest = format == Format::u8 || format == Format::u4 ? 0 : -(1 << (width - 1));
    for (int i = 0; i < 1 << width; ++i) numbers.push_back(lowest + i);
  } else {
    // Of 8-bit floats, six exponents around 1.
    const int digits = 7 - f.exponent_bits;
    for (std::uint64_t sign = 0; sign < 2; ++sign)
      for (int exponent = f.bias - 2; exponent < f.bias + 4; ++exponent)
        for (std::uint64_t digit = 0; digit < 1u << digits; ++digit)
          numbers.push_back(decode(format, sign << 7 | static_cast<std::uint64_t>(exponent) << digits | digit));
  }
  std::vector<double> all;
  while (all.size() < count) {
    std::shuffle(numbers.begin(), numbers.end(), random);
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  all.resize(count);
  return all;
}

}  // namespace wavegate::amdgpu::wave::testing
