#pragma once

#include <span>
#include <string_view>

namespace wavegate::target {

/// What commands cost on a device, in microseconds, in a chain of dependent ones. Measured once a device by
/// `wavegate calibrate`; until then the defaults, which are typical of the kind of device.
struct Costs {
  double dispatch = 1.9;                ///< a dispatch of one workgroup that depends on the one before it
  double scalar_step = 1.9;             ///< a kernel of one invocation that depends on the command before it
  double indirect = 3.0;                ///< a dispatch whose grid a kernel just wrote
  double indirect_empty = 2.7;          ///< the same with an empty grid
  double workgroup_latch = 0.0005;      ///< what testing a latch adds to a workgroup
  double workgroup_out = 0.0006;        ///< a workgroup that returns at once, beyond the first
  double conditional_begin = 8.0;       ///< a kernel that writes what conditional rendering then reads
  double conditional_on = 0.1;          ///< what conditional rendering adds to a dispatch that it lets through
  double conditional_off = 2.7;         ///< a dispatch that conditional rendering leaves out, with its barrier
  double resident_step = 0.4;           ///< a step of one workgroup within a kernel, with its barrier
  double resident_invocation = 0.0005;  ///< an invocation of such a step
  double resident_idle = 1.9;           ///< such a kernel, of 256 invocations, that finds nothing to do
  double submission = 12.0;  ///< handing a chunk of commands to the device, which the device sees between two
  double round_trip = 45.0;  ///< submitting, and waiting for the result
  bool measured = false;

  /// Of a software device, where work costs and dependence does not.
  static Costs of_cpu() {
    return {.dispatch = 28.0,
            .scalar_step = 22.0,
            .indirect = 28.0,
            .indirect_empty = 0.25,
            .workgroup_latch = 0.0,
            .workgroup_out = 0.1,
            .conditional_begin = 22.0,
            .conditional_on = 0.1,
            .conditional_off = 0.06,
            .resident_step = 3.0,
            .resident_invocation = 0.005,
            .resident_idle = 40.0,
            .submission = 60.0,
            .round_trip = 60.0};
  }
};

/// One row of the table of costs.
struct CostInfo {
  std::string_view key;      ///< for machines
  std::string_view meaning;  ///< for people
  double Costs::*cost;
};
std::span<const CostInfo> cost_table();

}  // namespace wavegate::target
