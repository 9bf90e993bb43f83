#pragma once

#include <vulkan/vulkan.h>

#include <utility>

namespace wavegate::device::vulkan {

/// Owns one handle made from a VkDevice and destroys it with `Destroy`.
template <typename Handle, auto Destroy>
class Owned {
 public:
  Owned() = default;
  Owned(VkDevice device, Handle handle) : device_(device), handle_(handle) {}
  Owned(Owned&& other) noexcept
      : device_(other.device_), handle_(std::exchange(other.handle_, Handle{VK_NULL_HANDLE})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != VK_NULL_HANDLE) Destroy(device_, handle_, nullptr);
  }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != VK_NULL_HANDLE; }

 private:
  VkDevice device_ = VK_NULL_HANDLE;
  Handle handle_ = VK_NULL_HANDLE;
};

using OwnedBuffer = Owned<VkBuffer, vkDestroyBuffer>;
using OwnedMemory = Owned<VkDeviceMemory, vkFreeMemory>;
using OwnedCommandPool = Owned<VkCommandPool, vkDestroyCommandPool>;
using OwnedDescriptorPool = Owned<VkDescriptorPool, vkDestroyDescriptorPool>;
using OwnedFence = Owned<VkFence, vkDestroyFence>;
using OwnedPipeline = Owned<VkPipeline, vkDestroyPipeline>;
using OwnedPipelineCache = Owned<VkPipelineCache, vkDestroyPipelineCache>;
using OwnedPipelineLayout = Owned<VkPipelineLayout, vkDestroyPipelineLayout>;
using OwnedQueryPool = Owned<VkQueryPool, vkDestroyQueryPool>;
using OwnedSetLayout = Owned<VkDescriptorSetLayout, vkDestroyDescriptorSetLayout>;
using OwnedShaderModule = Owned<VkShaderModule, vkDestroyShaderModule>;

}  // namespace wavegate::device::vulkan
