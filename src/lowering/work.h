#pragma once

#include "wavegate/base/result.h"
#include "wavegate/lowering/kernel_table.h"
#include "wavegate/lowering/schedule.h"
#include "wavegate/lowering/values.h"
#include "wavegate/target/profile.h"

namespace wavegate::lowering {

/// The commands of a program as dispatches that nothing conditions yet. A copy or fill becomes a kernel, since no API
/// gates one.
Result<Work> make_work(const program::Dispatch& node, const Values& values, KernelTable& kernels);
Result<Work> make_work(const program::Copy& node, const Values& values, const target::Profile& profile,
                       KernelTable& kernels);
Result<Work> make_work(const program::Fill& node, const Values& values, const target::Profile& profile,
                       KernelTable& kernels);

/// The ranges of a copy or fill that nothing conditions.
graph::Copy make_copy(const program::Copy& node, const Values& values);
graph::Fill make_fill(const program::Fill& node, const Values& values);

/// Makes a dispatch return at once where the latch is zero. `unsupported`, with the reason, for a module that cannot be
/// changed so.
Result<void> guard(Work& work, program::Scalar latch, const Values& values, KernelTable& kernels);

/// Binds a word of the arena as the next scalar of a kernel of ours: its launch word and its use.
void use_word(graph::Dispatch& dispatch, program::Scalar scalar, kir::Access access, const Values& values);

}  // namespace wavegate::lowering
