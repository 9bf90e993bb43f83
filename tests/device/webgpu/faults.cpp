#include "device/webgpu/faults.h"

#include <utility>

#include "device/webgpu/application.h"

namespace wavegate::device::webgpu {

Faults& faults() {
  static Faults all;
  return all;
}

namespace {

void inject(WGPUDevice device, std::optional<WGPUErrorType>& error) {
  constexpr std::string_view kMessage = "as the test wants it";
  if (error) CALL(DeviceInjectError)(device, *error, {kMessage.data(), kMessage.size()});
  error.reset();
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) WGPUQueue wgpuDeviceGetQueue(WGPUDevice device) {
  faults().device = device;
  return CALL(DeviceGetQueue)(device);
}

__attribute__((visibility("default"))) WGPUBuffer wgpuDeviceCreateBuffer(WGPUDevice device,
                                                                         const WGPUBufferDescriptor* descriptor) {
  inject(device, faults().next_buffer);
  return CALL(DeviceCreateBuffer)(device, descriptor);
}

__attribute__((visibility("default"))) WGPUComputePipeline wgpuDeviceCreateComputePipeline(
    WGPUDevice device, const WGPUComputePipelineDescriptor* descriptor) {
  ++faults().pipelines;
  inject(device, faults().next_pipeline);
  return CALL(DeviceCreateComputePipeline)(device, descriptor);
}

__attribute__((visibility("default"))) WGPUBindGroup wgpuDeviceCreateBindGroup(
    WGPUDevice device, const WGPUBindGroupDescriptor* descriptor) {
  ++faults().bind_groups;
  return CALL(DeviceCreateBindGroup)(device, descriptor);
}

}  // extern "C"

}  // namespace wavegate::device::webgpu
