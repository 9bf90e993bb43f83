#include "wavegate/device/vulkan/instance.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "wavegate/device/vulkan/structure.h"
#include "wavegate/device/vulkan/vulkan_error.h"

namespace wavegate::device::vulkan {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

Result<void> check_validation_layer() {
  uint32_t count = 0;
  WAVEGATE_VULKAN(vkEnumerateInstanceLayerProperties(&count, nullptr), "listing the Vulkan layers");
  std::vector<VkLayerProperties> layers(count);
  WAVEGATE_VULKAN(vkEnumerateInstanceLayerProperties(&count, layers.data()), "listing the Vulkan layers");
  const bool found = std::any_of(layers.begin(), layers.end(), [](const VkLayerProperties& layer) {
    return std::string_view(layer.layerName) == kValidationLayer;
  });
  if (!found)
    return device_error(
        "validation was asked for, but VK_LAYER_KHRONOS_validation is not installed; install the Debian package "
        "vulkan-validationlayers or run without validation");
  return {};
}

}  // namespace

VKAPI_ATTR VkBool32 VKAPI_CALL Instance::on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                    VkDebugUtilsMessageTypeFlagsEXT,
                                                    const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  static_cast<Instance*>(user)->messages_++;
  std::fprintf(stderr, "vulkan validation: %s\n", data->pMessage);
  return VK_FALSE;
}

Result<std::unique_ptr<Instance>> Instance::create(const InstanceOptions& options) {
  std::unique_ptr<Instance> instance(new Instance);

  auto application = structure<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.pApplicationName = "wavegate";
  application.pEngineName = "wavegate";
  application.apiVersion = VK_API_VERSION_1_2;
  auto info = structure<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;

  auto messenger =
      structure<VkDebugUtilsMessengerCreateInfoEXT>(VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  messenger.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  messenger.pfnUserCallback = on_message;
  messenger.pUserData = instance.get();
  const VkValidationFeatureEnableEXT synchronisation = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  auto features = structure<VkValidationFeaturesEXT>(VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT);
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = &synchronisation;
  const char* layers[] = {kValidationLayer};
  const char* extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
  if (options.validation) {
    WAVEGATE_CHECK(check_validation_layer());
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = layers;
    info.enabledExtensionCount = options.synchronisation_validation ? 2 : 1;
    info.ppEnabledExtensionNames = extensions;
    info.pNext = &messenger;
    if (options.synchronisation_validation) messenger.pNext = &features;
  }
  WAVEGATE_VULKAN(vkCreateInstance(&info, nullptr, &instance->handle_), "starting Vulkan");

  if (options.validation) {
    messenger.pNext = nullptr;
    const auto create_messenger = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance->handle_, "vkCreateDebugUtilsMessengerEXT"));
    WAVEGATE_VULKAN(create_messenger(instance->handle_, &messenger, nullptr, &instance->messenger_),
                    "listening to the validation layer");
  }
  return instance;
}

Instance::~Instance() {
  if (messenger_ != VK_NULL_HANDLE) {
    const auto destroy_messenger = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(handle_, "vkDestroyDebugUtilsMessengerEXT"));
    destroy_messenger(handle_, messenger_, nullptr);
  }
  if (handle_ != VK_NULL_HANDLE) vkDestroyInstance(handle_, nullptr);
}

Result<std::vector<VkPhysicalDevice>> Instance::physical_devices() const {
  uint32_t count = 0;
  WAVEGATE_VULKAN(vkEnumeratePhysicalDevices(handle_, &count, nullptr), "listing the Vulkan devices");
  std::vector<VkPhysicalDevice> devices(count);
  WAVEGATE_VULKAN(vkEnumeratePhysicalDevices(handle_, &count, devices.data()), "listing the Vulkan devices");
  devices.resize(count);
  return devices;
}

}  // namespace wavegate::device::vulkan
