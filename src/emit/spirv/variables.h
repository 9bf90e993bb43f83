#pragma once

#include "wavegate/emit/spirv/context.h"

namespace wavegate::emit::spirv {

/// Declares what a kernel addresses outside its function: its buffers, the scalar arena, the launch words and its
/// workgroup memory. Local arrays follow when the function is opened.
void declare_variables(Context& context);

/// Declares the local arrays. Precondition: the entry block has just begun.
void declare_local_arrays(Context& context);

/// Writes `builtin` and `parameter`, and gives their value.
Id emit_builtin(Context& context, const kir::Instruction& instruction);
Id emit_parameter(Context& context, const kir::Instruction& instruction);

}  // namespace wavegate::emit::spirv
