#pragma once

#include "wavegate/emit/wgsl/context.h"

namespace wavegate::emit::wgsl {

/// Writes the kernel's body into context.body.
///
///     if_, switch_: the results are variables, which each block sets at its end
///     loop: the loop-carried values and the results are variables before it, set at continue_ and break_
///
/// WGSL's break leaves a switch: to leave the loop around one, a switch sets a variable of the loop's body that is
/// tested behind it. What kir has after a construct that nobody comes out of is left out.
void emit_body(Context& context);

}  // namespace wavegate::emit::wgsl
