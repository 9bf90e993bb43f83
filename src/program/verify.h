#pragma once

#include "wavegate/base/result.h"
#include "wavegate/program/expand.h"  // IWYU pragma: export
#include "wavegate/program/program.h"

namespace wavegate::program {

/// Checks an expanded program, before any device is touched: handles, kinds and types; every dispatch against its
/// kernel's interface and with one exact grid, given or computed; ranges of copies and fills; predicates, selectors and
/// computed grids that are uint32; cases that differ; bounds; `break_` and `continue_` inside a loop and last in their
/// body; no write to a launch parameter or an iteration index, and no read of the latter outside its loop; and that no
/// value is read before it has an initial value or a proven full write, whichever way control took. Names of buffers
/// and scalars are unique. Messages name the command and the value.
///
/// Time is linear in the commands times the values, a word of 64 values at a time.
Result<void> verify(const Program& program);

}  // namespace wavegate::program
