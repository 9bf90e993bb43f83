#pragma once

#include "wavegate/emit/spirv/context.h"

namespace wavegate::emit::spirv {

/// Writes a subgroup operation and defines its results. SPIR-V's operations are used on 32-bit values (and f64)
/// alone, which every device with subgroup operations has; other types are taken apart, with the same bits.
void emit_subgroup(Context& context, const kir::Instruction& instruction);

}  // namespace wavegate::emit::spirv
