#pragma once

#include <vulkan/vulkan.h>

namespace wavegate::device::vulkan {

/// A Vulkan structure of zeros but for its type.
template <typename T>
constexpr T structure(VkStructureType type) {
  T result{};
  result.sType = type;
  return result;
}

}  // namespace wavegate::device::vulkan
