#pragma once

#include <span>
#include <string>

#include "wavegate/base/result.h"
#include "wavegate/lowering/flow.h"
#include "wavegate/lowering/kernel_table.h"
#include "wavegate/lowering/schedule.h"
#include "wavegate/lowering/values.h"
#include "wavegate/target/profile.h"

namespace wavegate::lowering {

/// A loop, with all that is in it, as one kernel of one workgroup: its kernels' grids are done by that workgroup, and
/// barriers stand where commands would wait for each other. `loops` are where loops report. `unsupported`, with the
/// reason, where one workgroup cannot do it.
Result<Work> resident_work(const program::While& node, Values& values, KernelTable& kernels,
                           const target::Profile& profile, std::span<const LoopWords> loops);

/// Why that cannot be; empty if it can.
std::string resident_obstacle(const program::While& node, const Values& values, const KernelTable& kernels,
                              const target::Profile& profile);

}  // namespace wavegate::lowering
