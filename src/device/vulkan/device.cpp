#include "wavegate/device/vulkan/device.h"

#include <vulkan/vulkan.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "wavegate/base/format.h"
#include "wavegate/device/check.h"
#include "wavegate/device/probe.h"
#include "wavegate/device/vulkan/commands.h"
#include "wavegate/device/vulkan/context.h"
#include "wavegate/device/vulkan/executable.h"
#include "wavegate/device/vulkan/instance.h"
#include "wavegate/device/vulkan/memory.h"
#include "wavegate/device/vulkan/physical_device.h"
#include "wavegate/device/vulkan/pipelines.h"
#include "wavegate/device/vulkan/structure.h"
#include "wavegate/device/vulkan/vulkan_error.h"

namespace wavegate::device::vulkan {
namespace {

class VulkanDevice final : public Device {
 public:
  const target::Profile& profile() const override { return context_.profile; }
  const Counters& counters() const override { return context_.counters; }

  Result<std::unique_ptr<Executable>> load(std::shared_ptr<const graph::Graph> graph) override {
    if (!graph) return invalid_input("there is no graph to load");
    WAVEGATE_CHECK(graph::verify(*graph));
    WAVEGATE_CHECK(check_graph(*graph, context_.profile));
    WAVEGATE_TRY(std::unique_ptr<Executable> executable, VulkanExecutable::load(context_, std::move(graph)));
    return executable;
  }

  Result<std::shared_ptr<Buffer>> allocate(uint64_t bytes) override {
    const BufferRequest request{"external memory", bytes};
    WAVEGATE_TRY(DeviceBuffers memory, create_device_buffers(context_, {&request, 1}, "allocate"));
    const VkBuffer handle = memory.buffers.front().get();
    WAVEGATE_CHECK(run_once(context_, "zeroing new memory",
                            [&](VkCommandBuffer commands) { vkCmdFillBuffer(commands, handle, 0, VK_WHOLE_SIZE, 0); }));
    return std::make_shared<MemoryBuffer>(context_, std::move(memory), bytes);
  }

  Context& context() { return context_; }
  const Context& context() const { return context_; }

 private:
  Context context_;
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

CacheDirectory directory_of(const Cache& cache) {
  if (!cache.enabled) return {};
  return cache.directory.empty() ? CacheDirectory::standard() : CacheDirectory(cache.directory);
}

Error no_usable_device(const std::vector<Error>& refused) {
  std::string reasons;
  for (const Error& error : refused) reasons += format("; {}", error.message);
  return device_error(
      format("there is no usable Vulkan device{}; install the GPU's Vulkan driver, or the Debian package "
             "mesa-vulkan-drivers, which also has one for the CPU",
             reasons));
}

/// The usable devices, best first. None at all is a device error that says what to install. Appends to `refused` why
/// others are not usable.
Result<std::vector<PhysicalDevice>> usable_devices(const Instance& instance, std::vector<Error>& refused) {
  WAVEGATE_TRY(const std::vector<VkPhysicalDevice> handles, instance.physical_devices());
  std::vector<PhysicalDevice> devices;
  for (VkPhysicalDevice handle : handles) {
    auto device = inspect(handle);
    if (device.ok())
      devices.push_back(std::move(device).value());
    else
      refused.push_back(device.error());
  }
  if (devices.empty()) return no_usable_device(refused);
  std::stable_sort(devices.begin(), devices.end(),
                   [](const PhysicalDevice& a, const PhysicalDevice& b) { return rank(a) < rank(b); });
  return devices;
}

Result<PhysicalDevice> choose(std::vector<PhysicalDevice> devices, const std::string& name) {
  const std::string wanted = lower(name);
  if (wanted.empty() || wanted == "vulkan") return std::move(devices.front());
  std::string names;
  for (PhysicalDevice& device : devices) {
    if (lower(device.properties.deviceName).find(wanted) != std::string::npos) return std::move(device);
    names += format("{}\"{}\"", names.empty() ? "" : ", ", device.properties.deviceName);
  }
  return device_error(format("no Vulkan device's name contains \"{}\"; there are: {}", name, names));
}

Result<void> create_logical_device(Context& context) {
  context.queue_family = compute_family(context.physical);
  context.enabled = context.physical.available;
  const float priority = 1;
  auto queue = structure<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = context.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  FeatureChain features;
  features.link(context.enabled.conditional_rendering);
  features.set(context.enabled);
  std::vector<const char*> extensions;
  if (context.enabled.conditional_rendering) extensions.push_back(VK_EXT_CONDITIONAL_RENDERING_EXTENSION_NAME);
  // A driver over another API must be told that its gaps are known (VUID-VkDeviceCreateInfo-pProperties-04451).
  if (context.physical.has_extension("VK_KHR_portability_subset")) extensions.push_back("VK_KHR_portability_subset");
  auto info = structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  info.pNext = &features.core;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  WAVEGATE_VULKAN(vkCreateDevice(context.physical.handle, &info, nullptr, &context.device),
                  format("opening device \"{}\"", context.physical.properties.deviceName));
  context.owns_device = true;
  vkGetDeviceQueue(context.device, context.queue_family, 0, &context.queue);
  return {};
}

/// The commands of an extension are not linked to, but asked for.
Result<void> find_commands(Context& context) {
  if (!context.enabled.conditional_rendering) return {};
  const auto find = [&](const char* name) { return vkGetDeviceProcAddr(context.device, name); };
  context.begin_conditional_rendering =
      reinterpret_cast<PFN_vkCmdBeginConditionalRenderingEXT>(find("vkCmdBeginConditionalRenderingEXT"));
  context.end_conditional_rendering =
      reinterpret_cast<PFN_vkCmdEndConditionalRenderingEXT>(find("vkCmdEndConditionalRenderingEXT"));
  if (context.begin_conditional_rendering && context.end_conditional_rendering) return {};
  return invalid_input(
      format("device \"{}\" does not have the commands of VK_EXT_conditional_rendering; enable the "
             "extension with the feature, or leave the feature out",
             context.physical.properties.deviceName));
}

/// Fills in what depends on the device being there: pipelines and the profile, probed or from the cache.
Result<void> finish(VulkanDevice& device, const Cache& cache) {
  Context& context = device.context();
  context.cache = directory_of(cache);
  context.profile = make_profile(context.physical, context.enabled, context.queue_family);
  WAVEGATE_CHECK(find_commands(context));
  WAVEGATE_TRY(context.pipelines, PipelineStore::create(context));

  // Whether f64 was asked about decides the answers, and an application may have left it off.
  const std::string file =
      format("{}.floats{}", cache_key(context.physical), context.profile.features.float64 ? "64" : "32");
  if (const auto bytes = context.cache.read(file)) {
    if (const auto floats = parse_floats(*bytes)) {
      context.profile.floats = *floats;
      return {};
    }
  }
  context.profile.floats = native_floats();
  auto floats = probe_floats(device);
  if (!floats.ok())
    return device_error(
        format("finding out what floats do on \"{}\": {}", context.profile.name, floats.error().message));
  context.profile.floats = *floats;
  context.cache.write(file, serialise(*floats));
  context.counters = {};
  return {};
}

Result<std::unique_ptr<Device>> open_on(std::unique_ptr<Instance> instance, PhysicalDevice physical,
                                        const Cache& cache) {
  auto device = std::make_unique<VulkanDevice>();
  device->context().instance = std::move(instance);
  device->context().physical = std::move(physical);
  WAVEGATE_CHECK(create_logical_device(device->context()));
  WAVEGATE_CHECK(finish(*device, cache));
  return std::unique_ptr<Device>(std::move(device));
}

bool validation_wanted(const Options& options) {
  const char* variable = std::getenv("WAVEGATE_VALIDATION");
  return options.validation || (variable && std::string_view(variable) == "1");
}

}  // namespace

Result<std::vector<target::Profile>> list_devices(const Cache& cache, std::vector<Error>* skipped) {
  std::vector<Error> refused;
  WAVEGATE_TRY(const std::unique_ptr<Instance> instance, Instance::create({}));
  WAVEGATE_TRY(const std::vector<PhysicalDevice> devices, usable_devices(*instance, refused));
  std::vector<target::Profile> profiles;
  for (const PhysicalDevice& physical : devices) {
    const auto device = open_on(nullptr, physical, cache);
    if (device.ok())
      profiles.push_back((*device)->profile());
    else
      refused.push_back(device_error(
          format("device \"{}\" cannot be opened: {}", physical.properties.deviceName, device.error().message)));
  }
  if (profiles.empty()) return no_usable_device(refused);
  if (skipped) *skipped = std::move(refused);
  return profiles;
}

Result<std::unique_ptr<Device>> open(const Options& options) {
  InstanceOptions instance_options;
  instance_options.validation = validation_wanted(options);
  instance_options.synchronisation_validation = instance_options.validation && options.synchronisation_validation;
  WAVEGATE_TRY(std::unique_ptr<Instance> instance, Instance::create(instance_options));
  std::vector<Error> refused;
  WAVEGATE_TRY(std::vector<PhysicalDevice> devices, usable_devices(*instance, refused));
  WAVEGATE_TRY(PhysicalDevice physical, choose(std::move(devices), options.name));
  return open_on(std::move(instance), std::move(physical), options.cache);
}

Result<std::unique_ptr<Device>> adopt(const AdoptedDevice& adopted) {
  if (!adopted.instance || !adopted.physical_device || !adopted.device || !adopted.queue)
    return invalid_input("an adopted device needs its instance, physical device, device and queue; one is null");
  auto device = std::make_unique<VulkanDevice>();
  Context& context = device->context();
  WAVEGATE_TRY(context.physical, inspect(adopted.physical_device));
  if (adopted.queue_family >= context.physical.families.size() ||
      !(context.physical.families[adopted.queue_family].queueFlags & VK_QUEUE_COMPUTE_BIT))
    return invalid_input(format("queue family {} of \"{}\" does not compute; adopt a queue of one that does",
                                adopted.queue_family, context.physical.properties.deviceName));
  context.enabled = adopted.enabled;
  context.device = adopted.device;
  context.queue = adopted.queue;
  context.queue_family = adopted.queue_family;
  WAVEGATE_CHECK(finish(*device, adopted.cache));
  return std::unique_ptr<Device>(std::move(device));
}

Result<std::shared_ptr<Buffer>> borrow(Device& device, VkBuffer buffer, uint64_t bytes) {
  auto* ours = dynamic_cast<VulkanDevice*>(&device);
  if (!ours) return invalid_input("a VkBuffer can be borrowed by a Vulkan device only");
  if (buffer == VK_NULL_HANDLE || bytes == 0) return invalid_input("a borrowed buffer needs a handle and a size");
  return std::make_shared<MemoryBuffer>(ours->context(), buffer, bytes);
}

Result<std::shared_ptr<void>> encode(Executable& executable, VkCommandBuffer commands) {
  auto* ours = dynamic_cast<VulkanExecutable*>(&executable);
  if (!ours) return invalid_input("a VkCommandBuffer can take an executable of a Vulkan device only");
  if (!commands) return invalid_input("there is no command buffer to encode into");
  return ours->encode(commands);
}

Result<BufferPlace> buffer_of(Executable& executable, graph::BufferId buffer) {
  const auto* ours = dynamic_cast<const VulkanExecutable*>(&executable);
  if (!ours) return invalid_input("an executable of a Vulkan device only keeps its buffers in VkBuffers");
  return ours->place(buffer);
}

Result<uint64_t> device_address(Device& device, const Buffer& buffer) {
  auto* ours = dynamic_cast<VulkanDevice*>(&device);
  const auto* memory = dynamic_cast<const MemoryBuffer*>(&buffer);
  if (!ours || !memory || &memory->context() != &ours->context())
    return invalid_input("the buffer is not of this device");
  if (!ours->context().enabled.buffer_device_address)
    return unsupported(format("\"{}\" does not offer device pointers", ours->profile().name));
  auto info = structure<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  info.buffer = memory->handle();
  return vkGetBufferDeviceAddress(ours->context().device, &info);
}

uint64_t validation_messages(const Device& device) {
  const auto* ours = dynamic_cast<const VulkanDevice*>(&device);
  return ours && ours->context().instance ? ours->context().instance->validation_messages() : 0;
}

}  // namespace wavegate::device::vulkan
