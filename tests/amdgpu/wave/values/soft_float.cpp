#include "amdgpu/wave/values/soft_float.h"

#include <algorithm>
#include <bit>

namespace wavegate::amdgpu::wave::testing {

namespace {

int top_bit(u128 value) {
  const u64 high = static_cast<u64>(value >> 64), low = static_cast<u64>(value);
  return high != 0 ? 127 - std::countl_zero(high) : low != 0 ? 63 - std::countl_zero(low) : -1;
}

/// The same number with its last bit worth 2^exponent, what is lost in `sticky`. Precondition: it fits.
void align(Exact& number, int exponent) {
  const int right = exponent - number.exponent;
  number.exponent = exponent;
  if (right <= 0) {
    number.mantissa <<= -right;
  } else if (right > 127) {
    number.sticky |= number.mantissa != 0;
    number.mantissa = 0;
  } else {
    number.sticky |= (number.mantissa & ((u128{1} << right) - 1)) != 0;
    number.mantissa >>= right;
  }
}

/// With its first bit in bit 125, so that a sum still fits.
void normalise(Exact& number) {
  if (number.mantissa != 0) align(number, number.exponent + top_bit(number.mantissa) - 125);
}

/// The larger one has all its bits in 126, so that what the smaller one loses is below all that counts.
Exact sum(Exact a, Exact b) {
  normalise(a), normalise(b);
  if (a.mantissa == 0) return b;
  if (b.mantissa == 0) return a;
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.mantissa < b.mantissa)) std::swap(a, b);
  align(b, a.exponent);
  if (a.negative == b.negative) {
    a.mantissa += b.mantissa;
    a.sticky = b.sticky;
  } else {
    a.mantissa -= b.mantissa + (b.sticky ? 1 : 0);
    a.sticky = b.sticky;
  }
  return a;
}

bool goes_away(Round round, bool negative, bool odd, int rest) {  // rest: below, at or above the middle; 0 none
  switch (round) {
    case Round::nearest: return rest == 3 || (rest == 2 && odd);
    case Round::up: return rest != 0 && !negative;
    case Round::down: return rest != 0 && negative;
    case Round::zero: return false;
  }
  return false;
}

/// Digit by digit: the root of 126 bits has 63.
Exact root_of(Exact number) {
  normalise(number);
  if ((number.exponent & 1) != 0) align(number, number.exponent + 1);
  u128 root = 0, rest = number.mantissa;
  for (u128 bit = u128{1} << 124; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return {false, root, number.exponent / 2, rest != 0 || number.sticky};
}

u64 zero_of(const Float& to, bool negative) {
  return negative ? to.format.sign() : 0;
}

}  // namespace

Exact exact(const Format& format, u64 bits) {
  const int biased = static_cast<int>((bits & format.infinity()) >> format.fraction_bits);
  const u64 fraction = bits & ((u64{1} << format.fraction_bits) - 1);
  Exact number;
  number.negative = (bits & format.sign()) != 0;
  number.mantissa = biased == 0 ? fraction : fraction | u64{1} << format.fraction_bits;
  number.exponent = std::max(biased, 1) - format.bias() - format.fraction_bits;
  return number;
}

u64 rounded(const Float& to, Exact number) {
  const Format& format = to.format;
  const u64 sign = zero_of(to, number.negative);
  if (number.mantissa == 0 && !number.sticky) return sign;
  normalise(number);
  const int least = 1 - format.bias() - format.fraction_bits;
  const int last = std::max(number.exponent + 125 - format.fraction_bits, least);
  // Two bits below the last one, the lower of them sticky.
  align(number, last - 2);
  const unsigned below = static_cast<unsigned>(number.mantissa & 3);
  const bool more = number.sticky || (below & 1) != 0;
  const int rest = below >= 2 ? (more ? 3 : 2) : more ? 1 : 0;
  u64 kept = static_cast<u64>(number.mantissa >> 2);
  const bool away = goes_away(to.round, number.negative, (kept & 1) != 0, rest);
  kept += away ? 1 : 0;
  const bool is_denormal = kept >> format.fraction_bits == 0;
  // A carry out of the fraction goes on into the exponent.
  const u64 bits = is_denormal ? kept : kept + (static_cast<u64>(last - least) << format.fraction_bits);
  if (bits >= format.infinity() || last - least > (1 << format.exponent_bits)) {
    const bool to_infinity = to.round == Round::nearest || to.round == (number.negative ? Round::down : Round::up);
    return sign | (to_infinity ? format.infinity() : format.infinity() - 1);
  }
  return to.result(sign | bits);
}

u64 Float::multiply(u64 a, u64 b) const {
  a = source(a), b = source(b);
  if (is_nan(a) || is_nan(b)) return format.nan();
  const bool negative = is_negative(a) != is_negative(b);
  if (is_infinite(a) || is_infinite(b))
    return is_zero(a) || is_zero(b) ? format.nan() : zero_of(*this, negative) | format.infinity();
  Exact product = exact(format, a);
  const Exact other = exact(format, b);
  product.mantissa *= other.mantissa;
  product.exponent += other.exponent;
  product.negative = negative;
  return rounded(*this, product);
}

u64 Float::fused(u64 a, u64 b, u64 c, int scale) const {
  a = source(a), b = source(b), c = source(c);
  if (is_nan(a) || is_nan(b) || is_nan(c)) return format.nan();
  const bool negative = is_negative(a) != is_negative(b);
  if (is_infinite(a) || is_infinite(b)) {
    const bool invalid = is_zero(a) || is_zero(b) || (is_infinite(c) && is_negative(c) != negative);
    return invalid ? format.nan() : zero_of(*this, negative) | format.infinity();
  }
  if (is_infinite(c)) return c;
  Exact product = exact(format, a);
  const Exact other = exact(format, b), addend = exact(format, c);
  product.mantissa *= other.mantissa;
  product.exponent += other.exponent;
  product.negative = negative;
  Exact total = sum(product, addend);
  if (total.mantissa == 0) {
    const bool both = product.mantissa == 0 && addend.mantissa == 0 && negative == addend.negative;
    total.negative = both ? negative : round == Round::down;
  }
  total.exponent += scale;
  return rounded(*this, total);
}

u64 Float::divide(u64 a, u64 b) const {
  a = source(a), b = source(b);
  if (is_nan(a) || is_nan(b)) return format.nan();
  const u64 sign = zero_of(*this, is_negative(a) != is_negative(b));
  if (is_infinite(a)) return is_infinite(b) ? format.nan() : sign | format.infinity();
  if (is_infinite(b)) return sign;
  if (is_zero(b)) return is_zero(a) ? format.nan() : sign | format.infinity();
  if (is_zero(a)) return sign;
  Exact numerator = exact(format, a), denominator = exact(format, b);
  // 126 bits by at most 53: more than enough digits, and the rest is sticky.
  normalise(numerator);
  Exact quotient;
  quotient.negative = sign != 0;
  quotient.mantissa = numerator.mantissa / denominator.mantissa;
  quotient.sticky = numerator.mantissa % denominator.mantissa != 0;
  quotient.exponent = numerator.exponent - denominator.exponent;
  return rounded(*this, quotient);
}

u64 Float::square_root(u64 a) const {
  a = source(a);
  if (is_nan(a)) return format.nan();
  if (is_zero(a)) return a;
  if (is_negative(a)) return format.nan();
  if (is_infinite(a)) return a;
  return rounded(*this, root_of(exact(format, a)));
}

u64 reciprocal_square_root(const Float& to, u64 bits) {
  Exact one{false, 1, 0, false};
  normalise(one);
  const Exact number = exact(to.format, bits);
  return rounded(to, root_of({false, one.mantissa / number.mantissa, one.exponent - number.exponent,
                              one.mantissa % number.mantissa != 0}));
}

u64 Float::scaled(u64 a, int exponent) const {
  a = source(a);
  if (is_nan(a)) return format.nan();
  if (is_infinite(a) || is_zero(a)) return a;
  Exact number = exact(format, a);
  number.exponent += std::clamp(exponent, -5000, 5000);
  return rounded(*this, number);
}

int Float::compare(u64 a, u64 b) const {
  a = source(a), b = source(b);
  if (is_nan(a) || is_nan(b)) return 2;
  const auto order = [&](u64 bits) {
    const i64 magnitude = static_cast<i64>(format.magnitude(bits));
    return is_negative(bits) ? -magnitude : magnitude;
  };
  return order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0;
}

u64 Float::integral(u64 a, Round to) const {
  a = source(a);
  if (is_nan(a)) return format.nan();
  if (is_infinite(a) || is_zero(a)) return a;
  Exact number = exact(format, a);
  if (number.exponent >= 0) return a;
  align(number, -2);
  const unsigned below = static_cast<unsigned>(number.mantissa & 3);
  const bool more = number.sticky || (below & 1) != 0;
  u128 kept = number.mantissa >> 2;
  kept += goes_away(to, number.negative, (kept & 1) != 0, below >= 2 ? (more ? 3 : 2) : more ? 1 : 0) ? 1 : 0;
  return rounded(*this, {number.negative, kept, 0, false});
}

u64 converted(const Float& from, const Float& to, u64 bits) {
  bits = from.source(bits);
  if (from.is_nan(bits)) return to.format.nan();
  if (from.is_infinite(bits)) return zero_of(to, from.is_negative(bits)) | to.format.infinity();
  return rounded(to, exact(from.format, bits));
}

u64 from_integer(const Float& to, i128 value) {
  if (value == 0) return 0;
  return rounded(to, {value < 0, value < 0 ? -static_cast<u128>(value) : static_cast<u128>(value), 0, false});
}

i64 to_integer(const Float& from, u64 bits, i64 low, i64 high) {
  bits = from.source(bits);
  if (from.is_nan(bits)) return 0;
  const bool negative = from.is_negative(bits);
  if (from.is_infinite(bits)) return negative ? low : high;
  Exact number = exact(from.format, bits);
  if (number.mantissa == 0) return 0;
  if (number.exponent + top_bit(number.mantissa) > 62) return negative ? low : high;
  align(number, 0);
  const i64 value = static_cast<i64>(number.mantissa);
  return std::clamp(negative ? -value : value, low, high);
}

double to_double(const Format& format, u64 bits) {
  return std::bit_cast<double>(converted({format}, {kF64}, bits));
}

}  // namespace wavegate::amdgpu::wave::testing
