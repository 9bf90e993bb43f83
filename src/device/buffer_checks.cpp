#include "wavegate/device/buffer_checks.h"

#include "wavegate/base/format.h"

namespace wavegate::device {
namespace {

const graph::Buffer& info_of(const graph::Graph& graph, graph::BufferId buffer) {
  return graph.buffers[static_cast<uint32_t>(buffer)];
}

}  // namespace

Result<void> check_range(const graph::Graph& graph, graph::BufferId buffer, uint64_t offset, uint64_t bytes,
                         std::string_view verb, bool in_flight) {
  const auto index = static_cast<uint32_t>(buffer);
  if (index >= graph.buffers.size())
    return invalid_input(
        format("graph \"{}\": there is no buffer {} to {}; it has {}", graph.name, index, verb, graph.buffers.size()));
  const graph::Buffer& info = info_of(graph, buffer);
  if (offset > info.bytes || bytes > info.bytes - offset)
    return invalid_input(format("graph \"{}\": {} bytes at {} cannot be {} in buffer \"{}\" of {} bytes", graph.name,
                                bytes, offset, verb, info.name, info.bytes));
  if (in_flight)
    return invalid_input(format("graph \"{}\": buffer \"{}\" cannot be {} during a run; wait for it first", graph.name,
                                info.name, verb));
  return {};
}

Result<void> check_memory(const graph::Graph& graph, graph::BufferId buffer, bool is_ours, uint64_t bytes) {
  const graph::Buffer& info = info_of(graph, buffer);
  if (!info.external)
    return invalid_input(
        format("graph \"{}\": buffer \"{}\" is not external; only external buffers are bound", graph.name, info.name));
  if (!is_ours)
    return invalid_input(
        format("graph \"{}\": the memory for buffer \"{}\" is not of this device; allocate or borrow it there",
               graph.name, info.name));
  if (bytes < info.bytes)
    return invalid_input(format("graph \"{}\": buffer \"{}\" needs {} bytes, and the memory bound to it has {}",
                                graph.name, info.name, info.bytes, bytes));
  return {};
}

Error unbound_error(const graph::Graph& graph, graph::BufferId buffer, std::string_view when) {
  return invalid_input(format("graph \"{}\": external buffer \"{}\" has no memory; bind some {}", graph.name,
                              info_of(graph, buffer).name, when));
}

}  // namespace wavegate::device
