#pragma once

#include <functional>
#include <memory>

#include "wavegate/base/result.h"
#include "wavegate/device/device.h"
#include "wavegate/target/costs.h"

namespace wavegate::web {

/// Measures what commands cost on a WebGPU device and keeps it, as calibrate() and keep_costs() do, without waiting:
/// each run is timed from its submission until the browser tells that it has ended.
void calibrate_later(std::shared_ptr<device::Device> device, std::function<void(Result<target::Costs>)> done);

}  // namespace wavegate::web
