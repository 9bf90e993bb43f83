#pragma once

#include <vulkan/vulkan.h>

#include <string>
#include <string_view>

#include "wavegate/base/error.h"

namespace wavegate::device::vulkan {

/// The device error for a failed call: what was attempted, the result's Vulkan name, and what can be done about it.
Error vulkan_error(VkResult result, std::string_view attempted);

/// "VK_ERROR_DEVICE_LOST", or the number of an unknown one.
std::string result_name(VkResult result);

}  // namespace wavegate::device::vulkan

/// `WAVEGATE_VULKAN(vkCall(...), "what was attempted")` returns the error to the caller, or goes on.
#define WAVEGATE_VULKAN(call, attempted)                                              \
  do {                                                                                \
    const VkResult wavegate_vk_result = (call);                                       \
    if (wavegate_vk_result != VK_SUCCESS)                                             \
      return ::wavegate::device::vulkan::vulkan_error(wavegate_vk_result, attempted); \
  } while (false)
