#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/vulkan/features.h"
#include "wavegate/device/vulkan/structure.h"
#include "wavegate/target/profile.h"

namespace wavegate::device::vulkan {

/// The structures that ask for and enable features, chained. Call link() where the address is final, then set() or a
/// query and get().
struct FeatureChain {
  VkPhysicalDeviceFeatures2 core = structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  VkPhysicalDeviceVulkan11Features vulkan11 =
      structure<VkPhysicalDeviceVulkan11Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  VkPhysicalDeviceVulkan12Features vulkan12 =
      structure<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  VkPhysicalDeviceConditionalRenderingFeaturesEXT conditional =
      structure<VkPhysicalDeviceConditionalRenderingFeaturesEXT>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT);
  /// A structure of an extension that a device lacks must not be in the chain.
  void link(bool with_conditional_rendering);
  void set(const EnabledFeatures& wanted);
  EnabledFeatures get() const;
};

/// What a driver says of a device: read once.
struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceVulkan11Properties vulkan11{};
  VkPhysicalDeviceVulkan12Properties vulkan12{};
  VkPhysicalDeviceMemoryProperties memory{};
  uint32_t minimum_subgroup_size = 1;
  uint32_t maximum_subgroup_size = 1;
  uint64_t largest_buffer = 0;
  std::vector<VkQueueFamilyProperties> families;
  std::vector<std::string> extensions;
  EnabledFeatures available;

  bool has_extension(std::string_view name) const;
};

/// Refuses, by name, a device older than Vulkan 1.2 or one without a queue that computes.
Result<PhysicalDevice> inspect(VkPhysicalDevice device);

/// The first family that computes. Precondition: inspect() accepted the device.
uint32_t compute_family(const PhysicalDevice& device);

/// Smaller is better: discrete GPU, integrated, virtual, CPU, other.
int rank(const PhysicalDevice& device);

/// The profile but for its float behaviour, which must be probed.
target::Profile make_profile(const PhysicalDevice& device, const EnabledFeatures& enabled, uint32_t queue_family);

/// A name for files about this device with this driver, of letters, digits and '-'.
std::string cache_key(const PhysicalDevice& device);

}  // namespace wavegate::device::vulkan
