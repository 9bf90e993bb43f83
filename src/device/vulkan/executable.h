#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "wavegate/device/device.h"
#include "wavegate/device/vulkan/context.h"
#include "wavegate/device/vulkan/device.h"
#include "wavegate/device/vulkan/memory.h"
#include "wavegate/device/vulkan/pending_writes.h"
#include "wavegate/device/vulkan/pipelines.h"
#include "wavegate/device/vulkan/recording.h"

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

/// Records with `record(commands)`, submits, waits. Counts a submission and a wait.
Result<void> run_once(Context& context, std::string_view what, const std::function<void(VkCommandBuffer)>& record);

class VulkanExecutable final : public Executable {
 public:
  /// Preconditions: the graph is verified and within the limits of the device.
  static Result<std::unique_ptr<VulkanExecutable>> load(Context& context, std::shared_ptr<const graph::Graph> graph);
  ~VulkanExecutable() override;

  Result<void> bind(graph::BufferId buffer, std::shared_ptr<Buffer> memory) override;
  Result<void> write(graph::BufferId buffer, uint64_t offset, std::span<const std::byte> bytes) override;
  Result<void> submit() override;
  Result<void> wait() override;
  Result<void> read(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes) override;
  Result<void> reset() override;
  double device_seconds() const override { return device_seconds_; }

  /// See buffer_of() in device.h.
  Result<BufferPlace> place(graph::BufferId buffer) const;

  /// See encode() in device.h.
  Result<std::shared_ptr<void>> encode(VkCommandBuffer commands);

 private:
  VulkanExecutable(Context& context, std::shared_ptr<const graph::Graph> graph)
      : context_(context), graph_(std::move(graph)) {}

  Result<void> allocate();
  Result<void> build_pipelines();
  Result<void> make_commands();
  Result<void> check_bound() const;
  Result<void> prepare_recording();
  Result<void> record_graph();
  Result<void> record_prologue();
  void record_end(VkCommandBuffer commands) const;
  Result<void> read_from_device(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes);
  Result<void> check_range(graph::BufferId buffer, uint64_t offset, uint64_t bytes, std::string_view verb) const;
  std::string name() const;

  Context& context_;
  std::shared_ptr<const graph::Graph> graph_;
  std::vector<const Pipeline*> pipelines_;  ///< by KernelId

  DeviceBuffers memory_;                                 ///< of the buffers that are not external
  std::vector<std::shared_ptr<MemoryBuffer>> external_;  ///< by BufferId
  std::vector<VkBuffer> handles_;                        ///< by BufferId
  HostBuffer outputs_;
  std::vector<uint64_t> output_offsets_;  ///< by BufferId, into outputs_
  Staging upload_;
  HostBuffer readback_;
  PendingWrites pending_;

  OwnedQueryPool timestamps_;
  OwnedFence fence_;
  OwnedCommandPool command_pool_;
  VkCommandBuffer prologue_commands_ = VK_NULL_HANDLE;
  VkCommandBuffer graph_commands_ = VK_NULL_HANDLE;

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
  bool recorded_ = false;                       ///< graph_commands_ holds recording_

  bool in_flight_ = false;
  bool has_run_ = false;
  double device_seconds_ = -1;
};

}  // namespace wavegate::device::vulkan
