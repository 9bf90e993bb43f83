#include "wavegate/target/costs.h"

namespace wavegate::target {

std::span<const CostInfo> cost_table() {
  static constexpr CostInfo kTable[] = {
      {"dispatch", "a dispatch that depends on the one before it", &Costs::dispatch},
      {"scalar_step", "a kernel of one invocation", &Costs::scalar_step},
      {"indirect", "a dispatch whose grid was just written", &Costs::indirect},
      {"indirect_empty", "the same with an empty grid", &Costs::indirect_empty},
      {"workgroup_latch", "what testing a latch adds to a workgroup", &Costs::workgroup_latch},
      {"workgroup_out", "a workgroup that returns at once", &Costs::workgroup_out},
      {"conditional_begin", "a kernel that writes what conditional rendering then reads", &Costs::conditional_begin},
      {"conditional_on", "what conditional rendering adds to a dispatch that it lets through", &Costs::conditional_on},
      {"conditional_off", "a dispatch that conditional rendering leaves out", &Costs::conditional_off},
      {"resident_step", "a step within a kernel of one workgroup", &Costs::resident_step},
      {"resident_invocation", "an invocation of such a step", &Costs::resident_invocation},
      {"resident_idle", "such a kernel that finds nothing to do", &Costs::resident_idle},
      {"submission", "a chunk of commands handed to the device", &Costs::submission},
      {"round_trip", "submitting, and waiting for the result", &Costs::round_trip},
  };
  return kTable;
}

}  // namespace wavegate::target
