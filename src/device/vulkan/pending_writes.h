#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/vulkan/context.h"
#include "wavegate/device/vulkan/memory.h"
#include "wavegate/graph/graph.h"

namespace wavegate::device::vulkan {

/// Writes of the host that wait for the next run, in order. Small ones travel inside the command buffer, others
/// through a staging buffer.
class PendingWrites {
 public:
  /// Copies the bytes.
  void write(graph::BufferId buffer, uint64_t offset, std::span<const std::byte> bytes);

  /// Queues the initial contents of every buffer that has some, in place of what was queued for it.
  void initialise(const std::shared_ptr<const graph::Graph>& graph);

  /// Queues zeroes for every buffer of ours without initial contents: new device memory may hold what another process
  /// left there.
  void clear_memory(const graph::Graph& graph);

  bool empty() const { return writes_.empty(); }
  void clear() { writes_.clear(); }

  /// Puts what needs staging into `staging`, making it larger if need be. Its former contents must not be in use.
  Result<void> stage(Context& context, HostBuffer& staging);

  /// Records the writes, with barriers among those that overlap. `staging` is what stage() filled.
  void record(VkCommandBuffer commands, std::span<const VkBuffer> buffers, const HostBuffer& staging) const;

 private:
  struct Write {
    graph::BufferId buffer{};
    uint64_t offset = 0;
    uint64_t bytes = 0;
    std::shared_ptr<const std::vector<std::byte>> data;  ///< null: `word` repeated
    uint32_t word = 0;
    uint64_t staging_offset = 0;
    bool staged() const;
  };
  std::vector<Write> writes_;
};

}  // namespace wavegate::device::vulkan
