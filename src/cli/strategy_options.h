#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/cli/commands.h"
#include "wavegate/lowering/lower.h"

namespace wavegate::cli {

/// How control flow is to be lowered, as options of a command say it.
struct StrategyArguments {
  std::vector<std::string> strategies;  ///< NAME, or REGION=NAME
  bool host_free = false;
};

/// Adds --strategy and --host-free.
void add_strategy_options(CLI::App& command, StrategyArguments& arguments);

/// An unknown strategy is invalid input, with the nearest name.
Result<lowering::Options> lowering_options(const StrategyArguments& arguments);

/// Adds --time-limit, in seconds.
void add_time_limit(CLI::App& command, std::optional<double>& seconds);

}  // namespace wavegate::cli
