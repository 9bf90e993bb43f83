#pragma once

#include "wavegate/emit/spirv/context.h"

namespace wavegate::emit::spirv {

/// Writes the entry function, with the whole body of the kernel, and gives its id.
///
///     if_:  header -> then, else -> merge         results are phis of the merge block
///     loop: before -> header -> body ... -> continue -> header, and body ... -> merge at each break_
///           loop-carried values are phis of the header; several continue_ meet in phis of the continue block
///
/// A merge block that nothing reaches ends in OpUnreachable, and what kir has after it is left out.
Id emit_function(Context& context);

}  // namespace wavegate::emit::spirv
