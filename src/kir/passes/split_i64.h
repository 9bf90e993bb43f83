#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/kir/passes/pass.h"

namespace wavegate::kir {

/// Replaces every i64 by two i32, for devices without 64-bit integers: values, loop-carried and yielded ones among
/// them, parameters (`p` becomes `p.low` and `p.high`; the launch words stay as they are), and memories, which become
/// arrays of twice as many words, little end first, so that their bytes stay as they are. The statistics count the
/// instructions rewritten. `unsupported`, with the kernel untouched, for atomics of i64, accesses through device
/// pointers, and conversions and bitcasts between i64 and f64, each by name. Preserves: the meaning of the interface's
/// bytes, control flow around what was there, the order of effects. Divisions become branches and loops; a kernel
/// nested so deep that they would not fit is `unsupported`, too.
Result<PassStats> split_i64(Kernel& kernel);

/// Whether the kernel holds i64 anywhere.
bool has_i64(const Kernel& kernel);

}  // namespace wavegate::kir
