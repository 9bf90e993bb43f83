#include "amdgpu/wave/values/registers.h"

namespace wavegate::amdgpu::wave::testing {

using isa::OperandKind;

unsigned Registers::scalar_index(const isa::Operand& operand) {
  switch (operand.kind) {
    case OperandKind::sgpr: return operand.value;
    case OperandKind::flat_scratch: return 102 + operand.value;
    case OperandKind::xnack_mask: return 104 + operand.value;
    case OperandKind::vcc: return kVcc + operand.value;
    case OperandKind::ttmp: return 108 + operand.value;
    case OperandKind::m0: return kM0;
    case OperandKind::exec: return kExec + operand.value;
    default: return kNone;
  }
}

unsigned Registers::row_index(const isa::Operand& operand) {
  if (operand.kind == OperandKind::vgpr) return operand.value;
  return operand.kind == OperandKind::agpr ? kAccumulation + operand.value : kNone;
}

u64 Registers::scalar(const isa::Operand& operand) const {
  if (const unsigned index = scalar_index(operand); index != kNone)
    return operand.words >= 2 ? pair(index) : scalars[index];
  if (operand.is_constant()) {
    const u64 bits = isa::constant_bits(operand);
    return operand.words >= 2 ? bits : bits & 0xffffffffu;
  }
  // Where LDS and scratch memory begin and end among flat addresses: of 64 bits, or of 32 the upper half.
  const auto aperture = [&](u64 high, u64 low) { return operand.words >= 2 ? high << 32 | low : high; };
  switch (operand.kind) {
    case OperandKind::scc: return scc;
    case OperandKind::vccz: return mask(kVcc) == 0 ? 1 : 0;
    case OperandKind::execz: return exec() == 0 ? 1 : 0;
    case OperandKind::shared_base: return aperture(0x10000, 0);
    case OperandKind::shared_limit: return aperture(0x10000, 0xffffffffu);
    case OperandKind::private_base: return aperture(0x20000, 0);
    case OperandKind::private_limit: return aperture(0x20000, 0xffffffffu);
    default: return 0;
  }
}

u32 Registers::word(const isa::Operand& operand, unsigned number, unsigned lane) const {
  if (const unsigned row = row_index(operand); row != kNone) return rows[row + number][lane];
  return static_cast<u32>(scalar(operand) >> (number * 32));
}

}  // namespace wavegate::amdgpu::wave::testing
