#pragma once

#include <optional>
#include <span>
#include <string>

#include "wavegate/base/result.h"
#include "wavegate/lowering/flow.h"
#include "wavegate/lowering/kernel_table.h"
#include "wavegate/lowering/schedule.h"
#include "wavegate/lowering/values.h"
#include "wavegate/target/profile.h"

namespace wavegate::lowering {

/// A loop that takes several dispatches. The words are set before the first: `inside` to whether the loop is entered,
/// `broken` to zero, the trip count to zero. `inside` is zero once the loop is done; then also `done_word` of the
/// observed buffer is set, if there is one. Whether it converged is for what comes after.
struct ResidentSlice {
  uint32_t iterations = 0;  ///< of a dispatch
  program::Scalar inside;
  std::optional<program::Scalar> broken;  ///< where the body may be left early
  std::optional<uint32_t> done_word;
};

/// A loop, with all that is in it, as one kernel of one workgroup: its kernels' grids are done by that workgroup, and
/// barriers stand where commands would wait for each other. `loops` are where loops report. `unsupported`, with the
/// reason, where one workgroup cannot do it.
Result<Work> resident_work(const program::While& node, Values& values, KernelTable& kernels,
                           const target::Profile& profile, std::span<const LoopWords> loops,
                           const std::optional<ResidentSlice>& slice = {});

/// Whether the loop can be such a kernel, and how much of it.
ResidentFit resident_fit(const program::While& node, const Values& values, const KernelTable& kernels,
                         const target::Profile& profile);

}  // namespace wavegate::lowering
