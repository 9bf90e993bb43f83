#include "wavegate/program/expression_type.h"

#include "wavegate/base/format.h"

namespace wavegate::program {
namespace {

bool is_weak_for(const ExpressionType& a, ScalarType type) {
  if (!a.weak) return false;
  switch (type) {
    case ScalarType::uint32: return a.type == ScalarType::uint32;
    case ScalarType::sint32: return a.type != ScalarType::float32 && a.fits_sint32;
    case ScalarType::float32: return a.type != ScalarType::float32;
  }
  return false;
}

Error too_large(uint32_t maximum_size) {
  return invalid_input(
      format("an expression has more than {} operations and operands, a shared part counted at each use; split it into "
             "several assigns",
             maximum_size));
}

Error wrong_count(const ScalarOpInfo& row) {
  return invalid_input(format("\"{}\" takes {} operands", row.name, row.operand_count));
}

Error mismatch(const ScalarOpInfo& row, ScalarType a, ScalarType b) {
  return invalid_input(format("\"{}\" mixes {} and {}; convert one of them", row.name, to_string(a), to_string(b)));
}

}  // namespace

std::optional<ExpressionType> unify(ExpressionType a, ExpressionType b) {
  if (a.type == b.type) return ExpressionType{a.type, a.weak && b.weak, a.fits_sint32 && b.fits_sint32};
  if (is_weak_for(a, b.type)) return b;
  if (is_weak_for(b, a.type)) return a;
  return std::nullopt;
}

Result<ExpressionType> type_of(const Program& program, const ScalarExpr::Node& node, uint32_t maximum_size) {
  if (node.size > maximum_size) return too_large(maximum_size);
  if (node.op == ScalarOp::literal) {
    // A non-negative int literal is as good as unsigned, so that `x > 0` works for a uint32 x.
    const bool non_negative = node.literal.type == ScalarType::sint32 && (node.literal.bits >> 31) == 0;
    const bool fits_sint32 = node.literal.type != ScalarType::uint32 || (node.literal.bits >> 31) == 0;
    return ExpressionType{non_negative ? ScalarType::uint32 : node.literal.type, true, fits_sint32};
  }
  if (node.op == ScalarOp::scalar) {
    if (node.scalar.id >= program.scalars().size())
      return invalid_input("an expression names a scalar of another program");
    return ExpressionType{program.info(node.scalar).type, false};
  }

  const ScalarOpInfo& row = info(node.op);
  std::array<ExpressionType, 3> types;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if ((node.operands[i] != nullptr) != (i < row.operand_count)) return wrong_count(row);
    if (node.operands[i] == nullptr) continue;
    WAVEGATE_TRY(types[i], type_of(program, *node.operands[i], maximum_size));
  }
  const auto needs = [&](ScalarType type, std::string_view what) {
    return invalid_input(format("\"{}\" takes {}, not {}", row.name, what, to_string(type)));
  };

  switch (node.op) {
    case ScalarOp::to_uint32: return ExpressionType{ScalarType::uint32, false};
    case ScalarOp::to_sint32: return ExpressionType{ScalarType::sint32, false};
    case ScalarOp::to_float32: return ExpressionType{ScalarType::float32, false};
    case ScalarOp::logical_not:
    case ScalarOp::logical_and:
    case ScalarOp::logical_or:
      for (size_t i = 0; i < row.operand_count; ++i)
        if (types[i].type != ScalarType::uint32) return needs(types[i].type, "uint32 truth values");
      return ExpressionType{ScalarType::uint32, false};
    case ScalarOp::square_root:
      if (types[0].type != ScalarType::float32) return needs(types[0].type, "float32");
      return ExpressionType{ScalarType::float32, false};
    case ScalarOp::negate:
      if (types[0].type == ScalarType::uint32) {
        if (!types[0].weak || !types[0].fits_sint32) return needs(types[0].type, "sint32 or float32");
        types[0].type = ScalarType::sint32;
      }
      return ExpressionType{types[0].type, false};
    case ScalarOp::select: {
      if (types[0].type != ScalarType::uint32) return needs(types[0].type, "a uint32 condition");
      const auto common = unify(types[1], types[2]);
      if (!common) return mismatch(row, types[1].type, types[2].type);
      return ExpressionType{common->type, false};
    }
    default: {
      const auto common = unify(types[0], types[1]);
      if (!common) return mismatch(row, types[0].type, types[1].type);
      const bool comparison = node.op >= ScalarOp::equal && node.op <= ScalarOp::less_equal;
      return ExpressionType{comparison ? ScalarType::uint32 : common->type, false};
    }
  }
}

Result<ScalarType> operand_type(const Program& program, const ScalarExpr::Node& node) {
  if (node.size > kMaximumLoweredSize) return too_large(kMaximumLoweredSize);
  const ScalarOpInfo& row = info(node.op);
  const auto type_at = [&](size_t i) -> Result<ExpressionType> {
    if (i >= row.operand_count || node.operands[i] == nullptr) return wrong_count(row);
    return type_of(program, *node.operands[i], kMaximumLoweredSize);
  };
  const size_t first = node.op == ScalarOp::select ? 1 : 0;
  WAVEGATE_TRY(const ExpressionType a, type_at(first));
  if (first + 1 >= row.operand_count) {
    const bool negated_number = node.op == ScalarOp::negate && a.weak && a.type == ScalarType::uint32;
    return negated_number ? ScalarType::sint32 : a.type;
  }
  WAVEGATE_TRY(const ExpressionType b, type_at(first + 1));
  const auto common = unify(a, b);
  if (!common) return mismatch(row, a.type, b.type);
  return common->type;
}

uint32_t literal_bits(Literal literal, ScalarType type) {
  if (literal.type == type || type != ScalarType::float32) return literal.bits;
  const float value = literal.type == ScalarType::sint32 ? static_cast<float>(static_cast<int32_t>(literal.bits))
                                                         : static_cast<float>(literal.bits);
  return std::bit_cast<uint32_t>(value);
}

}  // namespace wavegate::program
