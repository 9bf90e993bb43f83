#pragma once

#include "wavegate/amdgpu/isa/tables.h"

namespace wavegate::amdgpu::isa {

/// What the 9 bits of a source mean on a generation, as a 32-bit operand; of kind `none` where they mean nothing.
const Operand& source(Generation generation, unsigned bits);

/// Gives a 32-bit operand the width and type of a rule. False if no register starts there, or the rule wants no such
/// kind.
inline bool fit(const OperandRule& rule, unsigned sgprs, Operand& operand) {
  if ((rule.kinds >> static_cast<unsigned>(operand.kind) & 1) == 0) return false;
  operand.words = rule.words;
  operand.type = rule.type;
  if (rule.words <= 1) return true;
  switch (operand.kind) {
    case OperandKind::vgpr:
    case OperandKind::agpr: return operand.value + rule.words <= 256;
    case OperandKind::sgpr:
      operand.value &= rule.words == 2 ? ~1u : ~3u;                       // the hardware ignores these bits
      return operand.value + rule.words <= (sgprs == 102 ? 104 : sgprs);  // of gfx9, four from s100 on are taken
    case OperandKind::ttmp: operand.value &= rule.words == 2 ? ~1u : ~3u; return operand.value + rule.words <= 16;
    case OperandKind::vcc:
    case OperandKind::exec:
    case OperandKind::flat_scratch:
    case OperandKind::xnack_mask: return operand.value == 0;
    case OperandKind::m0: return false;
    default: return true;
  }
}

}  // namespace wavegate::amdgpu::isa
