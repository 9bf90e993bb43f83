#pragma once

#include <optional>
#include <span>
#include <string>

#include "wavegate/kir/op.h"
#include "wavegate/kir/type.h"

namespace wavegate::kir {

/// Why an operation cannot have this type and these operand types, by its row of the operation table and the rules
/// that a row cannot hold (comparisons of equal types, widths of conversions, ...); nothing if it can. `type` is
/// Instruction::type. Operations with a varying number of operands are checked by the verifier.
std::optional<std::string> type_mismatch(Op op, Type type, std::span<const Type> operands);

}  // namespace wavegate::kir
