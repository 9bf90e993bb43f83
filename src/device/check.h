#pragma once

#include "wavegate/base/result.h"
#include "wavegate/graph/graph.h"
#include "wavegate/target/profile.h"

namespace wavegate::device {

/// Does the graph fit the limits of a device? Checked by every load(), before anything is allocated: sizes of
/// buffers and their sum, size and alignment of what a dispatch binds, grids, workgroups, workgroup memory, number
/// of storage buffers and launch words, predication. `unsupported`: the first that does not fit, with its name, its
/// number, the limit and the fix. Features that kernels need are the emitters' to check. Precondition: the graph is
/// verified.
Result<void> check_graph(const graph::Graph& graph, const target::Profile& profile);

}  // namespace wavegate::device
