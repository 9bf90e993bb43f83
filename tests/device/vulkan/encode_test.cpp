// A small foreign application: its own instance, device, queue, buffers and command buffer, with Wavegate as a guest.

#include <vulkan/vulkan.h>

#include <cstring>

#include "device/vulkan/test_device.h"
#include "wavegate/device/vulkan/executable.h"

namespace wavegate::device::vulkan {
namespace {

using graph::BufferId;
using testing::Each;

void check(VkResult result) {
  if (result == VK_SUCCESS) return;
  ADD_FAILURE() << "the application's call failed: " << result;
  std::abort();
}

template <typename T>
T make(VkStructureType type) {
  T structure{};
  structure.sType = type;
  return structure;
}

struct AppBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint32_t* words = nullptr;
};

class Application {
 public:
  explicit Application(bool with_conditional_rendering = false) {
    enabled_.conditional_rendering = with_conditional_rendering;
    auto application = make<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.apiVersion = VK_API_VERSION_1_2;
    auto info = make<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.pApplicationInfo = &application;
    const char* layer = "VK_LAYER_KHRONOS_validation";
    const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    info.enabledLayerCount = info.enabledExtensionCount = 1;
    info.ppEnabledLayerNames = &layer;
    info.ppEnabledExtensionNames = &extension;
    check(vkCreateInstance(&info, nullptr, &instance_));
    auto messenger = make<VkDebugUtilsMessengerCreateInfoEXT>(VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
    messenger.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    messenger.pfnUserCallback = on_message;
    messenger.pUserData = &messages_;
    function<PFN_vkCreateDebugUtilsMessengerEXT>("vkCreateDebugUtilsMessengerEXT")(instance_, &messenger, nullptr,
                                                                                   &messenger_);
    uint32_t count = 1;
    vkEnumeratePhysicalDevices(instance_, &count, &physical_);
    const float priority = 1;
    auto queue = make<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    auto device = make<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    device.queueCreateInfoCount = 1;
    device.pQueueCreateInfos = &queue;
    auto conditional = make<VkPhysicalDeviceConditionalRenderingFeaturesEXT>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT);
    conditional.conditionalRendering = VK_TRUE;
    const char* conditional_extension = VK_EXT_CONDITIONAL_RENDERING_EXTENSION_NAME;
    if (with_conditional_rendering) {
      device.pNext = &conditional;
      device.enabledExtensionCount = 1;
      device.ppEnabledExtensionNames = &conditional_extension;
    }
    check(vkCreateDevice(physical_, &device, nullptr, &device_));
    vkGetDeviceQueue(device_, 0, 0, &queue_);
    auto pool = make<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    check(vkCreateCommandPool(device_, &pool, nullptr, &pool_));
  }

  ~Application() {
    for (const AppBuffer& buffer : buffers_) {
      vkDestroyBuffer(device_, buffer.buffer, nullptr);
      vkFreeMemory(device_, buffer.memory, nullptr);
    }
    vkDestroyCommandPool(device_, pool_, nullptr);
    vkDestroyDevice(device_, nullptr);
    function<PFN_vkDestroyDebugUtilsMessengerEXT>("vkDestroyDebugUtilsMessengerEXT")(instance_, messenger_, nullptr);
    vkDestroyInstance(instance_, nullptr);
    EXPECT_EQ(messages_, 0u) << "the validation layer has something to say, perhaps about what was left behind";
  }

  std::unique_ptr<Device> lend() { return must(adopt(adopted(enabled_))); }

  AdoptedDevice adopted(const EnabledFeatures& enabled) const {
    AdoptedDevice adopted;
    adopted.instance = instance_;
    adopted.physical_device = physical_;
    adopted.device = device_;
    adopted.queue = queue_;
    adopted.enabled = enabled;
    adopted.cache = test_options().cache;
    return adopted;
  }

  /// A mapped buffer of words. Its memory is of the first type that is visible and coherent, which every device has.
  AppBuffer buffer(uint32_t words) {
    AppBuffer result;
    auto info = make<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = words * 4;
    info.usage =
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    check(vkCreateBuffer(device_, &info, nullptr, &result.buffer));
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(device_, result.buffer, &requirements);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
    auto allocation = make<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    allocation.allocationSize = requirements.size;
    constexpr VkMemoryPropertyFlags kWanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    while ((memory.memoryTypes[allocation.memoryTypeIndex].propertyFlags & kWanted) != kWanted)
      ++allocation.memoryTypeIndex;
    check(vkAllocateMemory(device_, &allocation, nullptr, &result.memory));
    check(vkBindBufferMemory(device_, result.buffer, result.memory, 0));
    void* data = nullptr;
    check(vkMapMemory(device_, result.memory, 0, VK_WHOLE_SIZE, 0, &data));
    result.words = static_cast<uint32_t*>(data);
    std::memset(data, 0, words * 4);
    buffers_.push_back(result);
    return result;
  }

  VkCommandBuffer begin() {
    auto allocate = make<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    allocate.commandPool = pool_;
    allocate.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    check(vkAllocateCommandBuffers(device_, &allocate, &commands));
    const auto info = make<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    check(vkBeginCommandBuffer(commands, &info));
    return commands;
  }

  void end(VkCommandBuffer commands) { check(vkEndCommandBuffer(commands)); }

  void run(VkCommandBuffer commands) {
    auto submit = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    check(vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE));
    check(vkQueueWaitIdle(queue_));
  }

 private:
  static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                   VkDebugUtilsMessageTypeFlagsEXT,
                                                   const VkDebugUtilsMessengerCallbackDataEXT* data, void* messages) {
    ++*static_cast<uint32_t*>(messages);
    std::fprintf(stderr, "%s\n", data->pMessage);
    return VK_FALSE;
  }
  template <typename Function>
  Function function(const char* name) {
    return reinterpret_cast<Function>(vkGetInstanceProcAddr(instance_, name));
  }

  EnabledFeatures enabled_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<AppBuffer> buffers_;
  uint32_t messages_ = 0;
};

/// Per run: triples the application's `shared` and adds one, then `count` += shared. Outputs `count`.
struct Guest {
  TestGraph graph{"guest"};
  BufferId shared = graph.external(graph.buffer("shared", 4));
  BufferId count = graph.output(graph.buffer<uint32_t>("count", {10, 10, 10, 10}));
  Guest() {
    kir::Builder b("accumulate", {4});
    auto from = b.buffer("from", kir::Type::i32, kir::Access::read);
    auto to = b.buffer("to", kir::Type::i32, kir::Access::read_write);
    auto i = b.global_id();
    to[i] = to[i] + from[i];
    const auto accumulate = graph.kernel(b.finish());
    graph.add(graph.dispatch(graph.kernel(affine_kernel()), {shared}, {3, 1}, {1, 1, 1}));
    graph.add(graph.dispatch(accumulate, {shared, count}, {}, {1, 1, 1}));
  }
};

class VulkanEncode : public testing::Test {
 protected:
  Application app_;
};

TEST_F(VulkanEncode, RunsInsideAnApplicationsCommandBuffer) {
  Guest guest;
  const auto device = app_.lend();
  const AppBuffer shared = app_.buffer(4), copy = app_.buffer(4);
  const auto executable = must(device->load(guest.graph.get()));
  ASSERT_OK(executable->bind(guest.shared, must(borrow(*device, shared.buffer, 16))));

  const VkCommandBuffer commands = app_.begin();
  vkCmdFillBuffer(commands, shared.buffer, 0, 16, 5);
  const auto recorded = must(encode(*executable, commands));
  const VkBufferCopy region{0, 0, 16};
  vkCmdCopyBuffer(commands, shared.buffer, copy.buffer, 1, &region);
  app_.end(commands);
  app_.run(commands);

  EXPECT_THAT(std::vector<uint32_t>(copy.words, copy.words + 4), Each(16u));
  EXPECT_THAT(read_all<uint32_t>(*executable, guest.count, 4), Each(26u));
}

TEST_F(VulkanEncode, TheApplicationReadsAWordOfTheGraphOnTheDevice) {
  Guest guest;
  const auto device = app_.lend();
  const AppBuffer shared = app_.buffer(4), copy = app_.buffer(1);
  const auto executable = must(device->load(guest.graph.get()));
  ASSERT_OK(executable->bind(guest.shared, must(borrow(*device, shared.buffer, 16))));

  const VkCommandBuffer commands = app_.begin();
  const auto recorded = must(encode(*executable, commands));
  const BufferPlace count = must(buffer_of(*executable, guest.count));
  EXPECT_EQ(count.bytes, 16u);
  const VkBufferCopy region{count.offset + 8, 0, 4};
  vkCmdCopyBuffer(commands, count.buffer, copy.buffer, 1, &region);
  app_.end(commands);
  app_.run(commands);
  EXPECT_EQ(copy.words[0], 11u);
}

TEST_F(VulkanEncode, AnExternalBufferIsWhereItWasBound) {
  Guest guest;
  const auto device = app_.lend();
  const AppBuffer shared = app_.buffer(4);
  const auto executable = must(device->load(guest.graph.get()));
  EXPECT_THAT(buffer_of(*executable, guest.shared).error().message,
              testing::HasSubstr("external buffer \"shared\" has no memory"));
  ASSERT_OK(executable->bind(guest.shared, must(borrow(*device, shared.buffer, 16))));
  EXPECT_EQ(must(buffer_of(*executable, guest.shared)).buffer, shared.buffer);
}

TEST_F(VulkanEncode, CountsNothing) {
  Guest guest;
  const auto device = app_.lend();
  const AppBuffer shared = app_.buffer(4);
  const auto executable = must(device->load(guest.graph.get()));
  ASSERT_OK(executable->bind(guest.shared, must(borrow(*device, shared.buffer, 16))));
  const Counters before = device->counters();
  const VkCommandBuffer commands = app_.begin();
  const auto recorded = must(encode(*executable, commands));
  app_.end(commands);
  app_.run(commands);
  read_all<uint32_t>(*executable, guest.count, 4);
  const Counters spent = device->counters() - before;
  EXPECT_EQ(spent.submissions + spent.host_waits + spent.readbacks + spent.observations, 0u);
}

TEST_F(VulkanEncode, RecordedCommandsSurviveARebinding) {
  Guest guest;
  const auto device = app_.lend();
  const AppBuffer first = app_.buffer(4), second = app_.buffer(4);
  const auto executable = must(device->load(guest.graph.get()));
  ASSERT_OK(executable->bind(guest.shared, must(borrow(*device, first.buffer, 16))));
  const VkCommandBuffer one = app_.begin();
  auto kept_by_one = must(encode(*executable, one));
  app_.end(one);
  ASSERT_OK(executable->bind(guest.shared, must(borrow(*device, second.buffer, 16))));
  const VkCommandBuffer two = app_.begin();
  const auto kept_by_two = must(encode(*executable, two));
  app_.end(two);

  app_.run(one);
  kept_by_one.reset();
  app_.run(two);
  app_.run(two);
  EXPECT_EQ(first.words[0], 1u);
  EXPECT_EQ(second.words[0], 4u);
  EXPECT_THAT(read_all<uint32_t>(*executable, guest.count, 4), Each(10u + 1 + 1 + 4));
}

TEST_F(VulkanEncode, AFrameThatIsOverLeavesNothingBehind) {
  TestGraph graph("frames");
  const size_t count = 4096;  // enough for the writes to be staged
  const BufferId values = graph.external(graph.buffer("values", count));
  graph.add(graph.dispatch(graph.kernel(affine_kernel()), {values}, {1, 1}, {count / 64, 1, 1}));
  const auto device = app_.lend();
  const auto executable = must(device->load(graph.get()));
  const std::shared_ptr<Buffer> memory[] = {must(device->allocate(count * 4)), must(device->allocate(count * 4))};
  const uint32_t& allocations = dynamic_cast<MemoryBuffer&>(*memory[0]).context().allocations;
  const uint32_t before = allocations;
  for (uint32_t frame = 0; frame < 20; ++frame) {
    ASSERT_OK(executable->bind(values, memory[frame % 2]));
    ASSERT_OK(write_all(*executable, values, std::vector<uint32_t>(count, frame)));
    const VkCommandBuffer commands = app_.begin();
    const auto recorded = must(encode(*executable, commands));
    EXPECT_GT(allocations, before);
    app_.end(commands);
    app_.run(commands);
  }
  EXPECT_EQ(allocations, before);
  EXPECT_THAT(read_all<uint32_t>(*executable, values, count), Each(20u));
}

TEST_F(VulkanEncode, ExternalMemoryLivesAsLongAsWhatRefersToIt) {
  Guest guest;
  const auto device = app_.lend();
  const auto executable = must(device->load(guest.graph.get()));
  std::shared_ptr<Buffer> memory = must(device->allocate(16));
  const std::weak_ptr<Buffer> watched = memory;
  ASSERT_OK(executable->bind(guest.shared, std::move(memory)));
  const VkCommandBuffer commands = app_.begin();
  auto recorded = must(encode(*executable, commands));
  app_.end(commands);
  ASSERT_OK(executable->bind(guest.shared, must(device->allocate(16))));
  app_.run(commands);
  EXPECT_FALSE(watched.expired());
  recorded.reset();
  EXPECT_TRUE(watched.expired());
}

TEST_F(VulkanEncode, ASecondEncodingLeavesOutTheInitialContents) {
  Guest guest;
  const auto device = app_.lend();
  const AppBuffer shared = app_.buffer(4);
  const auto executable = must(device->load(guest.graph.get()));
  ASSERT_OK(executable->bind(guest.shared, must(borrow(*device, shared.buffer, 16))));
  const VkCommandBuffer first = app_.begin(), later = app_.begin();
  const auto kept_by_first = must(encode(*executable, first));
  const auto kept_by_later = must(encode(*executable, later));
  app_.end(first);
  app_.end(later);
  app_.run(first);
  app_.run(later);
  EXPECT_THAT(read_all<uint32_t>(*executable, guest.count, 4), Each(10u + 1 + 4));
  app_.run(first);
  EXPECT_THAT(read_all<uint32_t>(*executable, guest.count, 4), Each(10u + 13));
}

TEST_F(VulkanEncode, AGraphWithALoopIsUnsupportedByName) {
  TestGraph graph("looping");
  const auto done = graph.observed(graph.buffer<uint32_t>("done", {0}));
  graph::Loop loop;
  loop.label = "until flat";
  loop.done = graph.whole(done);
  loop.body = {graph.fill(graph.whole(done), 1)};
  graph.add(loop);
  const auto device = app_.lend();
  const auto executable = must(device->load(graph.get()));
  const VkCommandBuffer commands = app_.begin();
  const auto result = encode(*executable, commands);
  app_.end(commands);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(result.error().message,
            "graph \"looping\": loop \"until flat\" needs the host while it runs, to submit what follows, and what is "
            "encoded has none; lower the program host-free, with a bound for each loop");
}

/// Adds one to its output under a predicate that is set.
struct Conditional {
  TestGraph graph{"conditional"};
  BufferId predicate = graph.buffer<uint32_t>("predicate", {1});
  BufferId count = graph.output(graph.buffer<uint32_t>("count", {5}));
  Conditional() {
    const auto dispatch = graph.dispatch(graph.kernel(affine_kernel()), {count}, {1, 1}, {1, 1, 1});
    graph.add(TestGraph::conditional(graph.whole(predicate), {dispatch}));
  }
};

TEST_F(VulkanEncode, AConditionalOnADeviceThatWasNotMadeForItIsUnsupportedByName) {
  const auto device = app_.lend();
  EXPECT_FALSE(device->profile().features.conditional_rendering);
  const auto result = device->load(Conditional().graph.get());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(result.error().message, testing::HasSubstr("conditional \"conditional\""));
}

TEST(VulkanEncodeConditional, RunsOnADeviceThatWasMadeForIt) {
  Application app(true);
  Conditional conditional;
  const auto device = app.lend();
  const auto executable = must(device->load(conditional.graph.get()));
  const VkCommandBuffer commands = app.begin();
  const auto recorded = must(encode(*executable, commands));
  app.end(commands);
  app.run(commands);
  EXPECT_THAT(read_all<uint32_t>(*executable, conditional.count, 1), Each(6u));
}

TEST_F(VulkanEncode, AnApplicationThatDidNotEnableTheExtensionIsToldSo) {
  const auto result = adopt(app_.adopted({.conditional_rendering = true}));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(result.error().message, testing::HasSubstr("VK_EXT_conditional_rendering"));
}

TEST_F(VulkanEncode, AnAdoptedDeviceUsesNoFeatureThatWasNotEnabled) {
  const auto device = app_.lend();
  EXPECT_FALSE(device->profile().features.float64);
  EXPECT_FALSE(device->profile().features.int64);
  EXPECT_FALSE(device->profile().features.device_pointers);
}

TEST_F(VulkanEncode, TwoHandlesOfOneBufferAreOneMemory) {
  TestGraph graph("alias");
  const auto a = graph.external(graph.buffer("a", 4)), b = graph.external(graph.buffer("b", 4));
  const auto kernel = graph.kernel(affine_kernel());
  graph.add_repeat(100,
                   {graph.dispatch(kernel, {a}, {1, 1}, {1, 1, 1}), graph.dispatch(kernel, {b}, {3, 0}, {1, 1, 1})});
  const auto device = app_.lend();
  const AppBuffer shared = app_.buffer(4);
  const auto executable = must(device->load(graph.get()));
  ASSERT_OK(executable->bind(a, must(borrow(*device, shared.buffer, 16))));
  ASSERT_OK(executable->bind(b, must(borrow(*device, shared.buffer, 16))));
  ASSERT_OK(executable->run());
  uint32_t expected = 0;
  for (int i = 0; i < 100; ++i) expected = (expected + 1) * 3;
  EXPECT_THAT(std::vector<uint32_t>(shared.words, shared.words + 4), Each(expected));
}

}  // namespace
}  // namespace wavegate::device::vulkan
