#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/kir/builder.h"
#include "wavegate/program/program.h"

namespace wavegate::lowering {

/// Adds the scalars that an expression reads.
void note_scalars(const program::ScalarExpr::Node& node, std::set<uint32_t>& scalars);

/// Emits scalar expressions into a kernel. A float that is only moved is moved as its bits; what was set is known
/// without another load. An expression that has no type, of a program that was verified a fault of the lowering, does
/// not stop the emission: store() returns the first.
class ScalarEmitter {
 public:
  ScalarEmitter(kir::Builder& builder, const program::Program& program,
                const std::map<uint32_t, kir::ScalarRef>& bindings)
      : b_(builder), program_(program), bindings_(bindings) {}

  void set(program::Scalar destination, const program::ScalarExpr& value);
  kir::Expr truth(const program::ScalarExpr& value);  ///< a uint32 expression as bool
  kir::Expr word(const program::ScalarExpr& value);   ///< a uint32 expression
  kir::Expr bits(const program::ScalarExpr& value);   ///< of any type
  /// Stores what was set, each scalar once. `internal`: an expression above was none.
  Result<void> store(const std::vector<program::Scalar>& scalars);

 private:
  using Node = program::ScalarExpr::Node;
  kir::Expr typed(kir::Expr bits, program::ScalarType type);
  kir::Expr untyped(kir::Expr value, program::ScalarType type);
  kir::Expr emit(const Node& node, program::ScalarType wanted);
  kir::Expr stand_in(const Error& error, program::ScalarType wanted);
  kir::Expr apply(program::ScalarOp op, program::ScalarType type, const std::array<kir::Expr, 3>& x);

  kir::Builder& b_;
  const program::Program& program_;
  const std::map<uint32_t, kir::ScalarRef>& bindings_;
  std::map<uint32_t, kir::Expr> bits_;  ///< what each scalar holds, as far as it is known
  std::optional<Error> error_;          ///< the first
};

}  // namespace wavegate::lowering
