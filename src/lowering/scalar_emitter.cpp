#include "wavegate/lowering/scalar_emitter.h"

#include "wavegate/program/expression_type.h"

namespace wavegate::lowering {

using kir::Expr;
using kir::Op;
using kir::Type;
using program::ScalarExpr;
using program::ScalarOp;
using program::ScalarType;

void note_scalars(const ScalarExpr::Node& node, std::set<uint32_t>& scalars) {
  if (node.op == ScalarOp::scalar) scalars.insert(node.scalar.id);
  for (const auto& operand : node.operands)
    if (operand) note_scalars(*operand, scalars);
}

void ScalarEmitter::set(program::Scalar destination, const ScalarExpr& value) {
  const ScalarType type = program_.info(destination).type;
  bits_.insert_or_assign(destination.id, untyped(emit(value.root(), type), type));
}

Expr ScalarEmitter::truth(const ScalarExpr& value) {
  return word(value) != 0;
}

Expr ScalarEmitter::word(const ScalarExpr& value) {
  return emit(value.root(), ScalarType::uint32);
}

Expr ScalarEmitter::bits(const ScalarExpr& value) {
  // A bare number is stored as it is written.
  const auto found = program::type_of(program_, value.root(), program::kMaximumLoweredSize);
  if (!found) return stand_in(found.error(), ScalarType::uint32);
  return untyped(emit(value.root(), found->type), found->type);
}

Result<void> ScalarEmitter::store(const std::vector<program::Scalar>& scalars) {
  if (error_) return *error_;
  std::set<uint32_t> stored;
  for (const program::Scalar scalar : scalars) {
    if (!stored.insert(scalar.id).second) continue;
    const kir::ScalarRef binding = bindings_.at(scalar.id);
    binding = typed(bits_.at(scalar.id), program_.info(scalar).type);
  }
  return {};
}

Expr ScalarEmitter::typed(Expr bits, ScalarType type) {
  return type == ScalarType::float32 ? b_.bitcast(Type::f32, bits) : bits;
}

Expr ScalarEmitter::untyped(Expr value, ScalarType type) {
  return type == ScalarType::float32 ? b_.bitcast(Type::i32, value) : value;
}

/// A value in place of one that an error prevented.
Expr ScalarEmitter::stand_in(const Error& error, ScalarType wanted) {
  if (!error_) error_ = internal_error(error.message);
  return b_.constant(program::kernel_type(wanted), uint64_t{0});
}

Expr ScalarEmitter::emit(const Node& node, ScalarType wanted) {
  if (node.op == ScalarOp::literal)
    return b_.constant(program::kernel_type(wanted), program::literal_bits(node.literal, wanted));
  if (node.op == ScalarOp::scalar) {
    auto known = bits_.find(node.scalar.id);
    const ScalarType type = program_.info(node.scalar).type;
    if (known == bits_.end()) known = bits_.emplace(node.scalar.id, untyped(bindings_.at(node.scalar.id), type)).first;
    return typed(known->second, type);
  }
  const auto type = program::operand_type(program_, node);
  if (!type) return stand_in(type.error(), wanted);
  std::array<Expr, 3> operands;
  for (size_t i = 0; i < node.operands.size() && node.operands[i]; ++i)
    operands[i] = emit(*node.operands[i], node.op == ScalarOp::select && i == 0 ? ScalarType::uint32 : *type);
  return apply(node.op, *type, operands);
}

Expr ScalarEmitter::apply(ScalarOp op, ScalarType type, const std::array<Expr, 3>& x) {
  const bool is_float = type == ScalarType::float32;
  const bool is_signed = type == ScalarType::sint32;
  const auto by_type = [&](Op f, Op s, Op u) { return b_.apply(is_float ? f : is_signed ? s : u, {x[0], x[1]}); };
  const auto as_word = [&](Expr condition) { return b_.select(condition, b_.u32(1), b_.u32(0)); };
  switch (op) {
    case ScalarOp::add: return x[0] + x[1];
    case ScalarOp::subtract: return x[0] - x[1];
    case ScalarOp::multiply: return x[0] * x[1];
    case ScalarOp::divide: return by_type(Op::div_f, Op::div_s, Op::div_u);
    case ScalarOp::minimum: return by_type(Op::min_f, Op::min_s, Op::min_u);
    case ScalarOp::maximum: return by_type(Op::max_f, Op::max_s, Op::max_u);
    case ScalarOp::equal: return as_word(x[0] == x[1]);
    case ScalarOp::not_equal: return as_word(x[0] != x[1]);
    case ScalarOp::less: return as_word(by_type(Op::less_f, Op::less_s, Op::less_u));
    case ScalarOp::less_equal: return as_word(by_type(Op::less_equal_f, Op::less_equal_s, Op::less_equal_u));
    case ScalarOp::logical_and: return as_word((x[0] != 0) & (x[1] != 0));
    case ScalarOp::logical_or: return as_word((x[0] != 0) | (x[1] != 0));
    case ScalarOp::logical_not: return as_word(x[0] == 0);
    case ScalarOp::negate: return -x[0];
    case ScalarOp::square_root: return b_.apply(Op::sqrt, {x[0]});
    case ScalarOp::select: return typed(b_.select(x[0] != 0, untyped(x[1], type), untyped(x[2], type)), type);
    case ScalarOp::to_float32:
      if (is_float) return x[0];
      return b_.convert(is_signed ? Op::convert_s_to_f : Op::convert_u_to_f, Type::f32, x[0]);
    case ScalarOp::to_uint32: return is_float ? b_.convert(Op::convert_f_to_u, Type::i32, x[0]) : x[0];
    case ScalarOp::to_sint32: return is_float ? b_.convert(Op::convert_f_to_s, Type::i32, x[0]) : x[0];
    case ScalarOp::literal:
    case ScalarOp::scalar: break;
  }
  return x[0];
}

}  // namespace wavegate::lowering
