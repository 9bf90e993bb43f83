#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "wavegate/program/value.h"

namespace wavegate::program {

// clang-format off
enum class ScalarOp : uint8_t {
  literal, scalar,                                   // leaves
  add, subtract, multiply, divide, minimum, maximum,  // T, T -> T
  equal, not_equal, less, less_equal,                // T, T -> uint32 (0 or 1)
  logical_and, logical_or,                           // uint32, uint32 -> uint32 (0 or 1)
  logical_not,                                       // uint32 -> uint32 (0 or 1)
  negate, square_root,                               // signed or float32 -> same; float32 -> float32
  select,                                            // uint32, T, T -> T
  to_uint32, to_sint32, to_float32,                  // conversion by value; saturates, NaN is 0
};
// clang-format on

/// One row of the table of scalar operations.
struct ScalarOpInfo {
  ScalarOp op;
  std::string_view name;  ///< as in the program file: "+", "min", "<", ...
  uint8_t operand_count;
};
const ScalarOpInfo& info(ScalarOp op);
std::optional<ScalarOp> parse_scalar_op(std::string_view name);

/// The most operations and leaves of an expression of a program. A part that is used twice counts twice, since it is
/// computed twice.
inline constexpr uint32_t kMaximumExpressionSize = 4096;

/// The same of an expression that a lowering makes: one of the program, and the conditions around it. It is also how
/// deep a walk over an expression goes at most.
inline constexpr uint32_t kMaximumLoweredSize = kMaximumExpressionSize + 64;

/// Scalar arithmetic as a small immutable tree; shared, cheap to copy. One that exceeds kMaximumLoweredSize keeps only
/// its size: its root has no operands, and type_of() refuses it.
///
///     program.assign(alpha, rz / pq);
///     program.assign(active, (residual > tolerance) && !failed);
class ScalarExpr {
 public:
  struct Node {
    ScalarOp op = ScalarOp::literal;
    Literal literal;
    Scalar scalar;
    std::array<std::shared_ptr<const Node>, 3> operands;
    uint32_t size = 1;  ///< nodes of the tree; beyond kMaximumLoweredSize it no longer grows
  };

  ScalarExpr(Scalar scalar);
  ScalarExpr(Literal value);
  ScalarExpr(uint32_t value) : ScalarExpr(program::literal(value)) {}
  ScalarExpr(int32_t value) : ScalarExpr(program::literal(value)) {}
  ScalarExpr(float value) : ScalarExpr(program::literal(value)) {}
  ScalarExpr(ScalarOp op, std::span<const ScalarExpr> operands);
  ScalarExpr(ScalarOp op, std::initializer_list<ScalarExpr> operands)
      : ScalarExpr(op, std::span<const ScalarExpr>(operands.begin(), operands.size())) {}
  /// A part of another expression.
  explicit ScalarExpr(std::shared_ptr<const Node> root) : root_(std::move(root)) {}

  const Node& root() const { return *root_; }

 private:
  std::shared_ptr<const Node> root_;
};

// clang-format off
inline ScalarExpr operator+(ScalarExpr a, ScalarExpr b) { return {ScalarOp::add, {a, b}}; }
inline ScalarExpr operator-(ScalarExpr a, ScalarExpr b) { return {ScalarOp::subtract, {a, b}}; }
inline ScalarExpr operator*(ScalarExpr a, ScalarExpr b) { return {ScalarOp::multiply, {a, b}}; }
inline ScalarExpr operator/(ScalarExpr a, ScalarExpr b) { return {ScalarOp::divide, {a, b}}; }
inline ScalarExpr operator<(ScalarExpr a, ScalarExpr b) { return {ScalarOp::less, {a, b}}; }
inline ScalarExpr operator<=(ScalarExpr a, ScalarExpr b) { return {ScalarOp::less_equal, {a, b}}; }
inline ScalarExpr operator>(ScalarExpr a, ScalarExpr b) { return {ScalarOp::less, {b, a}}; }
inline ScalarExpr operator>=(ScalarExpr a, ScalarExpr b) { return {ScalarOp::less_equal, {b, a}}; }
inline ScalarExpr equal(ScalarExpr a, ScalarExpr b) { return {ScalarOp::equal, {a, b}}; }
inline ScalarExpr not_equal(ScalarExpr a, ScalarExpr b) { return {ScalarOp::not_equal, {a, b}}; }
inline ScalarExpr operator&&(ScalarExpr a, ScalarExpr b) { return {ScalarOp::logical_and, {a, b}}; }
inline ScalarExpr operator||(ScalarExpr a, ScalarExpr b) { return {ScalarOp::logical_or, {a, b}}; }
inline ScalarExpr operator!(ScalarExpr a) { return {ScalarOp::logical_not, {a}}; }
inline ScalarExpr operator-(ScalarExpr a) { return {ScalarOp::negate, {a}}; }
inline ScalarExpr minimum(ScalarExpr a, ScalarExpr b) { return {ScalarOp::minimum, {a, b}}; }
inline ScalarExpr maximum(ScalarExpr a, ScalarExpr b) { return {ScalarOp::maximum, {a, b}}; }
inline ScalarExpr square_root(ScalarExpr a) { return {ScalarOp::square_root, {a}}; }
inline ScalarExpr select(ScalarExpr c, ScalarExpr a, ScalarExpr b) { return {ScalarOp::select, {c, a, b}}; }
// clang-format on

}  // namespace wavegate::program
