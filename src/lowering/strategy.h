#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace wavegate::lowering {

/// How a region of control flow runs on a device. The meaning is the program's; a strategy only decides how much it
/// costs, and whether it applies.
enum class Strategy : uint8_t {
  gate,          ///< the baseline: before every command a kernel writes its indirect grid
  fused_gate,    ///< the kernel that takes the latch writes the indirect grids of the whole region
  chained_gate,  ///< as fused_gate, and the next iteration's gate is gated itself: a loop that is done stops paying
  producer,      ///< as fused_gate, written by the tail of the kernel that computes the predicate
  early_out,     ///< direct dispatches of kernels that return at once where the latch is zero
  chunked,       ///< submissions of growing size, ending when the loop is seen to be done; Decision::guard in each
  predication,   ///< conditional rendering around commands, in a loop around blocks of early_out iterations
  resident,      ///< the whole loop as one kernel of one workgroup
  unroll,        ///< the iterations spelled out without a test, where min equals max
};

/// One row of the table of strategies.
struct StrategyInfo {
  Strategy strategy;
  std::string_view name;  ///< as --strategy takes it
  bool for_branches;      ///< applies to if and switch, too; the others to loops alone
  bool host_free;         ///< no host between submission and result
  bool indirect;          ///< commands take their grids from memory, where kernels write them
};
std::span<const StrategyInfo> strategies();
const StrategyInfo& info(Strategy strategy);
inline std::string_view to_string(Strategy strategy) {
  return info(strategy).name;
}
std::optional<Strategy> parse_strategy(std::string_view name);

}  // namespace wavegate::lowering
