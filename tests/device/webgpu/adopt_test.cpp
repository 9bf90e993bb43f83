// A small foreign application: its own instance, device, buffers and command encoders, with Wavegate as a guest.

#include <dlfcn.h>

#include "device/webgpu/test_device.h"

#define WGPU_SKIP_DECLARATIONS
#include <webgpu/webgpu.h>

namespace wavegate::device::webgpu {
namespace {

using graph::BufferId;
using testing::Each;
using testing::HasSubstr;

/// The application's WebGPU, which Wavegate finds in the process. Loaded before any test asks for a device.
void* const kLibrary = dlopen(WAVEGATE_WEBGPU_INSTALLED, RTLD_NOW | RTLD_GLOBAL);

#define CALL(name) reinterpret_cast<WGPUProc##name>(dlsym(kLibrary, "wgpu" #name))

class Application {
 public:
  Application() {
    setenv("VK_ADD_DRIVER_FILES", "/usr/lib/chromium/vk_swiftshader_icd.json", 0);
    instance_ = CALL(CreateInstance)(nullptr);
    WGPURequestAdapterCallbackInfo adapter{};
    adapter.mode = WGPUCallbackMode_AllowProcessEvents;
    adapter.userdata1 = &adapter_;
    adapter.callback = [](WGPURequestAdapterStatus, WGPUAdapter got, WGPUStringView, void* into, void*) {
      *static_cast<WGPUAdapter*>(into) = got;
    };
    CALL(InstanceRequestAdapter)(instance_, nullptr, adapter);
    CALL(InstanceProcessEvents)(instance_);
    WGPUDeviceDescriptor descriptor{};
    descriptor.uncapturedErrorCallbackInfo.callback = [](const WGPUDevice*, WGPUErrorType, WGPUStringView message,
                                                         void*, void*) {
      ADD_FAILURE() << "an error for the application: " << std::string(message.data, message.length);
    };
    WGPURequestDeviceCallbackInfo device{};
    device.mode = WGPUCallbackMode_AllowProcessEvents;
    device.userdata1 = &device_;
    device.callback = [](WGPURequestDeviceStatus, WGPUDevice got, WGPUStringView, void* into, void*) {
      *static_cast<WGPUDevice*>(into) = got;
    };
    CALL(AdapterRequestDevice)(adapter_, &descriptor, device);
    CALL(InstanceProcessEvents)(instance_);
    unsetenv("VK_ADD_DRIVER_FILES");
    queue_ = CALL(DeviceGetQueue)(device_);
  }

  ~Application() {
    for (WGPUBuffer buffer : buffers_) CALL(BufferRelease)(buffer);
    CALL(QueueRelease)(queue_);
    CALL(DeviceRelease)(device_);
    CALL(AdapterRelease)(adapter_);
    CALL(InstanceRelease)(instance_);
  }

  std::unique_ptr<Device> lend() {
    AdoptedDevice lent;
    lent.instance = reinterpret_cast<uintptr_t>(instance_);
    lent.device = reinterpret_cast<uintptr_t>(device_);
    return must(adopt(lent));
  }

  WGPUBuffer buffer(uint64_t words) {
    WGPUBufferDescriptor descriptor{};
    descriptor.size = words * 4;
    descriptor.usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
    buffers_.push_back(CALL(DeviceCreateBuffer)(device_, &descriptor));
    return buffers_.back();
  }
  void write(WGPUBuffer buffer, const std::vector<uint32_t>& words) {
    CALL(QueueWriteBuffer)(queue_, buffer, 0, words.data(), words.size() * 4);
  }

  WGPUCommandEncoder begin() { return CALL(DeviceCreateCommandEncoder)(device_, nullptr); }
  static uintptr_t number(WGPUCommandEncoder encoder) { return reinterpret_cast<uintptr_t>(encoder); }
  static uintptr_t number(WGPUBuffer buffer) { return reinterpret_cast<uintptr_t>(buffer); }
  static void clear(WGPUCommandEncoder encoder, WGPUBuffer buffer, uint64_t words) {
    CALL(CommandEncoderClearBuffer)(encoder, buffer, 0, words * 4);
  }
  void submit(WGPUCommandEncoder encoder) {
    WGPUCommandBuffer commands = CALL(CommandEncoderFinish)(encoder, nullptr);
    CALL(QueueSubmit)(queue_, 1, &commands);
    CALL(CommandBufferRelease)(commands);
    CALL(CommandEncoderRelease)(encoder);
  }

 private:
  WGPUInstance instance_ = nullptr;
  WGPUAdapter adapter_ = nullptr;
  WGPUDevice device_ = nullptr;
  WGPUQueue queue_ = nullptr;
  std::vector<WGPUBuffer> buffers_;
};

/// Triples an external buffer and adds one, then copies it to an output.
struct Guest {
  TestGraph graph{"guest"};
  BufferId values = graph.external(graph.buffer("values", 4));
  BufferId seen = graph.output(graph.buffer("seen", 4));
  BufferId word = graph.output(graph.buffer<uint32_t>("word", {9}));
  Guest() {
    graph.add(graph.dispatch(graph.kernel(affine_kernel()), {values}, {3, 1}, {1, 1, 1}));
    graph.add(graph.copy(graph.whole(values), graph.whole(seen)));
  }
};

TEST(WebGpuAdopt, AnAdoptedDeviceRunsOverBorrowedMemory) {
  Application application;
  {
    const auto device = application.lend();
    EXPECT_EQ(device->counters().submissions, 0u);
    Guest guest;
    const auto executable = must(device->load(guest.graph.get()));
    const WGPUBuffer values = application.buffer(4);
    application.write(values, {5, 5, 5, 5});
    ASSERT_OK(executable->bind(guest.values, must(borrow(*device, Application::number(values), 16))));
    ASSERT_OK(executable->run());
    EXPECT_THAT(read_all<uint32_t>(*executable, guest.seen, 4), Each(16u));
  }
}

TEST(WebGpuAdopt, ARunIsEncodedBetweenCommandsOfTheApplication) {
  Application application;
  {
    const auto device = application.lend();
    Guest guest;
    const auto executable = must(device->load(guest.graph.get()));
    const WGPUBuffer values = application.buffer(4);
    application.write(values, {5, 5, 5, 5});
    ASSERT_OK(executable->bind(guest.values, must(borrow(*device, Application::number(values), 16))));
    ASSERT_OK(write_all<uint32_t>(*executable, guest.word, {10}));
    const Counters before = device->counters();
    const WGPUCommandEncoder encoder = application.begin();
    Application::clear(encoder, values, 2);
    auto kept = must(encode(*executable, Application::number(encoder)));
    EXPECT_EQ((device->counters() - before).submissions, 0u);
    application.submit(encoder);
    kept.reset();
    EXPECT_EQ(read_all<uint32_t>(*executable, guest.seen, 4), (std::vector<uint32_t>{1, 1, 16, 16}));
    EXPECT_EQ(read_all<uint32_t>(*executable, guest.word, 1), (std::vector<uint32_t>{10}));

    // Again, without the writes of the first time, and then a run of its own.
    const WGPUCommandEncoder next = application.begin();
    kept = must(encode(*executable, Application::number(next)));
    application.submit(next);
    EXPECT_EQ(read_all<uint32_t>(*executable, guest.seen, 4), (std::vector<uint32_t>{4, 4, 49, 49}));
    ASSERT_OK(executable->run());
    EXPECT_EQ(read_all<uint32_t>(*executable, guest.seen, 4), (std::vector<uint32_t>{13, 13, 148, 148}));
  }
}

TEST(WebGpuAdopt, ALoopIsNotEncoded) {
  Application application;
  {
    const auto device = application.lend();
    TestGraph graph("loops");
    const auto done = graph.observed(graph.buffer<uint32_t>("done", {0}));
    graph::Loop loop;
    loop.label = "while";
    loop.done = graph.whole(done);
    loop.body = {graph.fill(graph.whole(done), 1)};
    graph.add(loop);
    const auto executable = must(device->load(graph.get()));
    const WGPUCommandEncoder encoder = application.begin();
    const auto result = encode(*executable, Application::number(encoder));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
    EXPECT_THAT(result.error().message, HasSubstr("loop \"while\""));
    application.submit(encoder);
  }
}

TEST(WebGpuAdopt, TheApplicationFindsTheBuffersOfAnExecutable) {
  Application application;
  {
    const auto device = application.lend();
    Guest guest;
    const auto executable = must(device->load(guest.graph.get()));
    EXPECT_THAT(buffer_of(*executable, guest.values).error().message, HasSubstr("has no memory"));
    const WGPUBuffer values = application.buffer(4);
    ASSERT_OK(executable->bind(guest.values, must(borrow(*device, Application::number(values), 16))));
    EXPECT_EQ(must(buffer_of(*executable, guest.values)).buffer, Application::number(values));
    const BufferPlace place = must(buffer_of(*executable, guest.seen));
    EXPECT_EQ(place.bytes, 16u);
    ASSERT_OK(executable->run());
    const WGPUCommandEncoder encoder = application.begin();
    Application::clear(encoder, reinterpret_cast<WGPUBuffer>(place.buffer), 4);
    application.submit(encoder);
    uint32_t word = 1;
    const auto other = must(device->load(guest.graph.get()));
    ASSERT_OK(other->bind(guest.values, must(borrow(*device, place.buffer, 16))));
    ASSERT_OK(other->read(guest.values, 0, std::as_writable_bytes(std::span(&word, 1))));
    EXPECT_EQ(word, 0u);
  }
}

TEST(WebGpuAdopt, ADeviceWithoutAnInstanceIsRefused) {
  const auto result = adopt(AdoptedDevice{});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
}

}  // namespace
}  // namespace wavegate::device::webgpu
