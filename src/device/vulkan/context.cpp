#include "wavegate/device/vulkan/context.h"

#include "wavegate/device/vulkan/pipelines.h"

namespace wavegate::device::vulkan {

Context::~Context() {
  pipelines.reset();
  if (owns_device) vkDestroyDevice(device, nullptr);
}

}  // namespace wavegate::device::vulkan
