#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"

namespace wavegate::kir {

/// Checks everything that the emitters and the reference device rely on: each value defined once and before its
/// use, in a block that encloses the use; operand and result types against the operation table; every block
/// ends with the right terminator and nowhere else; accesses agree with the interface; memories and workgroup
/// within sane bounds; and every convergent operation stands in control flow that is provably uniform in its
/// scope (see uniformity.h). Hostile kernels are refused in time and memory linear in their size.
Result<void> verify(const Kernel& kernel);

}  // namespace wavegate::kir
