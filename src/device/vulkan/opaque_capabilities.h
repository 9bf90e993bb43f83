#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "wavegate/base/result.h"
#include "wavegate/device/vulkan/features.h"
#include "wavegate/device/vulkan/physical_device.h"

namespace wavegate::device::vulkan {

/// Refuses an opaque module that asks for what the device was not opened with, so that no driver sees it: a capability
/// whose feature is not enabled or that Wavegate does not know, SPIR-V newer than Vulkan 1.2 takes, or a workgroup size
/// given by ids (LocalSizeId). `unsupported`, by name. What overruns the module is left to check_module().
Result<void> check_capabilities(std::span<const uint32_t> words, const EnabledFeatures& enabled,
                                const PhysicalDevice& device, const std::string& kernel);

}  // namespace wavegate::device::vulkan
