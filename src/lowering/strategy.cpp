#include "wavegate/lowering/strategy.h"

#include <algorithm>

namespace wavegate::lowering {
namespace {

constexpr StrategyInfo kTable[] = {
    {Strategy::gate, "gate", true, true, true},
    {Strategy::fused_gate, "fused-gate", true, true, true},
    {Strategy::chained_gate, "chained-gate", false, true, true},
    {Strategy::producer, "producer", true, true, true},
    {Strategy::early_out, "early-out", true, true, false},
    {Strategy::chunked, "chunked", false, false, false},
    {Strategy::predication, "predication", true, true, false},
    {Strategy::resident, "resident", false, true, false},
    {Strategy::unroll, "unroll", false, true, false},
};

}  // namespace

std::span<const StrategyInfo> strategies() {
  return kTable;
}

const StrategyInfo& info(Strategy strategy) {
  return kTable[static_cast<uint8_t>(strategy)];
}

std::optional<Strategy> parse_strategy(std::string_view name) {
  const auto row = std::ranges::find(kTable, name, &StrategyInfo::name);
  return row == std::end(kTable) ? std::nullopt : std::optional(row->strategy);
}

}  // namespace wavegate::lowering
