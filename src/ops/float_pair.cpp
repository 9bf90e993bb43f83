#include "wavegate/ops/float_pair.h"

namespace wavegate::ops {

using kir::Expr;

namespace {

/// Knuth's sum: high + low == x + y exactly.
FloatPair exact_sum(Expr x, Expr y) {
  const Expr high = x + y;
  const Expr y_part = high - x;
  const Expr x_part = high - y_part;
  return {high, (x - x_part) + (y - y_part)};
}

/// The same where |x| >= |y|.
FloatPair exact_sum_ordered(Expr x, Expr y) {
  const Expr high = x + y;
  return {high, y - (high - x)};
}

/// Dekker's split into two halves of 12 bits.
FloatPair split(Expr x) {
  const Expr scaled = x * 4097.0f;  // 2^12 + 1
  const Expr high = scaled - (scaled - x);
  return {high, x - high};
}

}  // namespace

FloatPair multiply(Expr x, Expr y) {
  const Expr high = x * y;
  const FloatPair a = split(x);
  const FloatPair b = split(y);
  const Expr low = ((a.high * b.high - high) + a.high * b.low + a.low * b.high) + a.low * b.low;
  return {high, low};
}

FloatPair add(const FloatPair& x, Expr y) {
  const FloatPair sum = exact_sum(x.high, y);
  return exact_sum_ordered(sum.high, sum.low + x.low);
}

FloatPair add(const FloatPair& x, const FloatPair& y) {
  const FloatPair sum = exact_sum(x.high, y.high);
  return exact_sum_ordered(sum.high, sum.low + (x.low + y.low));
}

}  // namespace wavegate::ops
