#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "wavegate/device/device.h"
#include "wavegate/device/webgpu/context.h"
#include "wavegate/device/webgpu/device.h"
#include "wavegate/device/webgpu/owned.h"
#include "wavegate/graph/graph.h"

namespace wavegate::device::webgpu {

/// Memory that outlives an executable: ours, or the application's.
class MemoryBuffer : public Buffer {
 public:
  MemoryBuffer(const Context& context, OwnedBuffer memory, uint64_t bytes)
      : context_(context), memory_(std::move(memory)), bytes_(bytes) {}
  MemoryBuffer(const Context& context, Owned<gpu::Buffer> borrowed, uint64_t bytes)
      : context_(context), borrowed_(std::move(borrowed)), bytes_(bytes) {}

  uint64_t bytes() const override { return bytes_; }
  gpu::Buffer handle() const { return memory_ ? memory_.get() : borrowed_.get(); }
  bool is_borrowed() const { return static_cast<bool>(borrowed_); }
  const Context& context() const { return context_; }

 private:
  const Context& context_;
  OwnedBuffer memory_;
  Owned<gpu::Buffer> borrowed_;
  uint64_t bytes_;
};

/// The memory of a graph's buffers: ours, and what was bound to the external ones.
class GraphMemory {
 public:
  /// Inside an error scope.
  void allocate(const Context& context, const graph::Graph& graph);

  /// Precondition: there is such a buffer. Whether the graph's memory is another than before.
  Result<bool> bind(const Context& context, const graph::Graph& graph, graph::BufferId buffer,
                    const std::shared_ptr<Buffer>& memory);
  /// Errors unless all external buffers are bound.
  Result<void> check_bound(const graph::Graph& graph) const;
  Result<BufferPlace> place(const graph::Graph& graph, graph::BufferId buffer) const;

  /// By BufferId; none for an external buffer that is not bound.
  const std::vector<gpu::Buffer>& handles() const { return handles_; }
  gpu::Buffer handle(graph::BufferId buffer) const { return handles_[static_cast<uint32_t>(buffer)]; }
  /// What was bound, by BufferId; null elsewhere.
  const std::vector<std::shared_ptr<MemoryBuffer>>& external() const { return external_; }
  /// Whether memory of the application is bound.
  bool has_borrowed() const;

 private:
  std::vector<OwnedBuffer> memory_;  ///< none for external buffers
  std::vector<std::shared_ptr<MemoryBuffer>> external_;
  std::vector<gpu::Buffer> handles_;
};

}  // namespace wavegate::device::webgpu
