#pragma once

#include "wavegate/graph/graph.h"

namespace wavegate::lowering {

/// For devices that let no dispatch read its grid from a buffer that it also writes (Features::writes_its_grid_source).
///
/// If a dispatch of the graph does so, the kernels that write `arguments` are given a buffer of their own instead,
/// which always holds the same, and what one of them wrote is copied to where grids are read. Other graphs stay as they
/// are, and so does a dispatch that writes nothing there. Precondition: no conditional holds such a dispatch, since it
/// cannot hold the copy.
void separate_arguments(graph::Graph& graph, graph::BufferId arguments);

}  // namespace wavegate::lowering
