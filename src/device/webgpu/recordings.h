#pragma once

#include <memory>
#include <vector>

#include "wavegate/device/webgpu/graph_memory.h"
#include "wavegate/device/webgpu/recording.h"

namespace wavegate::device::webgpu {

/// A graph's recordings over the memory that was bound last, kept for when the same is bound again.
class Recordings {
 public:
  /// The recording over the graph's memory, from what is kept or prepared. Inside an error scope. Preconditions: those
  /// of Recording::prepare(), and all buffers have memory.
  Result<std::shared_ptr<const Recording>> get(Context& context, const graph::Graph& graph, Variants& variants,
                                               const GraphMemory& memory);
  void clear() { kept_.clear(); }

 private:
  /// A handle of memory that is gone may come back as another's, so that such an entry is of no use.
  struct Kept {
    std::vector<gpu::Buffer> handles;
    std::vector<std::weak_ptr<MemoryBuffer>> external;  ///< of the bound buffers
    std::shared_ptr<const Recording> recording;
    bool is_stale() const;
  };
  static constexpr size_t kMost = 8;
  std::vector<Kept> kept_;  ///< the latest first
};

}  // namespace wavegate::device::webgpu
