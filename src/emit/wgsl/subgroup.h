#pragma once

#include "wavegate/emit/wgsl/context.h"

namespace wavegate::emit::wgsl {

/// Writes votes, ballots, shuffles and reductions over a subgroup, and defines their results.
void emit_subgroup(Context& context, const kir::Instruction& instruction);

}  // namespace wavegate::emit::wgsl
