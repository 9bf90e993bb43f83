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

/// Staging memory in chunks, since a device limits how large one allocation is and initial contents may be larger.
/// Addressed as if it were one: byte `at` is byte `at % chunk_bytes` of chunk `at / chunk_bytes`.
struct Staging {
  std::vector<HostBuffer> chunks;
  uint64_t chunk_bytes = 0;

  /// Makes room for that many bytes. Its former contents are lost if it has to grow.
  Result<void> reserve(Context& context, uint64_t bytes);
  /// Gives back all but the first chunk.
  void shrink();
};

/// A part of a staged range that lies in one chunk.
struct StagedPiece {
  uint64_t chunk = 0;
  uint64_t chunk_offset = 0;
  uint64_t offset = 0;  ///< in the range
  uint64_t bytes = 0;
  friend bool operator==(const StagedPiece&, const StagedPiece&) = default;
};

/// The pieces of `bytes` bytes staged at `at`, in order.
std::vector<StagedPiece> staged_pieces(uint64_t at, uint64_t bytes, uint64_t chunk_bytes);

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
  Result<void> stage(Context& context, Staging& staging);

  /// Records the writes, with barriers among those that overlap. `staging` is what stage() filled.
  void record(VkCommandBuffer commands, std::span<const VkBuffer> buffers, const Staging& staging) const;

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
