#include "wavegate/program/expression.h"

#include <algorithm>

namespace wavegate::program {
namespace {

constexpr ScalarOpInfo kTable[] = {
    {ScalarOp::literal, "literal", 0},  {ScalarOp::scalar, "scalar", 0},    {ScalarOp::add, "+", 2},
    {ScalarOp::subtract, "-", 2},       {ScalarOp::multiply, "*", 2},       {ScalarOp::divide, "/", 2},
    {ScalarOp::minimum, "min", 2},      {ScalarOp::maximum, "max", 2},      {ScalarOp::equal, "==", 2},
    {ScalarOp::not_equal, "!=", 2},     {ScalarOp::less, "<", 2},           {ScalarOp::less_equal, "<=", 2},
    {ScalarOp::logical_and, "and", 2},  {ScalarOp::logical_or, "or", 2},    {ScalarOp::logical_not, "not", 1},
    {ScalarOp::negate, "negate", 1},    {ScalarOp::square_root, "sqrt", 1}, {ScalarOp::select, "select", 3},
    {ScalarOp::to_uint32, "uint32", 1}, {ScalarOp::to_sint32, "sint32", 1}, {ScalarOp::to_float32, "float32", 1}};

}  // namespace

const ScalarOpInfo& info(ScalarOp op) {
  return kTable[static_cast<uint8_t>(op)];
}

std::optional<ScalarOp> parse_scalar_op(std::string_view name) {
  for (const ScalarOpInfo& row : kTable)
    if (row.operand_count > 0 && row.name == name) return row.op;
  return std::nullopt;
}

ScalarExpr::ScalarExpr(Scalar scalar) {
  Node node;
  node.op = ScalarOp::scalar;
  node.scalar = scalar;
  root_ = std::make_shared<const Node>(std::move(node));
}

ScalarExpr::ScalarExpr(Literal value) {
  Node node;
  node.literal = value;
  root_ = std::make_shared<const Node>(std::move(node));
}

ScalarExpr::ScalarExpr(ScalarOp op, std::span<const ScalarExpr> operands) {
  Node node;
  node.op = op;
  size_t count = 0;
  for (const ScalarExpr& operand : operands) {
    if (count == node.operands.size()) break;
    node.size = std::min(node.size + operand.root_->size, kMaximumLoweredSize + 1);
    node.operands[count++] = operand.root_;
  }
  // Neither walked nor destroyed to a depth that the stack does not hold.
  if (node.size > kMaximumLoweredSize) node.operands = {};
  root_ = std::make_shared<const Node>(std::move(node));
}

}  // namespace wavegate::program
