#pragma once

#include <string>
#include <string_view>

#include "wavegate/base/result.h"
#include "wavegate/io/json.h"
#include "wavegate/io/program_names.h"
#include "wavegate/kir/type.h"
#include "wavegate/program/program.h"

namespace wavegate::io {

/// Reads what a command is given: names of values, numbers and expressions. Borrows the program and the names, which
/// may grow meanwhile. Errors name the place, and the value with what it is.
class ArgumentReader {
 public:
  ArgumentReader(const program::Program& program, const ProgramNames& names) : program_(program), names_(names) {}

  Result<program::Buffer> buffer(const JsonView& view) const;
  Result<program::Scalar> scalar(const JsonView& view) const;
  /// A scalar that the program may write.
  Result<program::Scalar> written_scalar(const JsonView& view) const;
  /// A number for something that kernels see as `type`.
  Result<program::Literal> literal(const JsonView& view, kir::Type type) const;
  /// A number, the name of a scalar, or a list of an operator and its operands.
  Result<program::ScalarExpr> expression(const JsonView& view) const;
  /// An expression that is a uint32. `what` names it in errors, and `rule` says what it has to be.
  Result<program::ScalarExpr> word(const JsonView& view, std::string_view what, std::string_view rule) const;

  /// What a name stands for: `"u" is a buffer of f32`.
  std::string described(std::string_view name, const program::Operand& operand) const;

 private:
  const program::Program& program_;
  const ProgramNames& names_;
};

}  // namespace wavegate::io
