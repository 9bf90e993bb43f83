#include "wavegate/device/vulkan/physical_device.h"

#include <algorithm>
#include <iterator>

#include "wavegate/base/format.h"
#include "wavegate/device/vulkan/structure.h"
#include "wavegate/device/vulkan/vulkan_error.h"

namespace wavegate::device::vulkan {
namespace {

// One row a feature: our name, Vulkan's.
template <typename Chain, typename Features, typename Visit>
void visit_features(Chain& chain, Features& features, Visit&& visit) {
  auto& core = chain.core.features;
  visit(features.robust_buffer_access, core.robustBufferAccess);
  visit(features.shader_int64, core.shaderInt64);
  visit(features.shader_float64, core.shaderFloat64);
  visit(features.shader_int16, core.shaderInt16);
  visit(features.shader_int8, chain.vulkan12.shaderInt8);
  visit(features.shader_float16, chain.vulkan12.shaderFloat16);
  visit(features.storage_buffer_8bit_access, chain.vulkan12.storageBuffer8BitAccess);
  visit(features.storage_buffer_16bit_access, chain.vulkan11.storageBuffer16BitAccess);
  visit(features.scalar_block_layout, chain.vulkan12.scalarBlockLayout);
  visit(features.buffer_device_address, chain.vulkan12.bufferDeviceAddress);
  visit(features.shader_buffer_int64_atomics, chain.vulkan12.shaderBufferInt64Atomics);
  visit(features.shader_shared_int64_atomics, chain.vulkan12.shaderSharedInt64Atomics);
  visit(features.shader_subgroup_extended_types, chain.vulkan12.shaderSubgroupExtendedTypes);
  visit(features.conditional_rendering, chain.conditional.conditionalRendering);
}

uint64_t largest_heap(const VkPhysicalDeviceMemoryProperties& memory) {
  uint64_t device_local = 0, any = 0;
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory.memoryHeaps[i];
    any = std::max<uint64_t>(any, heap.size);
    if (heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) device_local = std::max<uint64_t>(device_local, heap.size);
  }
  return device_local != 0 ? device_local : any;
}

bool at_least(const VkPhysicalDeviceProperties& properties, uint32_t version) {
  return properties.apiVersion >= version;
}

std::string hexadecimal(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += format("{:02x}", bytes[i]);
  return text;
}

}  // namespace

void FeatureChain::link(bool with_conditional_rendering) {
  core.pNext = &vulkan11;
  vulkan11.pNext = &vulkan12;
  vulkan12.pNext = with_conditional_rendering ? &conditional : nullptr;
}

void FeatureChain::set(const EnabledFeatures& wanted) {
  visit_features(*this, wanted, [](bool ours, VkBool32& vulkans) { vulkans = ours ? VK_TRUE : VK_FALSE; });
  vulkan12.vulkanMemoryModel = vulkan12.vulkanMemoryModelDeviceScope = wanted.vulkan_memory_model;
}

EnabledFeatures FeatureChain::get() const {
  EnabledFeatures features;
  visit_features(*this, features, [](bool& ours, VkBool32 vulkans) { ours = vulkans == VK_TRUE; });
  features.vulkan_memory_model = vulkan12.vulkanMemoryModel && vulkan12.vulkanMemoryModelDeviceScope;
  return features;
}

bool PhysicalDevice::has_extension(std::string_view name) const {
  return std::find(extensions.begin(), extensions.end(), name) != extensions.end();
}

Result<PhysicalDevice> inspect(VkPhysicalDevice handle) {
  PhysicalDevice device;
  device.handle = handle;
  vkGetPhysicalDeviceProperties(handle, &device.properties);
  const VkPhysicalDeviceProperties& properties = device.properties;
  if (!at_least(properties, VK_API_VERSION_1_2))
    return unsupported(format("device \"{}\" offers Vulkan {}.{}, and 1.2 is needed; a newer driver may offer it",
                              properties.deviceName, VK_API_VERSION_MAJOR(properties.apiVersion),
                              VK_API_VERSION_MINOR(properties.apiVersion)));

  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, nullptr);
  device.families.resize(count);
  vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, device.families.data());
  if (compute_family(device) == count)
    return unsupported(format("device \"{}\" has no queue that computes; choose another", properties.deviceName));

  WAVEGATE_VULKAN(vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, nullptr), "listing extensions");
  std::vector<VkExtensionProperties> extensions(count);
  WAVEGATE_VULKAN(vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, extensions.data()),
                  "listing extensions");
  for (const VkExtensionProperties& extension : extensions) device.extensions.emplace_back(extension.extensionName);

  vkGetPhysicalDeviceMemoryProperties(handle, &device.memory);

  auto subgroups = structure<VkPhysicalDeviceSubgroupSizeControlProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
  auto maintenance4 =
      structure<VkPhysicalDeviceMaintenance4Properties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES);
  auto all = structure<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  device.vulkan11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  device.vulkan12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  all.pNext = &device.vulkan11;
  device.vulkan11.pNext = &device.vulkan12;
  void** tail = &device.vulkan12.pNext;
  const bool newer = at_least(properties, VK_API_VERSION_1_3);
  if (newer || device.has_extension(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) {
    *tail = &subgroups;
    tail = &subgroups.pNext;
  }
  if (newer || device.has_extension(VK_KHR_MAINTENANCE_4_EXTENSION_NAME)) *tail = &maintenance4;
  vkGetPhysicalDeviceProperties2(handle, &all);
  device.vulkan11.pNext = nullptr;
  device.vulkan12.pNext = nullptr;
  const uint32_t size = device.vulkan11.subgroupSize;
  device.minimum_subgroup_size = subgroups.minSubgroupSize ? subgroups.minSubgroupSize : size;
  device.maximum_subgroup_size = subgroups.maxSubgroupSize ? subgroups.maxSubgroupSize : size;
  device.largest_buffer = device.vulkan11.maxMemoryAllocationSize;
  if (maintenance4.maxBufferSize != 0)
    device.largest_buffer = std::min<uint64_t>(device.largest_buffer, maintenance4.maxBufferSize);
  device.largest_buffer = std::min(device.largest_buffer, largest_heap(device.memory));

  FeatureChain chain;
  chain.link(device.has_extension(VK_EXT_CONDITIONAL_RENDERING_EXTENSION_NAME));
  vkGetPhysicalDeviceFeatures2(handle, &chain.core);
  device.available = chain.get();
  return device;
}

uint32_t compute_family(const PhysicalDevice& device) {
  const auto family = std::find_if(device.families.begin(), device.families.end(), [](const auto& properties) {
    return properties.queueCount > 0 && (properties.queueFlags & VK_QUEUE_COMPUTE_BIT);
  });
  return static_cast<uint32_t>(family - device.families.begin());
}

int rank(const PhysicalDevice& device) {
  constexpr VkPhysicalDeviceType kOrder[] = {VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
                                             VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
                                             VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, VK_PHYSICAL_DEVICE_TYPE_CPU};
  return static_cast<int>(std::find(std::begin(kOrder), std::end(kOrder), device.properties.deviceType) -
                          std::begin(kOrder));
}

namespace {

/// The widths whose denormals a kernel may ask to keep. A device may demand the same of several widths; then none of
/// those is asked for unless all can be, so that every kernel asks for the same.
target::FloatWidths preserved_denormals(const VkPhysicalDeviceVulkan12Properties& properties) {
  target::FloatWidths widths{.f16 = properties.shaderDenormPreserveFloat16 != 0,
                             .f32 = properties.shaderDenormPreserveFloat32 != 0,
                             .f64 = properties.shaderDenormPreserveFloat64 != 0};
  const VkShaderFloatControlsIndependence independence = properties.denormBehaviorIndependence;
  if (independence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL) return widths;
  if (!(widths.f16 && widths.f64)) widths.f16 = widths.f64 = false;
  if (independence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE && !(widths.f16 && widths.f32 && widths.f64))
    widths = {};
  return widths;
}

}  // namespace

target::Profile make_profile(const PhysicalDevice& device, const EnabledFeatures& enabled, uint32_t queue_family) {
  const VkPhysicalDeviceLimits& limits = device.properties.limits;
  target::Profile profile;
  profile.name = device.properties.deviceName;
  profile.backend = "vulkan";
  profile.driver = format("{} {}", device.vulkan12.driverName, device.vulkan12.driverInfo);
  // Mesa's software rasteriser ends a kernel's loops silently (LP_MAX_TGSI_LOOP_ITERATIONS of its shader compiler).
  if (device.vulkan12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE) profile.limits.kernel_loop_iterations = 65'535;
  profile.is_cpu = device.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  profile.subgroup_size = device.vulkan11.subgroupSize;
  profile.minimum_subgroup_size = device.minimum_subgroup_size;
  profile.maximum_subgroup_size = device.maximum_subgroup_size;

  target::Limits& ours = profile.limits;
  std::copy_n(limits.maxComputeWorkGroupCount, 3, ours.grid.begin());
  std::copy_n(limits.maxComputeWorkGroupSize, 3, ours.workgroup_size.begin());
  ours.workgroup_invocations = limits.maxComputeWorkGroupInvocations;
  ours.workgroup_memory = limits.maxComputeSharedMemorySize;
  ours.storage_buffers = std::min(
      {limits.maxPerStageDescriptorStorageBuffers, limits.maxDescriptorSetStorageBuffers, limits.maxPerStageResources});
  ours.immediate_words = limits.maxPushConstantsSize / 4;
  ours.binding_alignment = static_cast<uint32_t>(std::max<VkDeviceSize>(limits.minStorageBufferOffsetAlignment, 4));
  ours.binding_bytes = limits.maxStorageBufferRange;
  ours.buffer_bytes = device.largest_buffer;
  ours.memory_bytes = largest_heap(device.memory);

  constexpr VkSubgroupFeatureFlags kSubgroups = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
                                                VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT |
                                                VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  target::Features& features = profile.features;
  features.int8 = enabled.shader_int8 && enabled.storage_buffer_8bit_access;
  features.int16 = enabled.shader_int16 && enabled.storage_buffer_16bit_access;
  features.int64 = enabled.shader_int64;
  features.float16 = enabled.shader_float16 && enabled.storage_buffer_16bit_access;
  features.float64 = enabled.shader_float64;
  features.int64_atomics =
      enabled.shader_int64 && enabled.shader_buffer_int64_atomics && enabled.shader_shared_int64_atomics;
  features.device_pointers = enabled.buffer_device_address && enabled.shader_int64;
  features.subgroup_operations = (device.vulkan11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
                                 (device.vulkan11.subgroupSupportedOperations & kSubgroups) == kSubgroups;
  features.conditional_rendering = enabled.conditional_rendering;
  features.timestamps = device.families[queue_family].timestampValidBits != 0;
  features.preserves_denormals = preserved_denormals(device.vulkan12);
  features.preserves_special_values = {.f16 = device.vulkan12.shaderSignedZeroInfNanPreserveFloat16 != 0,
                                       .f32 = device.vulkan12.shaderSignedZeroInfNanPreserveFloat32 != 0,
                                       .f64 = device.vulkan12.shaderSignedZeroInfNanPreserveFloat64 != 0};
  return profile;
}

std::string cache_key(const PhysicalDevice& device) {
  return format("{:x}-{:x}-{:x}-{:x}-{}-{}", device.properties.vendorID, device.properties.deviceID,
                device.properties.driverVersion, device.properties.apiVersion,
                hexadecimal(device.vulkan11.driverUUID, VK_UUID_SIZE),
                hexadecimal(device.properties.pipelineCacheUUID, VK_UUID_SIZE));
}

}  // namespace wavegate::device::vulkan
