#include "differential/expressions.h"

#include <iterator>

namespace wavegate::differential {

using program::literal;
using program::ScalarExpr;
using program::ScalarOp;

ScalarExpr remainder(const ScalarExpr& x, uint32_t n) {
  return x - x / ScalarExpr(n) * ScalarExpr(n);
}

ScalarExpr Expressions::word_leaf() {
  if (!scalars_.indices.empty() && random_.chance(20)) return random_.pick(scalars_.indices);
  if (random_.chance(30)) return literal(random_.below(8));
  if (!scalars_.counters.empty() && random_.chance(25)) return random_.pick(scalars_.counters);
  return random_.pick(scalars_.words);
}

ScalarExpr Expressions::word(uint32_t depth) {
  if (depth == 0 || random_.chance(25)) return word_leaf();
  switch (random_.below(9)) {
    case 0:
    case 1: return word_operation(ScalarOp::add, depth);
    case 2: return word_operation(ScalarOp::subtract, depth);
    case 3: return word_operation(ScalarOp::multiply, depth);
    case 4: return word_operation(ScalarOp::divide, depth);
    case 5: return word_operation(random_.chance(50) ? ScalarOp::minimum : ScalarOp::maximum, depth);
    case 6: {
      const ScalarExpr condition = predicate(depth - 1);
      const ScalarExpr yes = word(depth - 1);
      const ScalarExpr no = word(depth - 1);
      return select(condition, yes, no);
    }
    case 7: return {ScalarOp::to_uint32, {random_.chance(80) ? integer(depth - 1) : ScalarExpr(scalars_.real)}};
    default: return predicate(depth - 1);
  }
}

ScalarExpr Expressions::word_operation(ScalarOp op, uint32_t depth) {
  const ScalarExpr a = word(depth - 1);
  const ScalarExpr b = word(depth - 1);
  return {op, {a, b}};
}

ScalarExpr Expressions::integer_leaf() {
  if (random_.chance(30)) return {ScalarOp::to_sint32, {literal(static_cast<int32_t>(random_.below(9)) - 4)}};
  if (random_.chance(25)) return scalars_.gain;
  return random_.pick(scalars_.integers);
}

ScalarExpr Expressions::integer(uint32_t depth) {
  if (depth == 0 || random_.chance(25)) return integer_leaf();
  const ScalarExpr a = integer(depth - 1);
  switch (random_.below(6)) {
    case 0: return -a;
    case 1: return {ScalarOp::to_sint32, {word(depth - 1)}};
    default: break;
  }
  const ScalarExpr b = integer(depth - 1);
  constexpr ScalarOp ops[] = {ScalarOp::add,    ScalarOp::subtract, ScalarOp::multiply,
                              ScalarOp::divide, ScalarOp::minimum,  ScalarOp::maximum};
  return {ops[random_.below(std::size(ops))], {a, b}};
}

ScalarExpr Expressions::comparison(uint32_t depth) {
  constexpr ScalarOp ops[] = {ScalarOp::equal, ScalarOp::not_equal, ScalarOp::less, ScalarOp::less_equal};
  const ScalarOp op = ops[random_.below(std::size(ops))];
  const bool is_signed = random_.chance(30);
  const ScalarExpr a = is_signed ? integer(depth) : remainder(word(depth), 5);
  const ScalarExpr b = is_signed ? integer(depth) : ScalarExpr(random_.below(5));
  return {op, {a, b}};
}

ScalarExpr Expressions::predicate(uint32_t depth) {
  const uint32_t dice = random_.below(10);
  if (dice < 2) return random_.pick(scalars_.predicates);
  if (dice < 3) return remainder(word_leaf(), 3);  // any word that is not zero is true
  if (depth == 0 || dice < 6) return comparison(depth > 0 ? depth - 1 : 0);
  const ScalarExpr a = predicate(depth - 1);
  if (dice < 7) return !a;
  const ScalarExpr b = predicate(depth - 1);
  return dice < 9 ? a && b : a || b;
}

}  // namespace wavegate::differential
