#include "wavegate/lowering/strategy.h"

#include <algorithm>

namespace wavegate::lowering {
namespace {

// clang-format off
constexpr StrategyInfo kTable[] = {
    {Strategy::gate, "gate", true, true, true,
     "the baseline: before every command a kernel writes its indirect grid"},
    {Strategy::fused_gate, "fused-gate", true, true, true,
     "the kernel that takes the latch writes the indirect grids of the whole region"},
    {Strategy::chained_gate, "chained-gate", false, true, true,
     "as fused-gate, and the gate of the next iteration is gated itself, so that a loop that is done stops paying"},
    {Strategy::producer, "producer", true, true, true,
     "as fused-gate, written by the tail of the kernel that computes the predicate"},
    {Strategy::early_out, "early-out", true, true, false,
     "direct dispatches of kernels that return at once where the latch is zero"},
    {Strategy::chunked, "chunked", false, false, false,
     "iterations in submissions of growing size, which end when the loop is seen to be done; each is early-out, or gated,\n     or in blocks under conditional rendering, whichever costs least"},
    {Strategy::predication, "predication", true, true, false,
     "conditional rendering around commands, in a loop around chunks of early-out iterations"},
    {Strategy::resident, "resident", false, true, false,
     "the whole loop as one kernel of one workgroup"},
    {Strategy::unroll, "unroll", false, true, false,
     "the iterations spelled out without a test, where min equals max"},
};
// clang-format on

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
