#pragma once

#include <utility>

#define WGPU_SKIP_DECLARATIONS
#include <webgpu/webgpu.h>

#include "wavegate/base/result.h"

/// webgpu.h as a table of functions, from Dawn's library, which is found at run time: a machine without it only lacks
/// the device. For native.cpp alone.
namespace wavegate::device::webgpu::gpu {

#define WAVEGATE_WEBGPU_FUNCTIONS(X)              \
  X(AdapterGetInfo)                               \
  X(AdapterGetLimits)                             \
  X(AdapterHasFeature)                            \
  X(AdapterInfoFreeMembers)                       \
  X(AdapterRelease)                               \
  X(AdapterRequestDevice)                         \
  X(BindGroupLayoutRelease)                       \
  X(BindGroupRelease)                             \
  X(BufferAddRef)                                 \
  X(BufferDestroy)                                \
  X(BufferGetConstMappedRange)                    \
  X(BufferGetSize)                                \
  X(BufferGetUsage)                               \
  X(BufferMapAsync)                               \
  X(BufferRelease)                                \
  X(BufferUnmap)                                  \
  X(CommandBufferRelease)                         \
  X(CommandEncoderAddRef)                         \
  X(CommandEncoderBeginComputePass)               \
  X(CommandEncoderClearBuffer)                    \
  X(CommandEncoderCopyBufferToBuffer)             \
  X(CommandEncoderFinish)                         \
  X(CommandEncoderRelease)                        \
  X(CommandEncoderResolveQuerySet)                \
  X(ComputePassEncoderDispatchWorkgroups)         \
  X(ComputePassEncoderDispatchWorkgroupsIndirect) \
  X(ComputePassEncoderEnd)                        \
  X(ComputePassEncoderRelease)                    \
  X(ComputePassEncoderSetBindGroup)               \
  X(ComputePassEncoderSetPipeline)                \
  X(ComputePipelineRelease)                       \
  X(CreateInstance)                               \
  X(DeviceAddRef)                                 \
  X(DeviceCreateBindGroup)                        \
  X(DeviceCreateBindGroupLayout)                  \
  X(DeviceCreateBuffer)                           \
  X(DeviceCreateCommandEncoder)                   \
  X(DeviceCreateComputePipeline)                  \
  X(DeviceCreatePipelineLayout)                   \
  X(DeviceCreateQuerySet)                         \
  X(DeviceCreateShaderModule)                     \
  X(DeviceGetAdapterInfo)                         \
  X(DeviceGetLimits)                              \
  X(DeviceGetLostFuture)                          \
  X(DeviceGetQueue)                               \
  X(DeviceHasFeature)                             \
  X(DevicePopErrorScope)                          \
  X(DevicePushErrorScope)                         \
  X(DeviceRelease)                                \
  X(InstanceAddRef)                               \
  X(InstanceProcessEvents)                        \
  X(InstanceRelease)                              \
  X(InstanceRequestAdapter)                       \
  X(InstanceWaitAny)                              \
  X(PipelineLayoutRelease)                        \
  X(QuerySetRelease)                              \
  X(QueueOnSubmittedWorkDone)                     \
  X(QueueRelease)                                 \
  X(QueueSubmit)                                  \
  X(QueueWriteBuffer)                             \
  X(ShaderModuleRelease)

struct Functions {
#define WAVEGATE_MEMBER(name) WGPUProc##name name = nullptr;
  WAVEGATE_WEBGPU_FUNCTIONS(WAVEGATE_MEMBER)
#undef WAVEGATE_MEMBER
};

// What the header and this library number or lay out differently.
constexpr auto kTimestampQuery = static_cast<WGPUFeatureName>(0x3);
constexpr auto kShaderF16 = static_cast<WGPUFeatureName>(0xA);
constexpr auto kSubgroups = static_cast<WGPUFeatureName>(0x11);
constexpr auto kCoreFeaturesAndLimits = static_cast<WGPUFeatureName>(0x12);

struct InstanceDescriptor {
  WGPUChainedStruct* next = nullptr;
  struct {
    WGPUChainedStruct* next = nullptr;
    WGPUBool can_wait_with_timeout = 0;
    size_t most_waits_with_timeout = 0;
  } capabilities;
};

/// Loaded once a process, and never unloaded. The error says how to get it.
const Result<Functions>& library();

/// Precondition: the library is there, as it is for whoever holds a handle.
inline const Functions& call() {
  return *library();
}

/// At the end of the process the library ends before whatever was made before it was loaded, such as a device that an
/// application keeps in a global variable. There is nothing left to release then.
bool has_ended();

template <typename Release, typename Object>
void release(Release Functions::*function, Object object) {
  if (!has_ended()) (call().*function)(object);
}

}  // namespace wavegate::device::webgpu::gpu
