#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace wavegate::lowering {

/// How a region of control flow runs on a device. The meaning is the program's; a strategy only decides how much it
/// costs, and whether it applies.
enum class Strategy : uint8_t {
  gate,
  fused_gate,
  chained_gate,
  producer,
  early_out,
  chunked,
  predication,
  resident,
  unroll,
};

/// One row of the table of strategies.
struct StrategyInfo {
  Strategy strategy;
  std::string_view name;     ///< as --strategy takes it
  bool for_branches;         ///< applies to if and switch, too; the others to loops alone
  bool host_free;            ///< no host between submission and result
  bool indirect;             ///< commands take their grids from memory, where kernels write them
  std::string_view summary;  ///< half a sentence for people
};
std::span<const StrategyInfo> strategies();
const StrategyInfo& info(Strategy strategy);
inline std::string_view to_string(Strategy strategy) {
  return info(strategy).name;
}
std::optional<Strategy> parse_strategy(std::string_view name);

}  // namespace wavegate::lowering
