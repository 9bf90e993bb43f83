#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wavegate/base/result.h"
#include "wavegate/graph/graph.h"

/// What every executable asks of the buffers that it is called with, so that each device says the same. All errors are
/// `invalid-input` and name the graph and the buffer.
namespace wavegate::device {

/// Is there such a buffer, does it hold the bytes, and is no run going on? `verb` is what is to be done: "written".
Result<void> check_range(const graph::Graph& graph, graph::BufferId buffer, uint64_t offset, uint64_t bytes,
                         std::string_view verb, bool in_flight);

/// May memory of a device be bound to the buffer, which exists? `bytes` are those of the memory; `is_ours`: it is of
/// the device that the graph is loaded on.
Result<void> check_memory(const graph::Graph& graph, graph::BufferId buffer, bool is_ours, uint64_t bytes);

/// The error of a buffer that has no memory, `when` it is needed: "before the run".
Error unbound_error(const graph::Graph& graph, graph::BufferId buffer, std::string_view when);

}  // namespace wavegate::device
