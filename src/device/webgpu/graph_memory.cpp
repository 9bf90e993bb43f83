#include "wavegate/device/webgpu/graph_memory.h"

#include <algorithm>

#include "wavegate/base/format.h"
#include "wavegate/device/buffer_checks.h"

namespace wavegate::device::webgpu {
namespace {

uint32_t index_of(graph::BufferId buffer) {
  return static_cast<uint32_t>(buffer);
}

}  // namespace

void GraphMemory::allocate(const Context& context, const graph::Graph& graph) {
  const size_t count = graph.buffers.size();
  memory_.resize(count);
  external_.resize(count);
  handles_.resize(count, gpu::Buffer::none);
  for (size_t i = 0; i < count; ++i) {
    const graph::Buffer& buffer = graph.buffers[i];
    if (buffer.external) continue;
    uint32_t uses = gpu::kStorage | gpu::kCopySource | gpu::kCopyDestination;
    if (buffer.indirect) uses |= gpu::kIndirect;
    memory_[i] = OwnedBuffer(gpu::create_buffer(context.device, buffer.name, buffer.bytes, uses));
    handles_[i] = memory_[i].get();
  }
}

Result<bool> GraphMemory::bind(const Context& context, const graph::Graph& graph, graph::BufferId buffer,
                               const std::shared_ptr<Buffer>& memory) {
  auto ours = std::dynamic_pointer_cast<MemoryBuffer>(memory);
  const bool is_ours = ours && &ours->context() == &context;
  WAVEGATE_CHECK(check_memory(graph, buffer, is_ours, is_ours ? ours->bytes() : 0));
  const graph::Buffer& info = graph.buffers[index_of(buffer)];
  if (info.indirect && (gpu::uses_of(ours->handle()) & gpu::kIndirect) == 0)
    return invalid_input(
        format("graph \"{}\": grids are read from buffer \"{}\", and the memory bound to it was made without the usage "
               "INDIRECT; make it with that, too",
               graph.name, info.name));
  const bool is_another = handle(buffer) != ours->handle();
  handles_[index_of(buffer)] = ours->handle();
  external_[index_of(buffer)] = std::move(ours);
  return is_another;
}

bool GraphMemory::has_borrowed() const {
  return std::ranges::any_of(external_, [](const auto& memory) { return memory && memory->is_borrowed(); });
}

Result<void> GraphMemory::check_bound(const graph::Graph& graph) const {
  for (uint32_t i = 0; i < handles_.size(); ++i)
    if (handles_[i] == gpu::Buffer::none) return unbound_error(graph, graph::BufferId{i}, "before the run");
  return {};
}

Result<BufferPlace> GraphMemory::place(const graph::Graph& graph, graph::BufferId buffer) const {
  if (index_of(buffer) >= graph.buffers.size())
    return invalid_input(
        format("graph \"{}\": there is no buffer {}; it has {}", graph.name, index_of(buffer), graph.buffers.size()));
  if (handle(buffer) == gpu::Buffer::none) return unbound_error(graph, buffer, "first");
  return BufferPlace{static_cast<uintptr_t>(handle(buffer)), 0, graph.buffers[index_of(buffer)].bytes};
}

}  // namespace wavegate::device::webgpu
