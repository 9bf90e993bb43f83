#pragma once

#include "wavegate/device/webgpu/gpu.h"
#include "wavegate/target/profile.h"

namespace wavegate::device::webgpu {

/// What the lowering and the emitter decide by. Floats are to be found out.
target::Profile make_profile(const gpu::DeviceInfo& info);

}  // namespace wavegate::device::webgpu
