#pragma once

#include <cstddef>
#include <cstdint>

#include "wavegate/kir/op.h"
#include "wavegate/kir/type.h"

namespace wavegate::device::reference {

/// One pure operation over consecutive lanes: `result[i] = op(a[i], b[i], c[i])` for i in [0, count). Values are the
/// zero-extended bits of their types; an operand that the operation lacks is null. The result overlaps no operand.
struct LaneCall {
  uint64_t* result = nullptr;
  const uint64_t* a = nullptr;
  const uint64_t* b = nullptr;
  const uint64_t* c = nullptr;
  size_t count = 0;
  kir::Op op = kir::Op::add;
  kir::Type type = kir::Type::none;          ///< of the result
  kir::Type operand_type = kir::Type::none;  ///< of the last operand
};
using LaneFunction = void (*)(const LaneCall&);

/// The function that runs a pure operation with operands: a tight loop for the common ones, else a loop around
/// kir::evaluate. All agree with kir::evaluate bit for bit.
LaneFunction lane_function(kir::Op op, kir::Type type, kir::Type operand_type);

}  // namespace wavegate::device::reference
