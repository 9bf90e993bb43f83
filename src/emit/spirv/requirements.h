#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/target/profile.h"

namespace wavegate::emit::spirv {

/// Checks that a device can run a kernel: its limits (workgroup size and memory, storage buffers, launch words), the
/// types and operations it offers, and what Vulkan can express at all. The error names the kernel, the operation or
/// object, and the device.
Result<void> check_requirements(const kir::Kernel& kernel, const target::Profile& profile);

}  // namespace wavegate::emit::spirv
