#pragma once

#include <set>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/lowering/choose.h"
#include "wavegate/lowering/kernel_table.h"
#include "wavegate/lowering/schedule.h"
#include "wavegate/lowering/values.h"

namespace wavegate::lowering {

/// Where a loop reports: control words.
struct LoopWords {
  std::string label;
  program::Scalar trips, converged;
};

/// A program's control flow as a schedule.
struct Flow {
  Sequence commands;
  std::vector<GridBlock> blocks;
  std::vector<LoopWords> loops;  ///< by program::Loop::id
  program::Scalar fault;
  std::vector<std::string> computed_grids;
  std::set<std::string> notes;  ///< what differs from the decisions, for people
};

/// Turns control flow into latches and what they guard, by the decisions. Adds control words to `values` and kernels
/// to `kernels`.
Result<Flow> make_flow(const program::Program& program, const Decisions& decisions, const target::Profile& profile,
                       Mutation mutation, Values& values, KernelTable& kernels);

}  // namespace wavegate::lowering
