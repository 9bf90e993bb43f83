#pragma once

#include "wavegate/base/result.h"
#include "wavegate/program/program.h"

namespace wavegate::program {

/// The type of a scalar expression. A bare number is weak: an integer adapts to a uint32 (if not negative),
/// sint32 (if below 2^31) or float32 beside it, as `x > 0` should; nothing else converts by itself.
struct ExpressionType {
  ScalarType type = ScalarType::uint32;
  bool weak = false;
  bool fits_sint32 = true;  ///< false: a weak uint32 of 2^31 or more, which would turn negative as a sint32
};

/// Checks an expression against the program's scalars and gives its type. `invalid-input`: the first mismatch by name,
/// or more operations and operands than `maximum_size`, which is at most kMaximumLoweredSize.
Result<ExpressionType> type_of(const Program& program, const ScalarExpr::Node& expression,
                               uint32_t maximum_size = kMaximumExpressionSize);

/// The common type of two operands, or nothing if they do not fit.
std::optional<ExpressionType> unify(ExpressionType a, ExpressionType b);

/// The type that the operands of an operation share. `invalid-input` where type_of fails with kMaximumLoweredSize.
Result<ScalarType> operand_type(const Program& program, const ScalarExpr::Node& operation);

/// A literal's bits as another type. Precondition: a weak literal that unify() accepted for it.
uint32_t literal_bits(Literal literal, ScalarType type);

}  // namespace wavegate::program
