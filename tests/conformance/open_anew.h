#pragma once

#include <memory>
#include <string>

#include "wavegate/device/device.h"

namespace wavegate::conformance {

/// A device under test that is opened for the caller alone.
Result<std::shared_ptr<device::Device>> open_anew(const std::string& name);

}  // namespace wavegate::conformance
