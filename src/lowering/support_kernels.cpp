#include "wavegate/lowering/support_kernels.h"

#include <map>
#include <set>

#include "wavegate/kir/builder.h"
#include "wavegate/program/expression_type.h"

namespace wavegate::lowering {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Op;
using kir::Type;
using program::ScalarExpr;
using program::ScalarOp;
using program::ScalarType;

Result<kir::Kernel> gate_kernel() {
  Builder b("gate");
  auto latch = b.scalar("latch", Type::i32, Access::read);
  auto arguments = b.buffer("arguments", Type::i32, Access::read_write);
  const Expr word = b.parameter("word", Type::i32);
  const Expr x = b.parameter("x", Type::i32);
  const Expr y = b.parameter("y", Type::i32);
  const Expr z = b.parameter("z", Type::i32);
  const Expr live = static_cast<Expr>(latch) != 0;
  b.store(arguments, word, {b.select(live, x, b.u32(0)), y, z});
  return b.finish();
}

Result<kir::Kernel> latch_kernel() {
  Builder b("latch");
  auto latch = b.scalar("latch", Type::i32, Access::write);
  auto enclosing = b.scalar("enclosing", Type::i32, Access::read);
  auto predicate = b.scalar("predicate", Type::i32, Access::read);
  const Expr invert = b.parameter("invert", Type::i32) != 0;
  const Expr holds = (static_cast<Expr>(predicate) != 0) ^ invert;
  latch = b.select((static_cast<Expr>(enclosing) != 0) & holds, b.u32(1), b.u32(0));
  return b.finish();
}

Result<kir::Kernel> loop_enter_kernel() {
  Builder b("loop_enter");
  auto latch = b.scalar("latch", Type::i32, Access::write);
  auto trips = b.scalar("trips", Type::i32, Access::read_write);
  auto enclosing = b.scalar("enclosing", Type::i32, Access::read);
  const Expr done = b.parameter("done", Type::i32);
  const Expr entered = enclosing;
  latch = entered;
  trips = b.select(entered != 0, done, trips);
  return b.finish();
}

Result<kir::Kernel> loop_test_kernel() {
  Builder b("loop_test");
  auto latch = b.scalar("latch", Type::i32, Access::read_write);
  auto trips = b.scalar("trips", Type::i32, Access::read_write);
  auto predicate = b.scalar("predicate", Type::i32, Access::read);
  const Expr minimum = b.parameter("min", Type::i32);
  const Expr before = trips;
  const Expr holds = (before < minimum) | (static_cast<Expr>(predicate) != 0);
  const Expr one = b.select((static_cast<Expr>(latch) != 0) & holds, b.u32(1), b.u32(0));
  latch = one;
  trips = before + one;
  return b.finish();
}

Result<kir::Kernel> loop_exit_kernel() {
  Builder b("loop_exit");
  auto converged = b.scalar("converged", Type::i32, Access::read_write);
  auto enclosing = b.scalar("enclosing", Type::i32, Access::read);
  auto predicate = b.scalar("predicate", Type::i32, Access::read);
  const Expr done = b.select(static_cast<Expr>(predicate) == 0, b.u32(1), b.u32(0));
  converged = b.select(static_cast<Expr>(enclosing) != 0, done, converged);
  return b.finish();
}

Result<kir::Kernel> copy_words_kernel() {
  Builder b("copy_words", {kWordsPerWorkgroup});
  auto source = b.buffer("source", Type::i32, Access::read);
  auto destination = b.buffer("destination", Type::i32, Access::read_write);
  const Expr from = b.parameter("source_offset", Type::i32);
  const Expr to = b.parameter("destination_offset", Type::i32);
  const Expr count = b.parameter("count", Type::i32);
  b.for_(b.global_id(), count, b.grid() * kWordsPerWorkgroup, [&](Expr i) { destination[to + i] = source[from + i]; });
  return b.finish();
}

Result<kir::Kernel> fill_words_kernel() {
  Builder b("fill_words", {kWordsPerWorkgroup});
  auto destination = b.buffer("destination", Type::i32, Access::read_write);
  const Expr offset = b.parameter("offset", Type::i32);
  const Expr count = b.parameter("count", Type::i32);
  const Expr word = b.parameter("word", Type::i32);
  b.for_(b.global_id(), count, b.grid() * kWordsPerWorkgroup, [&](Expr i) { destination[offset + i] = word; });
  return b.finish();
}

namespace {

/// Emits scalar expressions over the values that the scalars have so far.
class AssignEmitter {
 public:
  AssignEmitter(Builder& builder, const program::Program& program, const std::map<uint32_t, kir::ScalarRef>& bindings)
      : b_(builder), program_(program), bindings_(bindings) {}

  void assign(program::Scalar destination, const ScalarExpr::Node& value) {
    const Expr result = emit(value, program_.info(destination).type);
    values_.insert_or_assign(destination.id, result);
  }

  void store_all(const std::vector<program::Assign>& assigns) {
    std::set<uint32_t> stored;
    for (const program::Assign& assign : assigns) {
      if (!stored.insert(assign.destination.id).second) continue;
      kir::ScalarRef binding = bindings_.at(assign.destination.id);
      binding = values_.at(assign.destination.id);
    }
  }

 private:
  Expr truth(Expr value) { return value != 0; }
  Expr as_word(Expr condition) { return b_.select(condition, b_.u32(1), b_.u32(0)); }

  Expr emit(const ScalarExpr::Node& node, ScalarType wanted) {
    if (node.op == ScalarOp::literal)
      return b_.constant(program::kernel_type(wanted), program::literal_bits(node.literal, wanted));
    if (node.op == ScalarOp::scalar) {
      auto known = values_.find(node.scalar.id);
      if (known == values_.end()) known = values_.emplace(node.scalar.id, bindings_.at(node.scalar.id)).first;
      return known->second;
    }
    const ScalarType type = program::operand_type(program_, node);
    std::array<Expr, 3> operands;
    for (size_t i = 0; i < node.operands.size() && node.operands[i]; ++i)
      operands[i] = emit(*node.operands[i], node.op == ScalarOp::select && i == 0 ? ScalarType::uint32 : type);
    return apply(node.op, type, operands);
  }

  Expr apply(ScalarOp op, ScalarType type, const std::array<Expr, 3>& x) {
    const bool is_float = type == ScalarType::float32;
    const bool is_signed = type == ScalarType::sint32;
    const auto by_type = [&](Op f, Op s, Op u) { return b_.apply(is_float ? f : is_signed ? s : u, {x[0], x[1]}); };
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
      case ScalarOp::logical_and: return as_word(truth(x[0]) & truth(x[1]));
      case ScalarOp::logical_or: return as_word(truth(x[0]) | truth(x[1]));
      case ScalarOp::logical_not: return as_word(x[0] == 0);
      case ScalarOp::negate: return -x[0];
      case ScalarOp::square_root: return b_.apply(Op::sqrt, {x[0]});
      case ScalarOp::select: return b_.select(truth(x[0]), x[1], x[2]);
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

  Builder& b_;
  const program::Program& program_;
  const std::map<uint32_t, kir::ScalarRef>& bindings_;
  std::map<uint32_t, Expr> values_;
};

void note_reads(const ScalarExpr::Node& node, std::set<uint32_t>& scalars) {
  if (node.op == ScalarOp::scalar) scalars.insert(node.scalar.id);
  for (const auto& operand : node.operands)
    if (operand) note_reads(*operand, scalars);
}

}  // namespace

void note_scalars(const program::Assign& assign, std::set<uint32_t>& scalars) {
  note_reads(assign.value.root(), scalars);
  scalars.insert(assign.destination.id);
}

Result<AssignKernel> assign_kernel(const program::Program& program, const std::vector<program::Assign>& assigns) {
  std::map<uint32_t, Access> uses;  // read: read before it is assigned
  for (const program::Assign& assign : assigns) {
    std::set<uint32_t> read;
    note_reads(assign.value.root(), read);
    for (const uint32_t id : read) uses.try_emplace(id, Access::read);
    const auto [use, is_new] = uses.try_emplace(assign.destination.id, Access::write);
    if (!is_new && use->second == Access::read) use->second = Access::read_write;
  }

  AssignKernel result;
  Builder b("assign");
  std::map<uint32_t, kir::ScalarRef> bindings;
  for (const auto& [id, access] : uses) {
    const program::Scalar scalar{id};
    // The name says which program scalar it is; names in the kernel need not be identifiers of the program.
    bindings.emplace(id, b.scalar("s" + std::to_string(id), program::kernel_type(program.info(scalar).type), access));
    result.scalars.push_back(scalar);
  }
  AssignEmitter emitter(b, program, bindings);
  for (const program::Assign& assign : assigns) emitter.assign(assign.destination, assign.value.root());
  emitter.store_all(assigns);
  WAVEGATE_TRY(result.kernel, b.finish());
  return result;
}

}  // namespace wavegate::lowering
