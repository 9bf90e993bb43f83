#include "wavegate/target/typical_costs.h"

namespace wavegate::target {
namespace {

/// Of a GPU behind WebGPU as a page gets it: the API checks the grid of every indirect dispatch with a dispatch of
/// its own, and the way to the device leads through another process.
constexpr Costs kWebGpu = {.dispatch = 3.5,
                           .scalar_step = 3.5,
                           .indirect = 184.0,
                           .indirect_empty = 171.0,
                           .workgroup_latch = 0.0005,
                           .workgroup_out = 0.0006,
                           .conditional_begin = 184.0,
                           .conditional_on = 0.0,
                           .conditional_off = 171.0,
                           .resident_step = 0.5,
                           .resident_invocation = 0.0005,
                           .resident_idle = 3.5,
                           .submission = 100.0,
                           .round_trip = 470.0};

}  // namespace

Costs typical_costs(const Profile& profile) {
  if (profile.is_cpu) return Costs::of_cpu();
  return profile.features.checks_indirect ? kWebGpu : Costs{};
}

}  // namespace wavegate::target
