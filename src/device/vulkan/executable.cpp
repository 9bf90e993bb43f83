#include "wavegate/device/vulkan/executable.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "wavegate/base/format.h"
#include "wavegate/device/backoff.h"
#include "wavegate/device/buffer_checks.h"
#include "wavegate/device/vulkan/commands.h"
#include "wavegate/device/vulkan/opaque_capabilities.h"
#include "wavegate/device/vulkan/vulkan_error.h"
#include "wavegate/emit/spirv/emitter.h"

namespace wavegate::device::vulkan {
namespace {

uint32_t index_of(graph::BufferId buffer) {
  return static_cast<uint32_t>(buffer);
}

}  // namespace

VulkanExecutable::VulkanExecutable(Context& context, std::shared_ptr<const graph::Graph> graph)
    : context_(context),
      graph_(std::move(graph)),
      commands_(context, Schedule(*graph_).loop_count(), name(), [this](VkCommandBuffer end) { record_end(end); }),
      schedule_(*graph_),
      submissions_(context) {}

Result<std::unique_ptr<VulkanExecutable>> VulkanExecutable::load(Context& context,
                                                                 std::shared_ptr<const graph::Graph> graph) {
  std::unique_ptr<VulkanExecutable> executable(new VulkanExecutable(context, std::move(graph)));
  WAVEGATE_CHECK(executable->build_pipelines());
  WAVEGATE_CHECK(executable->allocate());
  executable->pending_.clear_memory(*executable->graph_);
  executable->pending_.initialise(executable->graph_);
  return executable;
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
    if (!buffer.external && !buffer.observed) requests.push_back({buffer.name, buffer.bytes});
  WAVEGATE_TRY(memory_, create_device_buffers(context_, requests, name()));

  external_.resize(graph_->buffers.size());
  observed_.resize(graph_->buffers.size());
  uint64_t output_bytes = 0;
  auto internal = memory_.buffers.begin();
  for (size_t i = 0; i < graph_->buffers.size(); ++i) {
    const graph::Buffer& buffer = graph_->buffers[i];
    if (buffer.observed) {
      WAVEGATE_TRY(observed_[i], create_host_buffer(context_, buffer.bytes, HostUse::observed,
                                                    format("{}: creating buffer \"{}\"", name(), buffer.name)));
      handles_.push_back(observed_[i].buffer.get());
    } else {
      handles_.push_back(buffer.external ? VK_NULL_HANDLE : (internal++)->get());
    }
    output_offsets_.push_back(output_bytes);
    if (buffer.output) output_bytes += (buffer.bytes + 63) / 64 * 64;
  }
  if (output_bytes != 0) {
    WAVEGATE_TRY(outputs_, create_host_buffer(context_, output_bytes, HostUse::readback,
                                              format("{}: copying its outputs for the host", name())));
  }
  return {};
}

Result<void> VulkanExecutable::check_range(graph::BufferId buffer, uint64_t offset, uint64_t bytes,
                                           std::string_view verb) const {
  return device::check_range(*graph_, buffer, offset, bytes, verb, in_flight_);
}

Result<void> VulkanExecutable::bind(graph::BufferId buffer, std::shared_ptr<Buffer> memory) {
  WAVEGATE_CHECK(check_range(buffer, 0, 0, "bound"));
  auto ours = std::dynamic_pointer_cast<MemoryBuffer>(memory);
  const bool is_ours = ours && &ours->context() == &context_;
  WAVEGATE_CHECK(check_memory(*graph_, buffer, is_ours, is_ours ? ours->bytes() : 0));
  std::shared_ptr<MemoryBuffer>& slot = external_[index_of(buffer)];
  if (handles_[index_of(buffer)] != ours->handle()) {
    handles_[index_of(buffer)] = ours->handle();
    recording_.reset();
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
  for (uint32_t i = 0; i < handles_.size(); ++i)
    if (handles_[i] == VK_NULL_HANDLE) return unbound_error(*graph_, graph::BufferId{i}, "before the run");
  return {};
}

Result<BufferPlace> VulkanExecutable::place(graph::BufferId buffer) const {
  if (index_of(buffer) >= graph_->buffers.size())
    return invalid_input(
        format("{}: there is no buffer {}; it has {}", name(), index_of(buffer), graph_->buffers.size()));
  const graph::Buffer& info = graph_->buffers[index_of(buffer)];
  const VkBuffer handle = handles_[index_of(buffer)];
  if (handle == VK_NULL_HANDLE) return unbound_error(*graph_, buffer, "first");
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
  commands_.use(recording_);
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

Result<VkCommandBuffer> VulkanExecutable::record_prologue() {
  if (prologue_commands_ == VK_NULL_HANDLE) {
    WAVEGATE_TRY(prologue_pool_, make_command_pool(context_));
    WAVEGATE_TRY(prologue_commands_, make_command_buffer(context_, prologue_pool_.get()));
  }
  WAVEGATE_CHECK(pending_.stage(context_, upload_));
  WAVEGATE_CHECK(begin(prologue_commands_, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT));
  full_barrier(prologue_commands_, true);
  pending_.record(prologue_commands_, handles_, upload_);
  WAVEGATE_VULKAN(vkEndCommandBuffer(prologue_commands_), format("{}: recording pending writes", name()));
  return prologue_commands_;
}

Result<void> VulkanExecutable::submit() {
  if (in_flight_) return invalid_input(format("{}: it is running already; wait for the run first", name()));
  WAVEGATE_CHECK(prepare_recording());
  submitted_at_ = std::chrono::steady_clock::now();
  schedule_ = Schedule(*graph_);
  looks_.clear();
  Result<void> submitted = submit_next();
  if (!submitted && !submissions_.empty()) return fail(std::move(submitted).error());
  WAVEGATE_CHECK(std::move(submitted));
  in_flight_ = true;
  return {};
}

/// Submits all that can be submitted now, after pending writes.
Result<void> VulkanExecutable::submit_next() {
  while (const std::optional<Batch> batch = schedule_.next()) {
    std::vector<VkCommandBuffer> handles;
    if (!pending_.empty()) {
      WAVEGATE_TRY(const VkCommandBuffer prologue, record_prologue());
      handles.push_back(prologue);
    }
    for (const Piece& piece : batch->pieces) {
      WAVEGATE_TRY(const VkCommandBuffer commands, commands_.get(piece));
      if (commands != VK_NULL_HANDLE) handles.push_back(commands);
    }
    WAVEGATE_CHECK(submissions_.submit(handles, format("{}: submitting it", name())));
    looks_.push_back(batch->looks_at);
    pending_.clear();
  }
  return {};
}

bool VulkanExecutable::is_overdue() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - submitted_at_;
  return time_limit_ && elapsed.count() > *time_limit_;
}

/// Looks at what a loop left for the host. Precondition: a chunk of the loop has ended.
Result<bool> VulkanExecutable::is_done(const graph::Loop& loop) {
  const HostBuffer& buffer = observed_[index_of(loop.done.buffer)];
  WAVEGATE_CHECK(buffer.invalidate(context_));
  ++context_.counters.observations;
  // The next chunk may be writing the same word, which then only stays done.
  uint32_t word = 0;
  std::memcpy(&word, buffer.data + loop.done.offset, sizeof word);
  return word != 0;
}

/// Submits what follows as chunks end, until everything is submitted.
Result<void> VulkanExecutable::finish_loops() {
  Backoff backoff(context_.profile.is_cpu);
  while (!schedule_.is_submitted()) {
    WAVEGATE_TRY(const bool ended, submissions_.oldest_has_ended(format("{}: running it", name())));
    if (ended) {
      const std::optional<size_t> loop = looks_.front();
      looks_.pop_front();
      if (!loop || !schedule_.is_open(*loop)) continue;
      WAVEGATE_TRY(const bool done, is_done(schedule_.loop(*loop)));
      schedule_.ended(*loop, done);
      if (done || !is_overdue()) WAVEGATE_CHECK(submit_next());
      backoff.restart();
    }
    if (schedule_.is_submitted()) break;
    if (is_overdue()) return time_limit_error(*graph_, schedule_.loop(), *time_limit_);
    backoff.pause();
  }
  return {};
}

/// Ends a run that cannot go on: nothing of it is in flight afterwards. Returns the error.
Error VulkanExecutable::fail(Error error) {
  if (!submissions_.empty()) {
    ++context_.counters.host_waits;
    submissions_.outlast();
  }
  in_flight_ = false;
  has_run_ = has_failed_ = true;
  device_seconds_ = -1;
  return error;
}

Result<void> VulkanExecutable::wait() {
  if (!in_flight_) return invalid_input(format("{}: there is no run to wait for; submit one first", name()));
  if (Result<void> finished = finish_loops(); !finished) return fail(std::move(finished).error());
  Result<void> waited = submissions_.wait(format("{}: running it", name()));
  if (!waited && submissions_.empty()) return fail(std::move(waited).error());
  WAVEGATE_CHECK(std::move(waited));
  in_flight_ = false;
  has_run_ = has_outputs_ = true;
  has_failed_ = false;
  upload_.shrink();  // what was large was for initial contents
  context_.counters.readbacks += static_cast<uint64_t>(std::count_if(
      graph_->buffers.begin(), graph_->buffers.end(), [](const graph::Buffer& buffer) { return buffer.output; }));
  WAVEGATE_TRY(device_seconds_, commands_.seconds());
  return {};
}

Result<void> VulkanExecutable::read(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes) {
  WAVEGATE_CHECK(check_range(buffer, offset, bytes.size(), "read"));
  if (bytes.empty()) return {};
  const graph::Buffer& info = graph_->buffers[index_of(buffer)];
  const bool is_kept = info.output && has_outputs_;
  if (has_failed_ && !is_kept)
    return invalid_input(format(
        "{}: buffer \"{}\" cannot be read after a run that failed; run it again first, after reset() from initial "
        "contents",
        name(), info.name));
  if (!is_kept) return read_from_device(buffer, offset, bytes);
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
  if (const graph::Loop* loop = graph::find_loop(*graph_))
    return unsupported(
        format("{}: loop \"{}\" needs the host while it runs, to submit what follows, and what is encoded "
               "has none; lower the program host-free, with a bound for each loop",
               name(), loop->label));
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
  recording_->record_part(commands, 0);
  record_end(commands);
  pending_.clear();
  has_run_ = has_outputs_ = true;
  has_failed_ = false;
  return std::shared_ptr<void>(std::move(encoded));
}

}  // namespace wavegate::device::vulkan
