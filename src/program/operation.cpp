#include "wavegate/program/operation.h"

namespace wavegate::program {
namespace {

class MadeOperation final : public Operation {
 public:
  explicit MadeOperation(OperationParts parts) : parts_(std::move(parts)) {}
  const std::string& name() const override { return parts_.name; }
  const std::vector<OperandInfo>& operands() const override { return parts_.operands; }
  Result<void> check(const Program& program, std::span<const Operand> operands) const override {
    return parts_.check ? parts_.check(program, operands) : Result<void>();
  }
  Result<void> expand(Program& program, std::span<const Operand> operands,
                      const target::Profile& profile) const override {
    if (!parts_.expand) return invalid_input("has no expand, so that it is made of nothing; give it one", parts_.name);
    return parts_.expand(program, operands, profile);
  }

 private:
  OperationParts parts_;
};

}  // namespace

std::string_view to_string(OperandKind kind) {
  constexpr std::string_view names[] = {"buffer", "scalar", "number", "matrix"};
  return names[static_cast<uint8_t>(kind)];
}

std::shared_ptr<const Operation> make_operation(OperationParts parts) {
  return std::make_shared<MadeOperation>(std::move(parts));
}

}  // namespace wavegate::program
