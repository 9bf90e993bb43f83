#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/program/program.h"
#include "wavegate/target/profile.h"

namespace wavegate::program {

enum class OperandKind : uint8_t { buffer, scalar, number, matrix };
std::string_view to_string(OperandKind kind);

/// One formal operand of an operation. `number` takes a literal or a scalar.
struct OperandInfo {
  std::string name;
  OperandKind kind = OperandKind::buffer;
  kir::Type type = kir::Type::f32;  ///< element type of a buffer, type of a scalar or number
  kir::Access access = kir::Access::read;
};

/// A named operation that a program calls. Users derive their own; the library's are made the same way.
/// Immutable and thread-safe.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual const std::string& name() const = 0;
  virtual const std::vector<OperandInfo>& operands() const = 0;
  /// Checks sizes; kinds, types and count were checked by the table. Names the operand and the numbers.
  virtual Result<void> check(const Program& program, std::span<const Operand> operands) const = 0;
  /// Appends to the program what the operation is made of: dispatches, assigns, other operations, temporaries.
  virtual Result<void> expand(Program& program, std::span<const Operand> operands,
                              const target::Profile& profile) const = 0;
};

/// An operation made of its parts, for those that need no class of their own.
struct OperationParts {
  std::string name;
  std::vector<OperandInfo> operands;
  /// May be empty: the table says all there is to check.
  std::function<Result<void>(const Program&, std::span<const Operand>)> check;
  /// Must not be empty; the error comes when the operation is expanded.
  std::function<Result<void>(Program&, std::span<const Operand>, const target::Profile&)> expand;
};
std::shared_ptr<const Operation> make_operation(OperationParts parts);

/// Operations by name, for program files. A user registers operations beside the library's.
using OperationTable = std::map<std::string, std::shared_ptr<const Operation>, std::less<>>;

}  // namespace wavegate::program
