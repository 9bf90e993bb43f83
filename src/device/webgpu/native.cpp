#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/device/webgpu/gpu.h"
#include "wavegate/device/webgpu/library_native.h"

/// The native body: webgpu.h of a shared library, which is Dawn's.
namespace wavegate::device::webgpu::gpu {
namespace {

// ---- conversions

template <typename Native, typename Handle>
Native to(Handle handle) {
  return reinterpret_cast<Native>(handle);
}
template <typename Handle, typename Native>
Handle from(Native object) {
  return static_cast<Handle>(reinterpret_cast<uintptr_t>(object));
}

WGPUStringView view(std::string_view text) {
  return {text.data(), text.size()};
}
std::string text(WGPUStringView view) {
  if (view.data == nullptr) return {};
  return view.length == WGPU_STRLEN ? std::string(view.data) : std::string(view.data, view.length);
}

// A callback on its way through C: called once, and then gone.
template <typename Function>
void* pack(Function function) {
  return new Function(std::move(function));
}
template <typename Function>
Function unpack(void* packed) {
  const std::unique_ptr<Function> function(static_cast<Function*>(packed));
  return std::move(*function);
}

// ---- opening

using Lost = std::function<void(std::string)>;

struct NativeDevice {
  WGPUInstance instance = nullptr;
  WGPUDevice device = nullptr;  ///< null while it is asked for
  WGPUQueue queue = nullptr;
  DeviceRequest wanted = {};
  std::function<void(Result<DeviceInfo>)> done = {};
  Lost lost = {};  ///< of a device that was adopted, until it is told
};

NativeDevice& native(Device device) {
  return *reinterpret_cast<NativeDevice*>(device);
}

/// Takes the device over.
DeviceInfo hold(NativeDevice& opened, WGPUDevice device) {
  opened.device = device;
  opened.queue = call().DeviceGetQueue(device);
  WGPUAdapterInfo adapter{};
  WGPULimits limits{};
  call().DeviceGetAdapterInfo(device, &adapter);
  call().DeviceGetLimits(device, &limits);
  DeviceInfo info;
  info.name = text(adapter.device);
  info.driver = text(adapter.description);
  info.is_cpu = adapter.adapterType == WGPUAdapterType_CPU;
  info.checks_indirect = opened.wanted.validates;
  info.features = {.timestamps = call().DeviceHasFeature(device, kTimestampQuery) != 0,
                   .float16 = call().DeviceHasFeature(device, kShaderF16) != 0,
                   .subgroups = call().DeviceHasFeature(device, kSubgroups) != 0};
  if (info.features.subgroups) {
    info.minimum_subgroup_size = adapter.subgroupMinSize;
    info.maximum_subgroup_size = adapter.subgroupMaxSize;
  }
  info.limits = {.workgroups = limits.maxComputeWorkgroupsPerDimension,
                 .workgroup_size_x = limits.maxComputeWorkgroupSizeX,
                 .workgroup_size_y = limits.maxComputeWorkgroupSizeY,
                 .workgroup_size_z = limits.maxComputeWorkgroupSizeZ,
                 .workgroup_invocations = limits.maxComputeInvocationsPerWorkgroup,
                 .workgroup_memory = limits.maxComputeWorkgroupStorageSize,
                 .storage_buffers = limits.maxStorageBuffersPerShaderStage,
                 .storage_alignment = limits.minStorageBufferOffsetAlignment,
                 .uniform_alignment = limits.minUniformBufferOffsetAlignment,
                 .storage_binding = limits.maxStorageBufferBindingSize,
                 .uniform_binding = limits.maxUniformBufferBindingSize,
                 .buffer = limits.maxBufferSize};
  call().AdapterInfoFreeMembers(adapter);
  return info;
}

/// What Dawn is told beyond webgpu.h. It adds a dispatch of its own before each indirect one, to check arguments that
/// this engine has proved; and it rounds timestamps for the sake of pages.
struct Toggles {
  explicit Toggles(bool validates) {
    chain.chain.sType = WGPUSType_DawnTogglesDescriptor;
    chain.enabledToggles = kNames.data();
    chain.enabledToggleCount = validates ? 1 : kNames.size();
    chain.disabledToggles = kLeftOut.data();
    chain.disabledToggleCount = kLeftOut.size();
  }
  static constexpr std::array kNames = {"allow_unsafe_apis", "skip_validation"};
  static constexpr std::array kLeftOut = {"timestamp_quantization"};
  WGPUDawnTogglesDescriptor chain{};
};

void on_lost(const WGPUDevice*, WGPUDeviceLostReason reason, WGPUStringView message, void* packed, void*) {
  const auto lost = unpack<Lost>(packed);
  if (lost && reason == WGPUDeviceLostReason_Unknown) lost(text(message));
}

void on_device(WGPURequestDeviceStatus status, WGPUDevice device, WGPUStringView message, void* opened, void*) {
  NativeDevice& ours = *static_cast<NativeDevice*>(opened);
  const auto done = std::exchange(ours.done, {});
  if (status == WGPURequestDeviceStatus_CallbackCancelled) return;
  if (status == WGPURequestDeviceStatus_Success) return done(hold(ours, device));
  done(device_error(format("the WebGPU device cannot be opened: {}", text(message))));
}

/// Dawn falls back on a backend that runs nothing.
bool runs_commands(WGPUAdapter adapter) {
  WGPUAdapterInfo info{};
  call().AdapterGetInfo(adapter, &info);
  const WGPUBackendType backend = info.backendType;
  call().AdapterInfoFreeMembers(info);
  return backend != WGPUBackendType_Null;
}

void on_adapter(WGPURequestAdapterStatus status, WGPUAdapter adapter, WGPUStringView message, void* opened, void*) {
  NativeDevice& ours = *static_cast<NativeDevice*>(opened);
  if (status == WGPURequestAdapterStatus_CallbackCancelled) return;
  const bool is_there = status == WGPURequestAdapterStatus_Success;
  if (!is_there || !runs_commands(adapter)) {
    const std::string why = text(message);
    if (is_there) call().AdapterRelease(adapter);
    const auto done = std::exchange(ours.done, {});
    return done(device_error(
        format("there is no WebGPU adapter{}{}; install the GPU's Vulkan driver, or name that of SwiftShader in "
               "VK_ADD_DRIVER_FILES (Debian's chromium-common has it), since lavapipe does not serve",
               why.empty() ? "" : ": ", why)));
  }
  WGPULimits limits{};
  call().AdapterGetLimits(adapter, &limits);
  limits.nextInChain = nullptr;
  std::vector<WGPUFeatureName> features;
  for (const WGPUFeatureName feature : {kTimestampQuery, kShaderF16, kSubgroups, kCoreFeaturesAndLimits})
    if (call().AdapterHasFeature(adapter, feature)) features.push_back(feature);
  Toggles toggles(ours.wanted.validates);
  WGPUDeviceDescriptor descriptor{};
  descriptor.nextInChain = &toggles.chain.chain;
  descriptor.label = view("wavegate");
  descriptor.requiredFeatureCount = features.size();
  descriptor.requiredFeatures = features.data();
  descriptor.requiredLimits = &limits;
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowProcessEvents;
  descriptor.deviceLostCallbackInfo.callback = on_lost;
  descriptor.deviceLostCallbackInfo.userdata1 = pack(std::move(ours.wanted.lost));
  WGPURequestDeviceCallbackInfo info{};
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.callback = on_device;
  info.userdata1 = &ours;
  call().AdapterRequestDevice(adapter, &descriptor, info);
  call().AdapterRelease(adapter);
}

}  // namespace

Result<void> available() {
  if (!library()) return library().error();
  return {};
}

Device request_device(DeviceRequest wanted, std::function<void(Result<DeviceInfo>)> done) {
  auto ours = std::make_unique<NativeDevice>();
  ours->wanted = std::move(wanted);
  ours->done = std::move(done);
  Toggles toggles(ours->wanted.validates);
  InstanceDescriptor descriptor;
  descriptor.next = &toggles.chain.chain;
  ours->instance = call().CreateInstance(reinterpret_cast<const WGPUInstanceDescriptor*>(&descriptor));
  WGPURequestAdapterOptions options{};
  options.featureLevel = WGPUFeatureLevel_Core;
  options.powerPreference = WGPUPowerPreference_HighPerformance;
  WGPURequestAdapterCallbackInfo info{};
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.callback = on_adapter;
  info.userdata1 = ours.get();
  call().InstanceRequestAdapter(ours->instance, &options, info);
  return from<Device>(ours.release());
}

Result<OpenDevice> adopt_device(uintptr_t instance, uintptr_t device, Lost lost) {
  WAVEGATE_CHECK(available());
  if (instance == 0 || device == 0)
    return invalid_input("an adopted WebGPU device needs its WGPUInstance and its WGPUDevice; one is null");
  auto ours = std::make_unique<NativeDevice>();
  ours->instance = reinterpret_cast<WGPUInstance>(instance);
  ours->lost = std::move(lost);
  ours->wanted.validates = true;  // how the application opened it is not told
  call().InstanceAddRef(ours->instance);
  call().DeviceAddRef(reinterpret_cast<WGPUDevice>(device));
  OpenDevice result;
  result.info = hold(*ours, reinterpret_cast<WGPUDevice>(device));
  result.device = from<Device>(ours.release());
  return result;
}

void pump(Device device) {
  call().InstanceProcessEvents(native(device).instance);
  if (native(device).lost) look_for_loss(device);  // the loss of our own device is among the events
}

void look_for_loss(Device device) {
  NativeDevice& ours = native(device);
  WGPUFutureWaitInfo loss{};
  loss.future = call().DeviceGetLostFuture(ours.device);
  if (call().InstanceWaitAny(ours.instance, 1, &loss, 0) != WGPUWaitStatus_Success || !loss.completed) return;
  // The reason of an adopted device's loss is told to whoever made it.
  if (const Lost lost = std::exchange(ours.lost, {})) lost("the application's device was lost or destroyed");
}

bool can_wait() {
  return true;
}

void nudge(Device) {}

void release(Device device) {
  const std::unique_ptr<NativeDevice> ours(&native(device));
  if (ours->queue) release(&Functions::QueueRelease, ours->queue);
  if (ours->device) release(&Functions::DeviceRelease, ours->device);
  release(&Functions::InstanceRelease, ours->instance);  // cancels what is still asked for
}

// ---- errors

namespace {

WGPUErrorFilter filter_of(ErrorFilter filter) {
  switch (filter) {
    case ErrorFilter::validation: return WGPUErrorFilter_Validation;
    case ErrorFilter::out_of_memory: return WGPUErrorFilter_OutOfMemory;
    case ErrorFilter::internal: return WGPUErrorFilter_Internal;
  }
  return WGPUErrorFilter_Internal;
}

ErrorFilter kind_of(WGPUErrorType type) {
  if (type == WGPUErrorType_Validation) return ErrorFilter::validation;
  return type == WGPUErrorType_OutOfMemory ? ErrorFilter::out_of_memory : ErrorFilter::internal;
}

}  // namespace

void push_error_scope(Device device, ErrorFilter filter) {
  call().DevicePushErrorScope(native(device).device, filter_of(filter));
}

void pop_error_scope(Device device, std::function<void(std::optional<GpuError>)> done) {
  WGPUPopErrorScopeCallbackInfo info{};
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.userdata1 = pack(std::move(done));
  info.callback = [](WGPUPopErrorScopeStatus status, WGPUErrorType type, WGPUStringView message, void* packed, void*) {
    const auto heard = unpack<std::function<void(std::optional<GpuError>)>>(packed);
    if (status != WGPUPopErrorScopeStatus_Success) return heard(GpuError{ErrorFilter::internal, text(message)});
    if (type == WGPUErrorType_NoError) return heard(std::nullopt);
    heard(GpuError{kind_of(type), text(message)});
  };
  call().DevicePopErrorScope(native(device).device, info);
}

// ---- buffers

Buffer create_buffer(Device device, std::string_view label, uint64_t bytes, uint32_t uses) {
  WGPUBufferDescriptor descriptor{};
  descriptor.label = view(label);
  descriptor.usage = uses;
  descriptor.size = bytes;
  return from<Buffer>(call().DeviceCreateBuffer(native(device).device, &descriptor));
}

Buffer adopt_buffer(uintptr_t buffer) {
  call().BufferAddRef(reinterpret_cast<WGPUBuffer>(buffer));
  return Buffer{buffer};
}

uint64_t size_of(Buffer buffer) {
  return call().BufferGetSize(to<WGPUBuffer>(buffer));
}
uint32_t uses_of(Buffer buffer) {
  return static_cast<uint32_t>(call().BufferGetUsage(to<WGPUBuffer>(buffer)));
}

void destroy(Buffer buffer) {
  release(&Functions::BufferDestroy, to<WGPUBuffer>(buffer));
}
void release(Buffer buffer) {
  release(&Functions::BufferRelease, to<WGPUBuffer>(buffer));
}

void write_buffer(Device device, Buffer buffer, uint64_t offset, std::span<const std::byte> bytes) {
  call().QueueWriteBuffer(native(device).queue, to<WGPUBuffer>(buffer), offset, bytes.data(), bytes.size());
}

void map_for_reading(Device, Buffer buffer, uint64_t bytes, std::function<void(Result<void>)> done) {
  WGPUBufferMapCallbackInfo info{};
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.userdata1 = pack(std::move(done));
  info.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* packed, void*) {
    const auto heard = unpack<std::function<void(Result<void>)>>(packed);
    if (status == WGPUMapAsyncStatus_Success) return heard({});
    heard(device_error(format("a buffer cannot be mapped: {}", text(message))));
  };
  call().BufferMapAsync(to<WGPUBuffer>(buffer), WGPUMapMode_Read, 0, bytes, info);
}

bool read_mapped(Buffer buffer, uint64_t offset, std::span<std::byte> bytes) {
  const void* mapped = call().BufferGetConstMappedRange(to<WGPUBuffer>(buffer), offset, bytes.size());
  if (mapped != nullptr) std::memcpy(bytes.data(), mapped, bytes.size());
  return mapped != nullptr;
}

void unmap(Buffer buffer) {
  call().BufferUnmap(to<WGPUBuffer>(buffer));
}

// ---- pipelines

ShaderModule create_shader_module(Device device, std::string_view label, std::string_view wgsl) {
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view(wgsl);
  WGPUShaderModuleDescriptor descriptor{};
  descriptor.nextInChain = &source.chain;
  descriptor.label = view(label);
  return from<ShaderModule>(call().DeviceCreateShaderModule(native(device).device, &descriptor));
}
void release(ShaderModule module) {
  release(&Functions::ShaderModuleRelease, to<WGPUShaderModule>(module));
}

BindGroupLayout create_bind_group_layout(Device device, std::span<const BindingKind> kinds) {
  std::vector<WGPUBindGroupLayoutEntry> entries(kinds.size());
  for (size_t i = 0; i < kinds.size(); ++i) {
    entries[i].binding = static_cast<uint32_t>(i);
    entries[i].visibility = WGPUShaderStage_Compute;
    WGPUBufferBindingLayout& buffer = entries[i].buffer;
    switch (kinds[i]) {
      case BindingKind::storage: buffer.type = WGPUBufferBindingType_Storage; break;
      case BindingKind::read_only_storage: buffer.type = WGPUBufferBindingType_ReadOnlyStorage; break;
      case BindingKind::uniform:
        buffer.type = WGPUBufferBindingType_Uniform;
        buffer.hasDynamicOffset = 1;
        break;
    }
  }
  WGPUBindGroupLayoutDescriptor descriptor{};
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  return from<BindGroupLayout>(call().DeviceCreateBindGroupLayout(native(device).device, &descriptor));
}
void release(BindGroupLayout layout) {
  release(&Functions::BindGroupLayoutRelease, to<WGPUBindGroupLayout>(layout));
}

Pipeline create_pipeline(Device device, std::string_view label, ShaderModule module, std::string_view entry_point,
                         std::span<const BindGroupLayout> groups) {
  std::vector<WGPUBindGroupLayout> layouts;
  for (const BindGroupLayout group : groups) layouts.push_back(to<WGPUBindGroupLayout>(group));
  WGPUPipelineLayoutDescriptor layout{};
  layout.label = view(label);
  layout.bindGroupLayoutCount = layouts.size();
  layout.bindGroupLayouts = layouts.data();
  WGPUComputePipelineDescriptor descriptor{};
  descriptor.label = view(label);
  descriptor.layout = call().DeviceCreatePipelineLayout(native(device).device, &layout);
  descriptor.compute.module = to<WGPUShaderModule>(module);
  descriptor.compute.entryPoint = view(entry_point);
  WGPUComputePipeline pipeline = call().DeviceCreateComputePipeline(native(device).device, &descriptor);
  release(&Functions::PipelineLayoutRelease, descriptor.layout);
  return from<Pipeline>(pipeline);
}
void release(Pipeline pipeline) {
  release(&Functions::ComputePipelineRelease, to<WGPUComputePipeline>(pipeline));
}

BindGroup create_bind_group(Device device, BindGroupLayout layout, std::span<const BoundRange> bindings) {
  std::vector<WGPUBindGroupEntry> entries(bindings.size());
  for (size_t i = 0; i < bindings.size(); ++i) {
    entries[i].binding = static_cast<uint32_t>(i);
    entries[i].buffer = to<WGPUBuffer>(bindings[i].buffer);
    entries[i].offset = bindings[i].offset;
    entries[i].size = bindings[i].bytes;
  }
  WGPUBindGroupDescriptor descriptor{};
  descriptor.layout = to<WGPUBindGroupLayout>(layout);
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  return from<BindGroup>(call().DeviceCreateBindGroup(native(device).device, &descriptor));
}
void release(BindGroup group) {
  release(&Functions::BindGroupRelease, to<WGPUBindGroup>(group));
}

QuerySet create_timestamps(Device device, uint32_t count) {
  WGPUQuerySetDescriptor descriptor{};
  descriptor.type = WGPUQueryType_Timestamp;
  descriptor.count = count;
  return from<QuerySet>(call().DeviceCreateQuerySet(native(device).device, &descriptor));
}
void release(QuerySet queries) {
  release(&Functions::QuerySetRelease, to<WGPUQuerySet>(queries));
}

// ---- commands

Encoder create_encoder(Device device, std::string_view label) {
  WGPUCommandEncoderDescriptor descriptor{};
  descriptor.label = view(label);
  return from<Encoder>(call().DeviceCreateCommandEncoder(native(device).device, &descriptor));
}
Encoder adopt_encoder(uintptr_t encoder) {
  call().CommandEncoderAddRef(reinterpret_cast<WGPUCommandEncoder>(encoder));
  return Encoder{encoder};
}
void release(Encoder encoder) {
  release(&Functions::CommandEncoderRelease, to<WGPUCommandEncoder>(encoder));
}

Pass begin_pass(Encoder encoder, const PassTimes& times) {
  constexpr uint32_t kNone = WGPU_QUERY_SET_INDEX_UNDEFINED;
  WGPUPassTimestampWrites writes{};
  writes.querySet = to<WGPUQuerySet>(times.queries);
  writes.beginningOfPassWriteIndex = times.begin.value_or(kNone);
  writes.endOfPassWriteIndex = times.end.value_or(kNone);
  WGPUComputePassDescriptor descriptor{};
  if (times.queries != QuerySet::none) descriptor.timestampWrites = &writes;
  return from<Pass>(call().CommandEncoderBeginComputePass(to<WGPUCommandEncoder>(encoder), &descriptor));
}
void end_pass(Pass pass) {
  call().ComputePassEncoderEnd(to<WGPUComputePassEncoder>(pass));
  release(&Functions::ComputePassEncoderRelease, to<WGPUComputePassEncoder>(pass));
}
void set_pipeline(Pass pass, Pipeline pipeline) {
  call().ComputePassEncoderSetPipeline(to<WGPUComputePassEncoder>(pass), to<WGPUComputePipeline>(pipeline));
}
void set_bind_group(Pass pass, uint32_t index, BindGroup group, std::optional<uint32_t> dynamic_offset) {
  const uint32_t offset = dynamic_offset.value_or(0);
  call().ComputePassEncoderSetBindGroup(to<WGPUComputePassEncoder>(pass), index, to<WGPUBindGroup>(group),
                                        dynamic_offset ? 1 : 0, &offset);
}
void dispatch(Pass pass, uint32_t x, uint32_t y, uint32_t z) {
  call().ComputePassEncoderDispatchWorkgroups(to<WGPUComputePassEncoder>(pass), x, y, z);
}
void dispatch_indirect(Pass pass, Buffer arguments, uint64_t offset) {
  call().ComputePassEncoderDispatchWorkgroupsIndirect(to<WGPUComputePassEncoder>(pass), to<WGPUBuffer>(arguments),
                                                      offset);
}

void copy_buffer(Encoder encoder, Buffer source, uint64_t source_offset, Buffer destination,
                 uint64_t destination_offset, uint64_t bytes) {
  call().CommandEncoderCopyBufferToBuffer(to<WGPUCommandEncoder>(encoder), to<WGPUBuffer>(source), source_offset,
                                          to<WGPUBuffer>(destination), destination_offset, bytes);
}
void clear_buffer(Encoder encoder, Buffer buffer, uint64_t offset, uint64_t bytes) {
  call().CommandEncoderClearBuffer(to<WGPUCommandEncoder>(encoder), to<WGPUBuffer>(buffer), offset, bytes);
}
void resolve_timestamps(Encoder encoder, QuerySet queries, uint32_t count, Buffer destination) {
  call().CommandEncoderResolveQuerySet(to<WGPUCommandEncoder>(encoder), to<WGPUQuerySet>(queries), 0, count,
                                       to<WGPUBuffer>(destination), 0);
}

void submit(Device device, Encoder encoder) {
  WGPUCommandBuffer commands = call().CommandEncoderFinish(to<WGPUCommandEncoder>(encoder), nullptr);
  call().QueueSubmit(native(device).queue, 1, &commands);
  release(&Functions::CommandBufferRelease, commands);
  release(encoder);
}

void when_submitted_work_done(Device device, std::function<void()> done) {
  WGPUQueueWorkDoneCallbackInfo info{};
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.userdata1 = pack(std::move(done));
  info.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void* packed, void*) {
    unpack<std::function<void()>>(packed)();
  };
  call().QueueOnSubmittedWorkDone(native(device).queue, info);
}

}  // namespace wavegate::device::webgpu::gpu
