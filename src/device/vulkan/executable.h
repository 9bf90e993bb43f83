#pragma once

#include <vulkan/vulkan.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wavegate/device/device.h"
#include "wavegate/device/schedule.h"
#include "wavegate/device/vulkan/context.h"
#include "wavegate/device/vulkan/device.h"
#include "wavegate/device/vulkan/graph_commands.h"
#include "wavegate/device/vulkan/memory.h"
#include "wavegate/device/vulkan/pending_writes.h"
#include "wavegate/device/vulkan/pipelines.h"
#include "wavegate/device/vulkan/recording.h"
#include "wavegate/device/vulkan/submissions.h"

namespace wavegate::device::vulkan {

/// Memory that outlives an executable: ours, or the application's.
class MemoryBuffer : public Buffer {
 public:
  MemoryBuffer(const Context& context, DeviceBuffers memory, uint64_t bytes)
      : context_(context), memory_(std::move(memory)), handle_(memory_.buffers.front().get()), bytes_(bytes) {}
  MemoryBuffer(const Context& context, VkBuffer borrowed, uint64_t bytes)
      : context_(context), handle_(borrowed), bytes_(bytes) {}

  uint64_t bytes() const override { return bytes_; }
  VkBuffer handle() const { return handle_; }
  const Context& context() const { return context_; }

 private:
  const Context& context_;
  DeviceBuffers memory_;  ///< empty for the application's
  VkBuffer handle_;
  uint64_t bytes_;
};

class VulkanExecutable final : public Executable {
 public:
  /// Preconditions: the graph is verified and within the limits of the device.
  static Result<std::unique_ptr<VulkanExecutable>> load(Context& context, std::shared_ptr<const graph::Graph> graph);
  Result<void> bind(graph::BufferId buffer, std::shared_ptr<Buffer> memory) override;
  Result<void> write(graph::BufferId buffer, uint64_t offset, std::span<const std::byte> bytes) override;
  Result<void> submit() override;
  Result<void> wait() override;
  void set_time_limit(std::optional<double> seconds) override { time_limit_ = seconds; }
  Result<void> read(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes) override;
  Result<void> reset() override;
  double device_seconds() const override { return device_seconds_; }

  /// See buffer_of() in device.h.
  Result<BufferPlace> place(graph::BufferId buffer) const;

  /// See encode() in device.h.
  Result<std::shared_ptr<void>> encode(VkCommandBuffer commands);

 private:
  VulkanExecutable(Context& context, std::shared_ptr<const graph::Graph> graph);

  Result<void> allocate();
  Result<void> build_pipelines();
  Result<void> check_bound() const;
  Result<void> prepare_recording();
  Result<VkCommandBuffer> record_prologue();
  void record_end(VkCommandBuffer commands) const;
  Result<void> submit_next();
  Result<void> finish_loops();
  Result<bool> is_done(const graph::Loop& loop);
  bool is_overdue() const;
  Error fail(Error error);
  Result<void> read_from_device(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes);
  Result<void> check_range(graph::BufferId buffer, uint64_t offset, uint64_t bytes, std::string_view verb) const;
  std::string name() const;

  Context& context_;
  std::shared_ptr<const graph::Graph> graph_;
  std::vector<const Pipeline*> pipelines_;  ///< by KernelId

  DeviceBuffers memory_;                                 ///< of the buffers that are neither external nor observed
  std::vector<HostBuffer> observed_;                     ///< by BufferId; empty but for observed ones
  std::vector<std::shared_ptr<MemoryBuffer>> external_;  ///< by BufferId
  std::vector<VkBuffer> handles_;                        ///< by BufferId
  HostBuffer outputs_;
  std::vector<uint64_t> output_offsets_;  ///< by BufferId, into outputs_
  Staging upload_;
  HostBuffer readback_;
  PendingWrites pending_;

  /// A recording over particular memory, kept for when that is bound again. A handle of memory that is gone may come
  /// back as another's, so that such an entry is of no use.
  struct Prepared {
    std::vector<VkBuffer> handles;
    std::vector<std::weak_ptr<MemoryBuffer>> external;  ///< of the bound buffers
    std::shared_ptr<const Recording> recording;
    bool stale() const;
  };
  static constexpr size_t kMaximumPrepared = 8;
  std::vector<Prepared> prepared_;  ///< the latest first

  std::shared_ptr<const Recording> recording_;  ///< over handles_; null: to be looked up or prepared

  OwnedCommandPool prologue_pool_;
  VkCommandBuffer prologue_commands_ = VK_NULL_HANDLE;
  GraphCommands commands_;

  // Of the run in flight.
  bool in_flight_ = false;
  Schedule schedule_;
  std::deque<std::optional<size_t>> looks_;  ///< Batch::looks_at of each submission in flight, the oldest first
  std::chrono::steady_clock::time_point submitted_at_;
  std::optional<double> time_limit_;

  bool has_outputs_ = false;  ///< a run ended well
  bool has_run_ = false;      ///< or failed
  bool has_failed_ = false;   ///< the last one did
  double device_seconds_ = -1;

  Submissions submissions_;  ///< last, so that all have ended before anything else goes
};

}  // namespace wavegate::device::vulkan
