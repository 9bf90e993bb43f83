#pragma once

#include <cstdint>
#include <vector>

#include "differential/random.h"
#include "wavegate/program/expression.h"

namespace wavegate::differential {

/// The scalars that random expressions read.
struct Scalars {
  std::vector<program::Scalar> words;       ///< uint32
  std::vector<program::Scalar> integers;    ///< sint32
  std::vector<program::Scalar> predicates;  ///< uint32 that are mostly read as truth values
  std::vector<program::Scalar> counters;    ///< of loops that came before
  std::vector<program::Scalar> indices;     ///< iteration indices of the loops around
  program::Scalar real, gain;               ///< a float32 and a sint32 parameter
};

/// x modulo n, of what scalar expressions have.
program::ScalarExpr remainder(const program::ScalarExpr& x, uint32_t n);

/// Random expressions, of operations at most `depth` deep.
class Expressions {
 public:
  Expressions(Random& random, const Scalars& scalars) : random_(random), scalars_(scalars) {}

  program::ScalarExpr word(uint32_t depth);       ///< uint32
  program::ScalarExpr integer(uint32_t depth);    ///< sint32
  program::ScalarExpr predicate(uint32_t depth);  ///< uint32, often zero and often not

 private:
  program::ScalarExpr word_leaf();
  program::ScalarExpr word_operation(program::ScalarOp op, uint32_t depth);
  program::ScalarExpr integer_leaf();
  program::ScalarExpr comparison(uint32_t depth);

  Random& random_;
  const Scalars& scalars_;
};

}  // namespace wavegate::differential
