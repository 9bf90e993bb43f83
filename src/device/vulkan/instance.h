#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "wavegate/base/result.h"

namespace wavegate::device::vulkan {

struct InstanceOptions {
  bool validation = false;
  bool synchronisation_validation = false;
};

/// A VkInstance of Vulkan 1.2 of our own, with the validation layer if it was asked for.
class Instance {
 public:
  /// A device error that says what to install if there is no driver or no validation layer.
  static Result<std::unique_ptr<Instance>> create(const InstanceOptions& options);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  VkInstance handle() const { return handle_; }
  Result<std::vector<VkPhysicalDevice>> physical_devices() const;
  uint64_t validation_messages() const { return messages_; }

 private:
  Instance() = default;
  static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                   VkDebugUtilsMessageTypeFlagsEXT,
                                                   const VkDebugUtilsMessengerCallbackDataEXT*, void*);

  VkInstance handle_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::atomic<uint64_t> messages_ = 0;
};

}  // namespace wavegate::device::vulkan
