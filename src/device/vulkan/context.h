#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <memory>

#include "wavegate/device/cache_file.h"
#include "wavegate/device/device.h"
#include "wavegate/device/vulkan/features.h"
#include "wavegate/device/vulkan/instance.h"
#include "wavegate/device/vulkan/owned.h"
#include "wavegate/device/vulkan/physical_device.h"
#include "wavegate/target/profile.h"

namespace wavegate::device::vulkan {

class PipelineStore;

/// What everything made on one device shares. Lives in the Device, which outlives executables and buffers.
struct Context {
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  std::unique_ptr<Instance> instance;  ///< null for an adopted device
  PhysicalDevice physical;
  EnabledFeatures enabled;
  VkDevice device = VK_NULL_HANDLE;
  bool owns_device = false;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t queue_family = 0;
  // Null unless conditional rendering is enabled.
  PFN_vkCmdBeginConditionalRenderingEXT begin_conditional_rendering = nullptr;
  PFN_vkCmdEndConditionalRenderingEXT end_conditional_rendering = nullptr;
  CacheDirectory cache;
  target::Profile profile;
  Counters counters;
  uint32_t allocations = 0;  ///< live VkDeviceMemory of ours, against maxMemoryAllocationCount
  std::unique_ptr<PipelineStore> pipelines;
};

}  // namespace wavegate::device::vulkan
