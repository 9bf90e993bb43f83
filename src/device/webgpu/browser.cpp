#include <array>
#include <map>
#include <utility>
#include <vector>

#include "wavegate/device/webgpu/gpu.h"

// The browser's body: every function is one that the page supplies (web/lib/gpu.js). Objects are indices into a table
// of the page, numbers are 32 bits or doubles, and callbacks are ids that the page calls back with a status and a text.

#define WAVEGATE_IMPORT(name) __attribute__((import_module("gpu"), import_name(#name))) extern

namespace wavegate::device::webgpu::gpu {

extern "C" {
WAVEGATE_IMPORT(available) int32_t import_available();
WAVEGATE_IMPORT(request_device) uint32_t import_request_device(uint32_t done, uint32_t lost);
WAVEGATE_IMPORT(adopt_device) uint32_t import_adopt_device(uint32_t device, uint32_t lost);
WAVEGATE_IMPORT(device_number) double import_device_number(uint32_t device, uint32_t which);
WAVEGATE_IMPORT(device_text) uint32_t import_device_text(uint32_t device, uint32_t which, char* into, uint32_t room);
WAVEGATE_IMPORT(release_device) void import_release_device(uint32_t device);
WAVEGATE_IMPORT(nudge) void import_nudge(uint32_t device);
WAVEGATE_IMPORT(push_error_scope) void import_push_error_scope(uint32_t device, uint32_t filter);
WAVEGATE_IMPORT(pop_error_scope) void import_pop_error_scope(uint32_t device, uint32_t done);
WAVEGATE_IMPORT(create_buffer)
uint32_t import_create_buffer(uint32_t device, const char* label, uint32_t label_bytes, double bytes, uint32_t uses);
WAVEGATE_IMPORT(adopt_object) uint32_t import_adopt_object(uint32_t object);
WAVEGATE_IMPORT(buffer_size) double import_buffer_size(uint32_t buffer);
WAVEGATE_IMPORT(buffer_usage) uint32_t import_buffer_usage(uint32_t buffer);
WAVEGATE_IMPORT(destroy_buffer) void import_destroy_buffer(uint32_t buffer);
WAVEGATE_IMPORT(release_object) void import_release_object(uint32_t object);
WAVEGATE_IMPORT(write_buffer)
void import_write_buffer(uint32_t device, uint32_t buffer, double offset, const std::byte* data, uint32_t bytes);
WAVEGATE_IMPORT(map_buffer) void import_map_buffer(uint32_t buffer, double bytes, uint32_t done);
WAVEGATE_IMPORT(read_mapped)
uint32_t import_read_mapped(uint32_t buffer, double offset, std::byte* into, uint32_t bytes);
WAVEGATE_IMPORT(unmap_buffer) void import_unmap_buffer(uint32_t buffer);
WAVEGATE_IMPORT(create_shader_module)
uint32_t import_create_shader_module(uint32_t device, const char* label, uint32_t label_bytes, const char* wgsl,
                                     uint32_t wgsl_bytes);
WAVEGATE_IMPORT(create_bind_group_layout)
uint32_t import_create_bind_group_layout(uint32_t device, const uint8_t* kinds, uint32_t count);
WAVEGATE_IMPORT(create_pipeline)
uint32_t import_create_pipeline(uint32_t device, const char* label, uint32_t label_bytes, uint32_t module,
                                const char* entry, uint32_t entry_bytes, const uint32_t* groups, uint32_t count);
WAVEGATE_IMPORT(create_bind_group)
uint32_t import_create_bind_group(uint32_t device, uint32_t layout, const double* bindings, uint32_t count);
WAVEGATE_IMPORT(create_timestamps) uint32_t import_create_timestamps(uint32_t device, uint32_t count);
WAVEGATE_IMPORT(create_encoder)
uint32_t import_create_encoder(uint32_t device, const char* label, uint32_t label_bytes);
WAVEGATE_IMPORT(begin_pass) uint32_t import_begin_pass(uint32_t encoder, uint32_t queries, int32_t begin, int32_t end);
WAVEGATE_IMPORT(end_pass) void import_end_pass(uint32_t pass);
WAVEGATE_IMPORT(set_pipeline) void import_set_pipeline(uint32_t pass, uint32_t pipeline);
WAVEGATE_IMPORT(set_bind_group)
void import_set_bind_group(uint32_t pass, uint32_t index, uint32_t group, double dynamic_offset);
WAVEGATE_IMPORT(dispatch) void import_dispatch(uint32_t pass, uint32_t x, uint32_t y, uint32_t z);
WAVEGATE_IMPORT(dispatch_indirect) void import_dispatch_indirect(uint32_t pass, uint32_t buffer, double offset);
WAVEGATE_IMPORT(copy_buffer)
void import_copy_buffer(uint32_t encoder, uint32_t source, double source_offset, uint32_t destination,
                        double destination_offset, double bytes);
WAVEGATE_IMPORT(clear_buffer) void import_clear_buffer(uint32_t encoder, uint32_t buffer, double offset, double bytes);
WAVEGATE_IMPORT(resolve_timestamps)
void import_resolve_timestamps(uint32_t encoder, uint32_t queries, uint32_t count, uint32_t destination);
WAVEGATE_IMPORT(submit) void import_submit(uint32_t device, uint32_t encoder);
WAVEGATE_IMPORT(when_submitted_work_done) void import_when_submitted_work_done(uint32_t device, uint32_t done);
}

namespace {

/// An object as the page knows it.
template <typename Handle>
uint32_t number(Handle handle) {
  return static_cast<uint32_t>(handle);
}

uint32_t size_of(std::string_view text) {
  return static_cast<uint32_t>(text.size());
}

// ---- callbacks

/// What the page tells: a status, zero where nothing is wrong, and a text, which goes when the call returns.
using Callback = std::function<void(uint32_t status, std::string_view text)>;

/// The callbacks that wait, by id.
class Callbacks {
 public:
  uint32_t add(Callback callback) {
    waiting_.emplace(++last_, std::move(callback));
    return last_;
  }
  /// Once: a callback that was called or dropped is ignored.
  void call(uint32_t id, uint32_t status, std::string_view text) {
    auto found = waiting_.extract(id);
    if (!found.empty()) found.mapped()(status, text);
  }
  void drop(uint32_t id) { waiting_.erase(id); }

 private:
  std::map<uint32_t, Callback> waiting_;
  uint32_t last_ = 0;
};

Callbacks& callbacks() {
  static Callbacks all;
  return all;
}

/// The callback that hears of the loss of each device.
std::map<Device, uint32_t>& loss_callbacks() {
  static std::map<Device, uint32_t> all;
  return all;
}

uint32_t add_lost(std::function<void(std::string)> lost) {
  return callbacks().add([lost = std::move(lost)](uint32_t, std::string_view reason) {
    if (lost) lost(std::string(reason));
  });
}

// ---- the device

/// What device_number tells, in the page's order.
enum class DeviceNumber : uint32_t {
  workgroups,
  workgroup_size_x,
  workgroup_size_y,
  workgroup_size_z,
  workgroup_invocations,
  workgroup_memory,
  storage_buffers,
  storage_alignment,
  uniform_alignment,
  storage_binding,
  uniform_binding,
  buffer,
  timestamps,
  float16,
  subgroups,
  minimum_subgroup_size,
  maximum_subgroup_size,
  is_cpu,
};

std::string device_text(uint32_t device, uint32_t which) {
  std::array<char, 256> text{};
  const uint32_t size = import_device_text(device, which, text.data(), static_cast<uint32_t>(text.size()));
  return std::string(text.data(), size);
}

DeviceInfo info_of(uint32_t device) {
  const auto small = [&](DeviceNumber which) {
    return static_cast<uint32_t>(import_device_number(device, static_cast<uint32_t>(which)));
  };
  const auto large = [&](DeviceNumber which) {
    return static_cast<uint64_t>(import_device_number(device, static_cast<uint32_t>(which)));
  };
  DeviceInfo info;
  info.name = device_text(device, 0);
  info.driver = device_text(device, 1);
  info.is_cpu = small(DeviceNumber::is_cpu) != 0;
  info.minimum_subgroup_size = small(DeviceNumber::minimum_subgroup_size);
  info.maximum_subgroup_size = small(DeviceNumber::maximum_subgroup_size);
  info.limits.workgroups = small(DeviceNumber::workgroups);
  info.limits.workgroup_size_x = small(DeviceNumber::workgroup_size_x);
  info.limits.workgroup_size_y = small(DeviceNumber::workgroup_size_y);
  info.limits.workgroup_size_z = small(DeviceNumber::workgroup_size_z);
  info.limits.workgroup_invocations = small(DeviceNumber::workgroup_invocations);
  info.limits.workgroup_memory = small(DeviceNumber::workgroup_memory);
  info.limits.storage_buffers = small(DeviceNumber::storage_buffers);
  info.limits.storage_alignment = small(DeviceNumber::storage_alignment);
  info.limits.uniform_alignment = small(DeviceNumber::uniform_alignment);
  info.limits.storage_binding = large(DeviceNumber::storage_binding);
  info.limits.uniform_binding = large(DeviceNumber::uniform_binding);
  info.limits.buffer = large(DeviceNumber::buffer);
  info.features.timestamps = small(DeviceNumber::timestamps) != 0;
  info.features.float16 = small(DeviceNumber::float16) != 0;
  info.features.subgroups = small(DeviceNumber::subgroups) != 0;
  return info;
}

}  // namespace

/// What the page calls when something has ended. The text is the page's.
extern "C" __attribute__((export_name("called_back"))) void called_back(uint32_t id, uint32_t status, const char* text,
                                                                        uint32_t bytes) {
  callbacks().call(id, status, {text, bytes});
}

Result<void> available() {
  if (import_available() != 0) return {};
  return device_error(
      "there is no WebGPU here; open the page in a browser that has it (over https or on this machine), or outside of "
      "a "
      "browser set navigator.gpu, as the npm package \"webgpu\" lets you");
}

Device request_device(DeviceRequest request, std::function<void(Result<DeviceInfo>)> done) {
  const uint32_t lost = add_lost(std::move(request.lost));
  // The status is the device, and zero where the text says why there is none.
  const uint32_t id = callbacks().add([done = std::move(done)](uint32_t device, std::string_view text) {
    if (device == 0) return done(device_error(std::string(text)));
    done(info_of(device));
  });
  const Device device{import_request_device(id, lost)};
  loss_callbacks()[device] = lost;
  return device;
}

Result<OpenDevice> adopt_device(uintptr_t, uintptr_t device, std::function<void(std::string reason)> lost) {
  const uint32_t id = add_lost(std::move(lost));
  const Device adopted{import_adopt_device(device, id)};
  loss_callbacks()[adopted] = id;
  return OpenDevice{adopted, info_of(number(adopted))};
}

void pump(Device) {}

void look_for_loss(Device) {}

bool can_wait() {
  return false;
}

void nudge(Device device) {
  import_nudge(number(device));
}

void release(Device device) {
  if (const auto lost = loss_callbacks().extract(device); !lost.empty()) callbacks().drop(lost.mapped());
  import_release_device(number(device));
}

// ---- errors

void push_error_scope(Device device, ErrorFilter filter) {
  import_push_error_scope(number(device), static_cast<uint32_t>(filter));
}

void pop_error_scope(Device device, std::function<void(std::optional<GpuError>)> done) {
  // The status is 0 without an error, else 1 and the filter.
  const uint32_t id = callbacks().add([done = std::move(done)](uint32_t status, std::string_view message) {
    if (status == 0) return done(std::nullopt);
    done(GpuError{static_cast<ErrorFilter>(status - 1), std::string(message)});
  });
  import_pop_error_scope(number(device), id);
}

// ---- buffers

Buffer create_buffer(Device device, std::string_view label, uint64_t bytes, uint32_t uses) {
  return Buffer{import_create_buffer(number(device), label.data(), size_of(label), static_cast<double>(bytes), uses)};
}

Buffer adopt_buffer(uintptr_t buffer) {
  return Buffer{import_adopt_object(buffer)};
}

uint64_t size_of(Buffer buffer) {
  return static_cast<uint64_t>(import_buffer_size(number(buffer)));
}

uint32_t uses_of(Buffer buffer) {
  return import_buffer_usage(number(buffer));
}

void destroy(Buffer buffer) {
  import_destroy_buffer(number(buffer));
}

void release(Buffer buffer) {
  import_release_object(number(buffer));
}

void write_buffer(Device device, Buffer buffer, uint64_t offset, std::span<const std::byte> bytes) {
  import_write_buffer(number(device), number(buffer), static_cast<double>(offset), bytes.data(),
                      static_cast<uint32_t>(bytes.size()));
}

void map_for_reading(Device, Buffer buffer, uint64_t bytes, std::function<void(Result<void>)> done) {
  const uint32_t id = callbacks().add([done = std::move(done)](uint32_t status, std::string_view message) {
    if (status == 0) return done({});
    done(device_error(std::string(message)));
  });
  import_map_buffer(number(buffer), static_cast<double>(bytes), id);
}

bool read_mapped(Buffer buffer, uint64_t offset, std::span<std::byte> bytes) {
  return import_read_mapped(number(buffer), static_cast<double>(offset), bytes.data(),
                            static_cast<uint32_t>(bytes.size())) != 0;
}

void unmap(Buffer buffer) {
  import_unmap_buffer(number(buffer));
}

// ---- pipelines

ShaderModule create_shader_module(Device device, std::string_view label, std::string_view wgsl) {
  return ShaderModule{
      import_create_shader_module(number(device), label.data(), size_of(label), wgsl.data(), size_of(wgsl))};
}

void release(ShaderModule module) {
  import_release_object(number(module));
}

BindGroupLayout create_bind_group_layout(Device device, std::span<const BindingKind> kinds) {
  static_assert(sizeof(BindingKind) == 1);
  return BindGroupLayout{import_create_bind_group_layout(number(device), reinterpret_cast<const uint8_t*>(kinds.data()),
                                                         static_cast<uint32_t>(kinds.size()))};
}

void release(BindGroupLayout layout) {
  import_release_object(number(layout));
}

Pipeline create_pipeline(Device device, std::string_view label, ShaderModule module, std::string_view entry_point,
                         std::span<const BindGroupLayout> groups) {
  std::vector<uint32_t> numbers;
  for (const BindGroupLayout group : groups) numbers.push_back(number(group));
  return Pipeline{import_create_pipeline(number(device), label.data(), size_of(label), number(module),
                                         entry_point.data(), size_of(entry_point), numbers.data(),
                                         static_cast<uint32_t>(numbers.size()))};
}

void release(Pipeline pipeline) {
  import_release_object(number(pipeline));
}

BindGroup create_bind_group(Device device, BindGroupLayout layout, std::span<const BoundRange> bindings) {
  std::vector<double> numbers;  // of each binding the buffer, offset and size
  for (const BoundRange& binding : bindings) {
    numbers.push_back(number(binding.buffer));
    numbers.push_back(static_cast<double>(binding.offset));
    numbers.push_back(static_cast<double>(binding.bytes));
  }
  return BindGroup{
      import_create_bind_group(number(device), number(layout), numbers.data(), static_cast<uint32_t>(bindings.size()))};
}

void release(BindGroup group) {
  import_release_object(number(group));
}

QuerySet create_timestamps(Device device, uint32_t count) {
  return QuerySet{import_create_timestamps(number(device), count)};
}

void release(QuerySet queries) {
  import_release_object(number(queries));
}

// ---- commands

Encoder create_encoder(Device device, std::string_view label) {
  return Encoder{import_create_encoder(number(device), label.data(), size_of(label))};
}

Encoder adopt_encoder(uintptr_t encoder) {
  return Encoder{import_adopt_object(encoder)};
}

void release(Encoder encoder) {
  import_release_object(number(encoder));
}

Pass begin_pass(Encoder encoder, const PassTimes& times) {
  const auto index = [](const std::optional<uint32_t>& query) { return query ? static_cast<int32_t>(*query) : -1; };
  return Pass{import_begin_pass(number(encoder), number(times.queries), index(times.begin), index(times.end))};
}

void end_pass(Pass pass) {
  import_end_pass(number(pass));
}

void set_pipeline(Pass pass, Pipeline pipeline) {
  import_set_pipeline(number(pass), number(pipeline));
}

void set_bind_group(Pass pass, uint32_t index, BindGroup group, std::optional<uint32_t> dynamic_offset) {
  import_set_bind_group(number(pass), index, number(group), dynamic_offset ? *dynamic_offset : -1.0);
}

void dispatch(Pass pass, uint32_t x, uint32_t y, uint32_t z) {
  import_dispatch(number(pass), x, y, z);
}

void dispatch_indirect(Pass pass, Buffer arguments, uint64_t offset) {
  import_dispatch_indirect(number(pass), number(arguments), static_cast<double>(offset));
}

void copy_buffer(Encoder encoder, Buffer source, uint64_t source_offset, Buffer destination,
                 uint64_t destination_offset, uint64_t bytes) {
  import_copy_buffer(number(encoder), number(source), static_cast<double>(source_offset), number(destination),
                     static_cast<double>(destination_offset), static_cast<double>(bytes));
}

void clear_buffer(Encoder encoder, Buffer buffer, uint64_t offset, uint64_t bytes) {
  import_clear_buffer(number(encoder), number(buffer), static_cast<double>(offset), static_cast<double>(bytes));
}

void resolve_timestamps(Encoder encoder, QuerySet queries, uint32_t count, Buffer destination) {
  import_resolve_timestamps(number(encoder), number(queries), count, number(destination));
}

void submit(Device device, Encoder encoder) {
  import_submit(number(device), number(encoder));
}

void when_submitted_work_done(Device device, std::function<void()> done) {
  const uint32_t id = callbacks().add([done = std::move(done)](uint32_t, std::string_view) { done(); });
  import_when_submitted_work_done(number(device), id);
}

}  // namespace wavegate::device::webgpu::gpu
