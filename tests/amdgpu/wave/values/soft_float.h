#pragma once

#include <cstdint>

/// Arithmetic of IEEE 754 on integers alone, rounded once from the exact value: what the interpreter's floats, which
/// are the host's, are held against. A NaN that comes out is kNan of its format; which one hardware gives is not
/// specified.
namespace wavegate::amdgpu::wave::testing {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

struct Format {
  int exponent_bits, fraction_bits;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr u64 sign() const { return u64{1} << (exponent_bits + fraction_bits); }
  constexpr u64 infinity() const { return ((u64{1} << exponent_bits) - 1) << fraction_bits; }
  constexpr u64 quiet() const { return u64{1} << (fraction_bits - 1); }
  constexpr u64 nan() const { return infinity() | quiet(); }
  constexpr u64 one() const { return static_cast<u64>(bias()) << fraction_bits; }
  constexpr u64 magnitude(u64 bits) const { return bits & (sign() - 1); }
};
inline constexpr Format kF16{5, 10}, kF32{8, 23}, kF64{11, 52}, kBf16{8, 7};

/// By the numbers of the MODE register.
enum class Round : std::uint8_t { nearest, up, down, zero };

/// A format under a MODE.
struct Float {
  Format format;
  Round round = Round::nearest;
  bool flush_sources = false;
  bool flush_results = false;

  bool is_nan(u64 a) const { return format.magnitude(a) > format.infinity(); }
  bool is_signalling(u64 a) const { return is_nan(a) && (a & format.quiet()) == 0; }
  bool is_infinite(u64 a) const { return format.magnitude(a) == format.infinity(); }
  bool is_zero(u64 a) const { return format.magnitude(a) == 0; }
  bool is_negative(u64 a) const { return (a & format.sign()) != 0; }
  bool is_denormal(u64 a) const { return !is_zero(a) && (a & format.infinity()) == 0; }
  int biased_exponent(u64 a) const { return static_cast<int>((a & format.infinity()) >> format.fraction_bits); }

  u64 add(u64 a, u64 b) const { return fused(a, format.one(), b); }
  u64 subtract(u64 a, u64 b) const { return add(a, is_nan(b) ? b : b ^ format.sign()); }
  u64 multiply(u64 a, u64 b) const;
  /// a * b + c, then times 2^scale, rounded once.
  u64 fused(u64 a, u64 b, u64 c, int scale = 0) const;
  u64 divide(u64 a, u64 b) const;
  u64 square_root(u64 a) const;
  u64 scaled(u64 a, int exponent) const;
  /// -1, 0, 1; 2 if one is a NaN.
  int compare(u64 a, u64 b) const;
  /// To an integral value of the same format. `to` need not be the MODE's.
  u64 integral(u64 a, Round to) const;
  /// A denormal as the zero that it is read as, if they are flushed.
  u64 source(u64 a) const { return flush_sources && is_denormal(a) ? a & format.sign() : a; }
  u64 result(u64 a) const { return flush_results && is_denormal(a) ? a & format.sign() : a; }
};

/// An exact number: mantissa * 2^exponent, and a little more than that in magnitude if `sticky`.
struct Exact {
  bool negative = false;
  u128 mantissa = 0;
  int exponent = 0;
  bool sticky = false;
};
/// Of a number that is finite.
Exact exact(const Format& format, u64 bits);
u64 rounded(const Float& to, Exact number);
/// Of a positive number.
u64 reciprocal_square_root(const Float& to, u64 bits);
/// From one format to another.
u64 converted(const Float& from, const Float& to, u64 bits);
u64 from_integer(const Float& to, i128 value);
/// Towards zero, at the bounds where it exceeds them; 0 of a NaN.
i64 to_integer(const Float& from, u64 bits, i64 low, i64 high);
double to_double(const Format& format, u64 bits);

}  // namespace wavegate::amdgpu::wave::testing
