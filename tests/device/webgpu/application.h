#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "device/test_graph.h"
#include "wavegate/device/webgpu/device.h"

#define WGPU_SKIP_DECLARATIONS
#include <webgpu/webgpu.h>

/// A small foreign application: its own instance, device, buffers and command encoders, with Wavegate as a guest.
namespace wavegate::device::webgpu {

/// The application's WebGPU, which Wavegate finds in the process. Loaded before any test asks for a device.
inline void* const kLibrary = dlopen(WAVEGATE_WEBGPU_INSTALLED, RTLD_NOW | RTLD_GLOBAL);

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

  static constexpr WGPUBufferUsage kUsual = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  WGPUBuffer buffer(uint64_t words, WGPUBufferUsage usage = kUsual) {
    WGPUBufferDescriptor descriptor{};
    descriptor.size = words * 4;
    descriptor.usage = usage;
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
  static void destroy(WGPUBuffer buffer) { CALL(BufferDestroy)(buffer); }
  static WGPUCommandBuffer finish(WGPUCommandEncoder encoder) { return CALL(CommandEncoderFinish)(encoder, nullptr); }
  WGPUDevice device() const { return device_; }

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

}  // namespace wavegate::device::webgpu
