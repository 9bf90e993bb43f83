#pragma once

#include "wavegate/kir/builder.h"

namespace wavegate::ops {

/// An unevaluated sum of two f32, about 48 bits, for devices with or without f64. The error-free transformations
/// are Knuth's sum and Dekker's product, which are exact because kir never contracts; values whose product
/// overflows, or magnitudes above 2^103, give NaN.
struct FloatPair {
  kir::Expr high, low;
};

/// a * b exactly, barring underflow.
FloatPair multiply(kir::Expr x, kir::Expr y);

/// The sum rounded to a pair.
FloatPair add(const FloatPair& x, kir::Expr y);
FloatPair add(const FloatPair& x, const FloatPair& y);

}  // namespace wavegate::ops
