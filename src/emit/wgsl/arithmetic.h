#pragma once

#include "wavegate/emit/wgsl/context.h"

namespace wavegate::emit::wgsl {

/// Writes an operation of op.h from `select` to `convert_f`, and defines its result.
void emit_arithmetic(Context& context, const kir::Instruction& instruction);

}  // namespace wavegate::emit::wgsl
