#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/webgpu/context.h"
#include "wavegate/device/webgpu/steps.h"
#include "wavegate/graph/graph.h"

namespace wavegate::device::webgpu {

/// Writes of the host that wait for the next run, in order.
///
/// Whole words go through the queue where they may, before the commands; what must come after a fill, or must happen
/// again whenever the commands run, is staged and copied by a command. Parts of words are put into their words by a
/// kernel.
class PendingWrites {
 public:
  /// Copies the bytes.
  void write(graph::BufferId buffer, uint64_t offset, std::span<const std::byte> bytes);

  /// Queues the initial contents of every buffer that has some, in place of what was queued for it.
  void initialise(const std::shared_ptr<const graph::Graph>& graph);

  /// Puts writes before those that are queued.
  void put_before(PendingWrites earlier);

  bool empty() const { return writes_.empty(); }
  void clear() { writes_.clear(); }

  enum class When : uint8_t { now, whenever_the_steps_run };
  /// Makes the steps that are left to do; what the queue takes is done. `buffers` is the memory of the graph's buffers.
  Result<std::vector<Step>> make_steps(Context& context, std::span<const gpu::Buffer> buffers, When when,
                                       Steps& steps) const;

 private:
  struct Write {
    graph::BufferId buffer{};
    uint64_t offset = 0;
    uint64_t bytes = 0;
    std::shared_ptr<const std::vector<std::byte>> data;  ///< null: `word` repeated, over whole words
    uint32_t word = 0;
  };
  std::vector<Write> writes_;
};

}  // namespace wavegate::device::webgpu
