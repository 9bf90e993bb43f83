#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "wavegate/base/result.h"
#include "wavegate/device/device.h"
#include "wavegate/graph/graph.h"
#include "wavegate/target/costs.h"
#include "wavegate/target/profile.h"

namespace wavegate {

/// Measures what commands cost on the device, in a few seconds. `progress`, if given, hears the name of each cost
/// before it is measured. The device should have nothing else to do.
Result<target::Costs> calibrate(device::Device& device, const std::function<void(std::string_view)>& progress = {});

/// How often a graph is run, after a first time that does not count; the quickest run tells what it takes.
inline constexpr int kCalibrationRuns = 7;

/// Microseconds that a run of a graph takes.
using TimeOf = std::function<Result<double>(const graph::Graph&)>;

/// The same with runs that are timed elsewhere. Which graphs it asks for, and in what order, does not depend on what
/// it is told of those before.
Result<target::Costs> calibrate(const target::Profile& profile, const TimeOf& time_of,
                                const std::function<void(std::string_view)>& progress = {});

/// Keeps the costs for devices of this name and driver, in the user's cache directory. Whether they could be kept is
/// not known: a cache only saves time.
void keep_costs(const target::Profile& profile, const target::Costs& costs);

/// The costs that were kept for the device, if any. A file that is damaged or not of this version counts as none.
std::optional<target::Costs> calibrated_costs(const target::Profile& profile);

}  // namespace wavegate
