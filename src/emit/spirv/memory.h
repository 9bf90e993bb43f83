#pragma once

#include "wavegate/emit/spirv/context.h"

namespace wavegate::emit::spirv {

/// Whether the operation is a memory access through a device pointer.
bool is_pointer_access(const kir::Instruction& instruction);

/// A 32-bit word of the launch parameters.
Id load_launch_word(Context& context, uint32_t index);

/// Writes loads, stores, array lengths, scalars, atomics, barriers and fences, and defines their results.
void emit_memory(Context& context, const kir::Instruction& instruction);

}  // namespace wavegate::emit::spirv
