#pragma once

#include <cstdint>
#include <memory>

#include "wavegate/base/result.h"
#include "wavegate/graph/graph.h"
#include "wavegate/lowering/flow.h"
#include "wavegate/lowering/kernel_table.h"
#include "wavegate/lowering/values.h"
#include "wavegate/target/profile.h"

namespace wavegate::lowering {

/// Repeats are spelled out in the command buffer, so a loop's bound is a promise of memory.
inline constexpr uint64_t kMaximumCommands = uint64_t{1} << 20;

/// Turns a schedule into a verified command graph: lays out the indirect grids, makes kernels of the steps (or tails of
/// the kernels before them), and puts the fresh start of control words, grids and observed words before everything.
Result<std::shared_ptr<const graph::Graph>> assemble(const Flow& flow, const Values& values, KernelTable& kernels,
                                                     const target::Profile& profile);

}  // namespace wavegate::lowering
