#pragma once

#include <map>
#include <optional>
#include <string>

#include "wavegate/base/result.h"
#include "wavegate/lowering/plan.h"
#include "wavegate/lowering/strategy.h"
#include "wavegate/program/program.h"
#include "wavegate/target/costs.h"
#include "wavegate/target/profile.h"

namespace wavegate::lowering {

/// One rule of control flow left out, so that tests can show that they would notice.
enum class Mutation : uint8_t {
  none,
  no_latch,        ///< a predicate is read again before every command
  no_conjunction,  ///< a nested predicate forgets what encloses it
  ungated_fill,    ///< fills run whatever the predicate says
};

struct Options {
  /// For every region that it applies to; others are decided as without it. Without: the cheapest by the costs.
  std::optional<Strategy> strategy = {};
  /// By label, before `strategy`.
  std::map<std::string, Strategy, std::less<>> region_strategies = {};
  /// Only strategies without a host between submission and result; an unbounded loop is `unsupported`, by name.
  bool host_free = false;
  /// Of the device; none: the defaults of its kind.
  std::optional<target::Costs> costs = {};
  Mutation mutation = Mutation::none;  ///< for tests alone
};

/// Lowers a program for a device: expands and verifies it, specialises its kernels, lays out the arena, decides a
/// strategy for every region and turns control flow into commands.
///
/// Every region has a latch, a word of the arena that says whether control is there; a nested one holds the
/// conjunction. Scalar work, tests and latches that follow each other are one kernel, or the tail of the kernel before
/// them where that is one workgroup.
Result<Plan> lower(const program::Program& program, const target::Profile& profile, const Options& options = {});

}  // namespace wavegate::lowering
