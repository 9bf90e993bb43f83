#include <vulkan/vk_layer.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

/// A Vulkan layer for tests. Dawn asks of every driver that shaders can choose from arrays of images by an index that
/// they compute. Mesa's software driver of Debian 12 cannot, and is refused, though no compute shader of ours holds an
/// image. The layer claims these features where the driver lacks them, and does not ask the driver for what it lacks.
namespace {

constexpr VkBool32 VkPhysicalDeviceFeatures::*kClaimed[] = {
    &VkPhysicalDeviceFeatures::shaderSampledImageArrayDynamicIndexing,
    &VkPhysicalDeviceFeatures::shaderStorageImageArrayDynamicIndexing,
};

/// What comes next below this layer, by the loader's table, to which an instance and its physical devices, and a device
/// and its queues, point with their first word. What has ended stays until the loader uses its table's address again.
template <typename Next>
class Below {
 public:
  void set(const void* object, Next next) {
    const std::scoped_lock lock(mutex_);
    next_[table(object)] = next;
  }
  Next of(const void* object) {
    const std::scoped_lock lock(mutex_);
    return next_.at(table(object));
  }

 private:
  static const void* table(const void* object) {
    const void* first = nullptr;
    std::memcpy(&first, object, sizeof first);
    return first;
  }
  std::mutex mutex_;
  std::map<const void*, Next> next_;
};

/// Its functions are those of what comes next at the time of its creation: later `find` would lead back to this layer.
struct Instance {
  VkInstance handle = nullptr;
  PFN_vkGetInstanceProcAddr find = nullptr;
  PFN_vkGetPhysicalDeviceFeatures get_features = nullptr;
  PFN_vkGetPhysicalDeviceFeatures2 get_features2 = nullptr;  ///< null in Vulkan 1.0 without the extension
};
template <typename Function>
void find(const Instance& instance, const char* name, Function& function) {
  if (function == nullptr) function = reinterpret_cast<Function>(instance.find(instance.handle, name));
}
Below<Instance> instances;
Below<PFN_vkGetDeviceProcAddr> devices;

/// The loader's link to what comes next: among what extends the arguments of a creation.
template <typename Link>
Link& link_of(const void* extension, VkStructureType type) {
  for (auto* each = static_cast<const VkBaseInStructure*>(extension);; each = each->pNext) {
    const auto* link = reinterpret_cast<const Link*>(each);
    if (each->sType == type && link->function == VK_LAYER_LINK_INFO) return const_cast<Link&>(*link);
  }
}

/// The features that are asked for in the extensions of a device's creation, or null.
VkPhysicalDeviceFeatures* extended_features(const void* extension) {
  for (auto* each = static_cast<const VkBaseInStructure*>(extension); each != nullptr; each = each->pNext)
    if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
      return &const_cast<VkPhysicalDeviceFeatures2*>(reinterpret_cast<const VkPhysicalDeviceFeatures2*>(each))
                  ->features;
  return nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                                               VkInstance* made) {
  auto& link = link_of<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  const PFN_vkGetInstanceProcAddr find_next = link.u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link.u.pLayerInfo = link.u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(find_next(nullptr, "vkCreateInstance"));
  const VkResult result = create(info, allocator, made);
  if (result != VK_SUCCESS) return result;
  Instance instance{*made, find_next};
  find(instance, "vkGetPhysicalDeviceFeatures", instance.get_features);
  find(instance, "vkGetPhysicalDeviceFeatures2", instance.get_features2);
  find(instance, "vkGetPhysicalDeviceFeatures2KHR", instance.get_features2);
  instances.set(*made, instance);
  return VK_SUCCESS;
}

VkPhysicalDeviceFeatures features_of_driver(VkPhysicalDevice physical) {
  VkPhysicalDeviceFeatures features{};
  instances.of(physical).get_features(physical, &features);
  return features;
}

void claim(VkPhysicalDeviceFeatures& features) {
  for (const auto feature : kClaimed) features.*feature = VK_TRUE;
}

VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures* features) {
  *features = features_of_driver(physical);
  claim(*features);
}

VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2* features) {
  instances.of(physical).get_features2(physical, features);
  claim(features->features);
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkDevice* made) {
  auto& link = link_of<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  const VkLayerDeviceLink next = *link.u.pLayerInfo;
  link.u.pLayerInfo = next.pNext;

  // The features lie in memory of the application, which gets them back as they were.
  auto* asked = const_cast<VkPhysicalDeviceFeatures*>(info->pEnabledFeatures);
  if (asked == nullptr) asked = extended_features(info->pNext);
  VkPhysicalDeviceFeatures none{};
  if (asked == nullptr) asked = &none;
  const VkPhysicalDeviceFeatures before = *asked;
  const VkPhysicalDeviceFeatures has = features_of_driver(physical);
  for (const auto feature : kClaimed)
    if (has.*feature == VK_FALSE) asked->*feature = VK_FALSE;

  const auto create = reinterpret_cast<PFN_vkCreateDevice>(
      next.pfnNextGetInstanceProcAddr(instances.of(physical).handle, "vkCreateDevice"));
  const VkResult result = create(physical, info, allocator, made);
  *asked = before;
  if (result == VK_SUCCESS) devices.set(*made, next.pfnNextGetDeviceProcAddr);
  return result;
}

PFN_vkVoidFunction find_of_device(VkDevice device, const char* name);
PFN_vkVoidFunction find_of_instance(VkInstance instance, const char* name);

struct Own {
  std::string_view name;
  PFN_vkVoidFunction function;
};
template <typename Function>
Own own(std::string_view name, Function* function) {
  return {name, reinterpret_cast<PFN_vkVoidFunction>(function)};
}
const Own kOwn[] = {
    own("vkGetInstanceProcAddr", find_of_instance),
    own("vkGetDeviceProcAddr", find_of_device),
    own("vkCreateInstance", create_instance),
    own("vkCreateDevice", create_device),
    own("vkGetPhysicalDeviceFeatures", get_features),
    own("vkGetPhysicalDeviceFeatures2", get_features2),
    own("vkGetPhysicalDeviceFeatures2KHR", get_features2),
};

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_of_device(VkDevice device, const char* name) {
  if (name == std::string_view("vkGetDeviceProcAddr")) return reinterpret_cast<PFN_vkVoidFunction>(find_of_device);
  return devices.of(device)(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_of_instance(VkInstance instance, const char* name) {
  // What the instance does not have, such as a function of a later version, the layer does not add.
  const PFN_vkVoidFunction below = instance == nullptr ? nullptr : instances.of(instance).find(instance, name);
  for (const Own& each : kOwn)
    if (each.name == name && (instance == nullptr || below != nullptr)) return each.function;
  return below;
}

}  // namespace

extern "C" VK_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* agreed) {
  if (agreed->loaderLayerInterfaceVersion < CURRENT_LOADER_LAYER_INTERFACE_VERSION)
    return VK_ERROR_INITIALIZATION_FAILED;
  agreed->loaderLayerInterfaceVersion = CURRENT_LOADER_LAYER_INTERFACE_VERSION;
  agreed->pfnGetInstanceProcAddr = find_of_instance;
  agreed->pfnGetDeviceProcAddr = find_of_device;
  agreed->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
