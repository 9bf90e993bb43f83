#include "wavegate/device/vulkan/executable.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "wavegate/base/format.h"
#include "wavegate/device/vulkan/opaque_capabilities.h"
#include "wavegate/device/vulkan/structure.h"
#include "wavegate/device/vulkan/vulkan_error.h"
#include "wavegate/emit/spirv/emitter.h"

namespace wavegate::device::vulkan {
namespace {

uint32_t index_of(graph::BufferId buffer) {
  return static_cast<uint32_t>(buffer);
}

Result<OwnedCommandPool> make_command_pool(Context& context) {
  auto info = structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  info.queueFamilyIndex = context.queue_family;
  VkCommandPool pool = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkCreateCommandPool(context.device, &info, nullptr, &pool), "making a command pool");
  return OwnedCommandPool(context.device, pool);
}

Result<VkCommandBuffer> make_command_buffer(Context& context, VkCommandPool pool) {
  auto info = structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = pool;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkAllocateCommandBuffers(context.device, &info, &commands), "making a command buffer");
  return commands;
}

Result<OwnedFence> make_fence(Context& context) {
  const auto info = structure<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  VkFence fence = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkCreateFence(context.device, &info, nullptr, &fence), "making a fence");
  return OwnedFence(context.device, fence);
}

Result<void> begin(VkCommandBuffer commands, VkCommandBufferUsageFlags flags) {
  auto info = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  info.flags = flags;
  WAVEGATE_VULKAN(vkBeginCommandBuffer(commands, &info), "beginning a command buffer");
  return {};
}

Result<void> submit_commands(Context& context, std::span<const VkCommandBuffer> commands, VkFence fence,
                             std::string_view what) {
  auto info = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.commandBufferCount = static_cast<uint32_t>(commands.size());
  info.pCommandBuffers = commands.data();
  WAVEGATE_VULKAN(vkQueueSubmit(context.queue, 1, &info, fence), what);
  ++context.counters.submissions;
  return {};
}

/// Whether a wait that ended so leaves the commands done: a lost device runs nothing any more.
bool is_over(VkResult waited) {
  return waited == VK_SUCCESS || waited == VK_ERROR_DEVICE_LOST;
}

/// Waits however often waiting fails, which it may for want of memory: what the commands use is about to be destroyed.
void outlast(Context& context, VkFence fence) {
  while (!is_over(vkWaitForFences(context.device, 1, &fence, VK_TRUE, UINT64_MAX)))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

Result<void> run_once(Context& context, std::string_view what, const std::function<void(VkCommandBuffer)>& record) {
  WAVEGATE_TRY(const OwnedCommandPool pool, make_command_pool(context));
  WAVEGATE_TRY(const VkCommandBuffer commands, make_command_buffer(context, pool.get()));
  WAVEGATE_TRY(const OwnedFence fence, make_fence(context));
  WAVEGATE_CHECK(begin(commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT));
  record(commands);
  WAVEGATE_VULKAN(vkEndCommandBuffer(commands), what);
  WAVEGATE_CHECK(submit_commands(context, {&commands, 1}, fence.get(), what));
  ++context.counters.host_waits;
  const VkFence handle = fence.get();
  const VkResult waited = vkWaitForFences(context.device, 1, &handle, VK_TRUE, UINT64_MAX);
  if (!is_over(waited)) outlast(context, handle);
  WAVEGATE_VULKAN(waited, what);
  return {};
}

Result<std::unique_ptr<VulkanExecutable>> VulkanExecutable::load(Context& context,
                                                                 std::shared_ptr<const graph::Graph> graph) {
  std::unique_ptr<VulkanExecutable> executable(new VulkanExecutable(context, std::move(graph)));
  WAVEGATE_CHECK(executable->build_pipelines());
  WAVEGATE_CHECK(executable->allocate());
  WAVEGATE_CHECK(executable->make_commands());
  executable->pending_.clear_memory(*executable->graph_);
  executable->pending_.initialise(executable->graph_);
  return executable;
}

VulkanExecutable::~VulkanExecutable() {
  // Nothing may be destroyed under a running command buffer.
  if (in_flight_) outlast(context_, fence_.get());
}

std::string VulkanExecutable::name() const {
  return format("graph \"{}\"", graph_->name);
}

Result<void> VulkanExecutable::build_pipelines() {
  for (const graph::Kernel& kernel : graph_->kernels) {
    const std::string& kernel_name = graph::interface_of(kernel).name;
    const LaunchShape shape{graph::binding_count(kernel), graph::word_count(kernel)};
    const Pipeline* pipeline = nullptr;
    if (const auto* opaque = std::get_if<std::shared_ptr<const kir::OpaqueKernel>>(&kernel)) {
      WAVEGATE_CHECK(check_capabilities((*opaque)->spirv, context_.enabled, context_.physical, kernel_name));
      WAVEGATE_TRY(pipeline, context_.pipelines->get((*opaque)->spirv, (*opaque)->entry_point, shape, kernel_name));
    } else {
      WAVEGATE_TRY(const emit::spirv::Module module,
                   emit::spirv::emit(*std::get<std::shared_ptr<const kir::Kernel>>(kernel), context_.profile));
      WAVEGATE_TRY(pipeline, context_.pipelines->get(module.words, "main", shape, kernel_name));
    }
    pipelines_.push_back(pipeline);
  }
  context_.pipelines->save();
  return {};
}

Result<void> VulkanExecutable::allocate() {
  std::vector<BufferRequest> requests;
  for (const graph::Buffer& buffer : graph_->buffers)
    if (!buffer.external) requests.push_back({buffer.name, buffer.bytes});
  WAVEGATE_TRY(memory_, create_device_buffers(context_, requests, name()));

  external_.resize(graph_->buffers.size());
  uint64_t output_bytes = 0;
  auto internal = memory_.buffers.begin();
  for (const graph::Buffer& buffer : graph_->buffers) {
    handles_.push_back(buffer.external ? VK_NULL_HANDLE : (internal++)->get());
    output_offsets_.push_back(output_bytes);
    if (buffer.output) output_bytes += (buffer.bytes + 63) / 64 * 64;
  }
  if (output_bytes != 0) {
    WAVEGATE_TRY(outputs_, create_host_buffer(context_, output_bytes, HostUse::readback,
                                              format("{}: copying its outputs for the host", name())));
  }
  return {};
}

Result<void> VulkanExecutable::make_commands() {
  WAVEGATE_TRY(command_pool_, make_command_pool(context_));
  WAVEGATE_TRY(prologue_commands_, make_command_buffer(context_, command_pool_.get()));
  WAVEGATE_TRY(graph_commands_, make_command_buffer(context_, command_pool_.get()));
  WAVEGATE_TRY(fence_, make_fence(context_));
  if (!context_.profile.features.timestamps) return {};
  auto info = structure<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = 2;
  VkQueryPool pool = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkCreateQueryPool(context_.device, &info, nullptr, &pool), "making timestamps");
  timestamps_ = OwnedQueryPool(context_.device, pool);
  return {};
}

Result<void> VulkanExecutable::check_range(graph::BufferId buffer, uint64_t offset, uint64_t bytes,
                                           std::string_view verb) const {
  if (index_of(buffer) >= graph_->buffers.size())
    return invalid_input(
        format("{}: there is no buffer {} to {}; it has {}", name(), index_of(buffer), verb, graph_->buffers.size()));
  const graph::Buffer& info = graph_->buffers[index_of(buffer)];
  if (offset > info.bytes || bytes > info.bytes - offset)
    return invalid_input(format("{}: {} bytes at {} cannot be {} in buffer \"{}\" of {} bytes", name(), bytes, offset,
                                verb, info.name, info.bytes));
  if (in_flight_)
    return invalid_input(
        format("{}: buffer \"{}\" cannot be {} during a run; wait for it first", name(), info.name, verb));
  return {};
}

Result<void> VulkanExecutable::bind(graph::BufferId buffer, std::shared_ptr<Buffer> memory) {
  WAVEGATE_CHECK(check_range(buffer, 0, 0, "bound"));
  const graph::Buffer& info = graph_->buffers[index_of(buffer)];
  if (!info.external)
    return invalid_input(
        format("{}: buffer \"{}\" is not external; only external buffers are bound", name(), info.name));
  auto ours = std::dynamic_pointer_cast<MemoryBuffer>(memory);
  if (!ours || &ours->context() != &context_)
    return invalid_input(format("{}: the memory for buffer \"{}\" is not of this device; allocate or borrow it there",
                                name(), info.name));
  if (ours->bytes() < info.bytes)
    return invalid_input(format("{}: buffer \"{}\" needs {} bytes, and the memory bound to it has {}", name(),
                                info.name, info.bytes, ours->bytes()));
  std::shared_ptr<MemoryBuffer>& slot = external_[index_of(buffer)];
  if (handles_[index_of(buffer)] != ours->handle()) {
    handles_[index_of(buffer)] = ours->handle();
    recording_.reset();
    recorded_ = false;
  }
  slot = std::move(ours);
  return {};
}

Result<void> VulkanExecutable::write(graph::BufferId buffer, uint64_t offset, std::span<const std::byte> bytes) {
  WAVEGATE_CHECK(check_range(buffer, offset, bytes.size(), "written"));
  pending_.write(buffer, offset, bytes);
  return {};
}

Result<void> VulkanExecutable::reset() {
  if (in_flight_) return invalid_input(format("{}: it cannot be reset during a run; wait for it first", name()));
  pending_.initialise(graph_);
  return {};
}

Result<void> VulkanExecutable::check_bound() const {
  for (size_t i = 0; i < handles_.size(); ++i)
    if (handles_[i] == VK_NULL_HANDLE)
      return invalid_input(format("{}: external buffer \"{}\" has no memory; bind some before the run", name(),
                                  graph_->buffers[i].name));
  return {};
}

Result<BufferPlace> VulkanExecutable::place(graph::BufferId buffer) const {
  if (index_of(buffer) >= graph_->buffers.size())
    return invalid_input(
        format("{}: there is no buffer {}; it has {}", name(), index_of(buffer), graph_->buffers.size()));
  const graph::Buffer& info = graph_->buffers[index_of(buffer)];
  const VkBuffer handle = handles_[index_of(buffer)];
  if (handle == VK_NULL_HANDLE)
    return invalid_input(format("{}: external buffer \"{}\" has no memory; bind some first", name(), info.name));
  return BufferPlace{handle, 0, info.bytes};
}

bool VulkanExecutable::Prepared::stale() const {
  return std::any_of(external.begin(), external.end(), [](const auto& memory) { return memory.expired(); });
}

Result<void> VulkanExecutable::prepare_recording() {
  WAVEGATE_CHECK(check_bound());
  if (recording_) return {};
  std::erase_if(prepared_, [](const Prepared& prepared) { return prepared.stale(); });
  const auto known = std::find_if(prepared_.begin(), prepared_.end(),
                                  [&](const Prepared& prepared) { return prepared.handles == handles_; });
  if (known != prepared_.end()) {
    std::rotate(prepared_.begin(), known, std::next(known));
  } else {
    Prepared prepared;
    prepared.handles = handles_;
    for (const auto& memory : external_)
      if (memory) prepared.external.push_back(memory);
    WAVEGATE_TRY(prepared.recording, Recording::prepare(context_, *graph_, pipelines_, handles_));
    if (prepared_.size() == kMaximumPrepared) prepared_.pop_back();
    prepared_.insert(prepared_.begin(), std::move(prepared));
  }
  recording_ = prepared_.front().recording;
  return {};
}

/// The end of a run: its outputs copied for the host, and every write visible to the host, which may look at borrowed
/// memory itself.
void VulkanExecutable::record_end(VkCommandBuffer commands) const {
  if (outputs_.buffer) full_barrier(commands, false);
  for (size_t i = 0; i < graph_->buffers.size(); ++i) {
    const graph::Buffer& buffer = graph_->buffers[i];
    if (!buffer.output || buffer.bytes == 0) continue;
    const VkBufferCopy region{0, output_offsets_[i], buffer.bytes};
    vkCmdCopyBuffer(commands, handles_[i], outputs_.buffer.get(), 1, &region);
  }
  full_barrier(commands, true);
}

Result<void> VulkanExecutable::record_graph() {
  if (recorded_) return {};
  WAVEGATE_CHECK(begin(graph_commands_, 0));
  // Orders the run after pending writes and whatever else ran on the queue.
  full_barrier(graph_commands_, false);
  if (timestamps_) {
    vkCmdResetQueryPool(graph_commands_, timestamps_.get(), 0, 2);
    vkCmdWriteTimestamp(graph_commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, timestamps_.get(), 0);
  }
  recording_->record(graph_commands_);
  if (timestamps_) vkCmdWriteTimestamp(graph_commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, timestamps_.get(), 1);
  record_end(graph_commands_);
  WAVEGATE_VULKAN(vkEndCommandBuffer(graph_commands_), format("{}: recording its commands", name()));
  recorded_ = true;
  return {};
}

Result<void> VulkanExecutable::record_prologue() {
  WAVEGATE_CHECK(pending_.stage(context_, upload_));
  WAVEGATE_CHECK(begin(prologue_commands_, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT));
  full_barrier(prologue_commands_, true);
  pending_.record(prologue_commands_, handles_, upload_);
  WAVEGATE_VULKAN(vkEndCommandBuffer(prologue_commands_), format("{}: recording pending writes", name()));
  return {};
}

Result<void> VulkanExecutable::submit() {
  if (in_flight_) return invalid_input(format("{}: it is running already; wait for the run first", name()));
  WAVEGATE_CHECK(prepare_recording());
  WAVEGATE_CHECK(record_graph());
  if (!pending_.empty()) WAVEGATE_CHECK(record_prologue());
  const VkFence fence = fence_.get();
  WAVEGATE_VULKAN(vkResetFences(context_.device, 1, &fence), format("{}: submitting it", name()));
  const VkCommandBuffer both[] = {prologue_commands_, graph_commands_};
  const std::span<const VkCommandBuffer> commands = std::span(both).subspan(pending_.empty() ? 1 : 0);
  WAVEGATE_CHECK(submit_commands(context_, commands, fence_.get(), format("{}: submitting it", name())));
  pending_.clear();
  in_flight_ = true;
  return {};
}

Result<void> VulkanExecutable::wait() {
  if (!in_flight_) return invalid_input(format("{}: there is no run to wait for; submit one first", name()));
  ++context_.counters.host_waits;
  const VkFence fence = fence_.get();
  const VkResult waited = vkWaitForFences(context_.device, 1, &fence, VK_TRUE, UINT64_MAX);
  if (is_over(waited)) in_flight_ = false;
  WAVEGATE_VULKAN(waited, format("{}: running it", name()));
  has_run_ = true;
  upload_.shrink();  // what was large was for initial contents
  context_.counters.readbacks += static_cast<uint64_t>(std::count_if(
      graph_->buffers.begin(), graph_->buffers.end(), [](const graph::Buffer& buffer) { return buffer.output; }));
  if (!timestamps_) return {};
  uint64_t ticks[2] = {};
  WAVEGATE_VULKAN(vkGetQueryPoolResults(context_.device, timestamps_.get(), 0, 2, sizeof ticks, ticks, sizeof(uint64_t),
                                        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                  format("{}: reading its timestamps", name()));
  const uint32_t bits = context_.physical.families[context_.queue_family].timestampValidBits;
  const uint64_t elapsed = (ticks[1] - ticks[0]) & (~uint64_t{0} >> (64 - bits));
  device_seconds_ = static_cast<double>(elapsed) * context_.physical.properties.limits.timestampPeriod * 1e-9;
  return {};
}

Result<void> VulkanExecutable::read(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes) {
  WAVEGATE_CHECK(check_range(buffer, offset, bytes.size(), "read"));
  if (bytes.empty()) return {};
  if (!graph_->buffers[index_of(buffer)].output || !has_run_) return read_from_device(buffer, offset, bytes);
  WAVEGATE_CHECK(outputs_.invalidate(context_));
  std::memcpy(bytes.data(), outputs_.data + output_offsets_[index_of(buffer)] + offset, bytes.size());
  return {};
}

Result<void> VulkanExecutable::read_from_device(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes) {
  const std::string& buffer_name = graph_->buffers[index_of(buffer)].name;
  WAVEGATE_CHECK(check_bound());
  const VkBuffer handle = handles_[index_of(buffer)];
  const std::string what = format("{}: reading buffer \"{}\"", name(), buffer_name);
  if (readback_.bytes < bytes.size()) {
    readback_ = {};
    WAVEGATE_TRY(readback_, create_host_buffer(context_, bytes.size(), HostUse::readback, what));
  }
  // Before the first run a buffer holds its initial contents and what was written, which are still pending.
  const bool flush = !has_run_ && !pending_.empty();
  if (flush) WAVEGATE_CHECK(pending_.stage(context_, upload_));
  WAVEGATE_CHECK(run_once(context_, what, [&](VkCommandBuffer commands) {
    full_barrier(commands, true);
    if (flush) {
      pending_.record(commands, handles_, upload_);
      full_barrier(commands, false);
    }
    const VkBufferCopy region{offset, 0, bytes.size()};
    vkCmdCopyBuffer(commands, handle, readback_.buffer.get(), 1, &region);
    full_barrier(commands, true);
  }));
  if (flush) pending_.clear();
  ++context_.counters.readbacks;
  WAVEGATE_CHECK(readback_.invalidate(context_));
  std::memcpy(bytes.data(), readback_.data, bytes.size());
  return {};
}

Result<std::shared_ptr<void>> VulkanExecutable::encode(VkCommandBuffer commands) {
  if (in_flight_) return invalid_input(format("{}: it cannot be encoded during a run; wait for it first", name()));
  WAVEGATE_CHECK(prepare_recording());
  /// What the recorded commands refer to and the executable may let go.
  struct Encoded {
    std::shared_ptr<const Recording> recording;
    std::vector<std::shared_ptr<MemoryBuffer>> external;
    Staging upload;
  };
  auto encoded = std::make_shared<Encoded>(Encoded{recording_, external_, {}});
  WAVEGATE_CHECK(pending_.stage(context_, encoded->upload));
  full_barrier(commands, true);
  if (!pending_.empty()) {
    pending_.record(commands, handles_, encoded->upload);
    full_barrier(commands, false);
  }
  recording_->record(commands);
  record_end(commands);
  pending_.clear();
  has_run_ = true;
  return std::shared_ptr<void>(std::move(encoded));
}

}  // namespace wavegate::device::vulkan
