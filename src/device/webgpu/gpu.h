#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wavegate/base/result.h"

/// WebGPU as this backend uses it: a thin layer of plain functions with two bodies. `native.cpp` calls a shared library
/// that it loads at run time, `browser.cpp` the page's own WebGPU through functions that wasm imports. Nothing else
/// knows which of them is there.
///
/// Nothing here waits. What takes time ends in a callback: natively from within pump(), in a browser from its event
/// loop. A callback is called exactly once, never from within the call that took it, and may call anything here.
///
/// Handles are plain numbers, and `none` is no object. Whoever creates an object releases it; an object that others
/// use may be released at once. Making an invalid object is no failure of the call: error scopes report it, and
/// commands with it do nothing.
namespace wavegate::device::webgpu::gpu {

enum class Device : uintptr_t { none };
enum class Buffer : uintptr_t { none };
enum class ShaderModule : uintptr_t { none };
enum class BindGroupLayout : uintptr_t { none };
enum class Pipeline : uintptr_t { none };
enum class BindGroup : uintptr_t { none };
enum class QuerySet : uintptr_t { none };
enum class Encoder : uintptr_t { none };
enum class Pass : uintptr_t { none };

// ---- the device

/// What the device was made with: all that its adapter has. Sizes are in bytes.
struct Limits {
  uint32_t workgroups = 0;  ///< a dispatch, in each dimension
  uint32_t workgroup_size_x = 0;
  uint32_t workgroup_size_y = 0;
  uint32_t workgroup_size_z = 0;
  uint32_t workgroup_invocations = 0;
  uint32_t workgroup_memory = 0;
  uint32_t storage_buffers = 0;    ///< a stage
  uint32_t storage_alignment = 0;  ///< of offsets
  uint32_t uniform_alignment = 0;
  uint64_t storage_binding = 0;  ///< largest
  uint64_t uniform_binding = 0;
  uint64_t buffer = 0;  ///< largest
};

struct Features {
  bool timestamps = false;
  bool float16 = false;
  bool subgroups = false;
};

struct DeviceInfo {
  std::string name;    ///< of the adapter, as people know it; "" if it is not told
  std::string driver;  ///< with its version, as far as it is told
  bool is_cpu = false;
  bool checks_indirect = true;         ///< see DeviceRequest::validates
  uint32_t minimum_subgroup_size = 1;  ///< 1 without subgroups
  uint32_t maximum_subgroup_size = 1;
  Limits limits;
  Features features;
};

struct OpenDevice {
  Device device = Device::none;
  DeviceInfo info;
};

struct DeviceRequest {
  /// Indirect dispatches are checked by the implementation, at its cost, which a browser always does.
  bool validates = false;
  /// Hears, at most once, why the device is gone. Not called when it is released.
  std::function<void(std::string reason)> lost = {};
};

/// Is there a WebGPU at all? A `device` error that says how to get one, if not.
Result<void> available();

/// Asks for the best adapter and for a device with all its limits and the features above. The handle is there at once;
/// only pump() and release() take it before the callback has heard that there is a device. Precondition: available().
Device request_device(DeviceRequest request, std::function<void(Result<DeviceInfo>)> done);

/// Adds a reference to a device of the application, to be released. `instance` and `device` are the implementation's
/// handles as numbers; a browser has no instance. `lost` is as in DeviceRequest, and hears as well if the application
/// destroys the device.
Result<OpenDevice> adopt_device(uintptr_t instance, uintptr_t device, std::function<void(std::string reason)> lost);

/// Calls the callbacks of what has ended on the device, and does not wait. In a browser: nothing.
void pump(Device device);

/// Calls the callback that hears of the loss, if the device is gone and it was not told yet; no other. Does not wait.
/// In a browser: nothing, since the page tells it.
void look_for_loss(Device device);

/// May the host wait for callbacks by calling pump() again and again? Not in a browser, whose callbacks come when the
/// caller has returned.
bool can_wait();

/// Some engines look for ended work only now and then: makes them look soon. Call it after the last submission that a
/// callback waits for.
void nudge(Device device);

void release(Device device);

// ---- errors

enum class ErrorFilter : uint8_t { validation, out_of_memory, internal };

struct GpuError {
  ErrorFilter kind = ErrorFilter::validation;
  std::string message;
};

void push_error_scope(Device device, ErrorFilter filter);
/// Tells the first error of the scope that was pushed last, if there was one.
void pop_error_scope(Device device, std::function<void(std::optional<GpuError>)> done);

// ---- buffers

/// Bits of what a buffer is for; the numbers are WebGPU's.
enum BufferUse : uint32_t {
  kMapRead = 0x1,
  kCopySource = 0x4,
  kCopyDestination = 0x8,
  kUniform = 0x40,
  kStorage = 0x80,
  kIndirect = 0x100,
  kQueryResolve = 0x200,
};

/// Holds zeroes. `bytes` is a multiple of 4.
Buffer create_buffer(Device device, std::string_view label, uint64_t bytes, uint32_t uses);
/// Adds a reference to a buffer of the application. The same buffer is the same handle.
Buffer adopt_buffer(uintptr_t buffer);
/// What a buffer was made with.
uint64_t size_of(Buffer buffer);
uint32_t uses_of(Buffer buffer);
/// Gives the memory back as soon as nothing submitted uses it. For buffers that create_buffer() made.
void destroy(Buffer buffer);
/// Drops the reference, and lets the memory live if others hold one.
void release(Buffer buffer);

/// Writes before all that is submitted afterwards. Offset and size are multiples of 4. Copies the bytes.
void write_buffer(Device device, Buffer buffer, uint64_t offset, std::span<const std::byte> bytes);

/// Maps the first `bytes` of a buffer for reading once all is done that was submitted before. The callback hears
/// whether it is mapped, or why not.
void map_for_reading(Device device, Buffer buffer, uint64_t bytes, std::function<void(Result<void>)> done);
/// Copies from a mapped buffer. Offset is a multiple of 8, size of 4. False if it is mapped no longer, since the device
/// is gone.
[[nodiscard]] bool read_mapped(Buffer buffer, uint64_t offset, std::span<std::byte> bytes);
void unmap(Buffer buffer);

// ---- pipelines

ShaderModule create_shader_module(Device device, std::string_view label, std::string_view wgsl);
void release(ShaderModule module);

enum class BindingKind : uint8_t {
  storage,            ///< read and written
  read_only_storage,  ///< only read
  uniform,            ///< with a dynamic offset
};
/// Binding i of the group is of kind `kinds[i]`.
BindGroupLayout create_bind_group_layout(Device device, std::span<const BindingKind> kinds);
void release(BindGroupLayout layout);

/// A pipeline with a layout of its own, of these groups in order.
Pipeline create_pipeline(Device device, std::string_view label, ShaderModule module, std::string_view entry_point,
                         std::span<const BindGroupLayout> groups);
void release(Pipeline pipeline);

struct BoundRange {
  Buffer buffer = Buffer::none;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};
BindGroup create_bind_group(Device device, BindGroupLayout layout, std::span<const BoundRange> bindings);
void release(BindGroup group);

QuerySet create_timestamps(Device device, uint32_t count);
void release(QuerySet queries);

// ---- commands

Encoder create_encoder(Device device, std::string_view label);
/// Takes commands for the application's encoder; adds a reference, to be released and not submitted.
Encoder adopt_encoder(uintptr_t encoder);
void release(Encoder encoder);

/// Where a compute pass writes the times of its begin and end, if anywhere: indices into the query set.
struct PassTimes {
  QuerySet queries = QuerySet::none;
  std::optional<uint32_t> begin = {};
  std::optional<uint32_t> end = {};
};
Pass begin_pass(Encoder encoder, const PassTimes& times = {});
/// Ends the pass and releases it.
void end_pass(Pass pass);
void set_pipeline(Pass pass, Pipeline pipeline);
/// `dynamic_offset`: for a group with a uniform binding.
void set_bind_group(Pass pass, uint32_t index, BindGroup group, std::optional<uint32_t> dynamic_offset = {});
void dispatch(Pass pass, uint32_t x, uint32_t y, uint32_t z);
void dispatch_indirect(Pass pass, Buffer arguments, uint64_t offset);

// Outside a pass. Offsets and sizes are multiples of 4; source and destination are different buffers.
void copy_buffer(Encoder encoder, Buffer source, uint64_t source_offset, Buffer destination,
                 uint64_t destination_offset, uint64_t bytes);
void clear_buffer(Encoder encoder, Buffer buffer, uint64_t offset, uint64_t bytes);
/// Writes timestamps, in nanoseconds and 8 bytes each, to the beginning of a buffer with kQueryResolve.
void resolve_timestamps(Encoder encoder, QuerySet queries, uint32_t count, Buffer destination);

/// Finishes the encoder, submits what it holds, and releases it.
void submit(Device device, Encoder encoder);
/// Called when all that was submitted before is done; not told how it went, since errors come elsewhere.
void when_submitted_work_done(Device device, std::function<void()> done);

}  // namespace wavegate::device::webgpu::gpu
