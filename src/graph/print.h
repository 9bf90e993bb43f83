#pragma once

#include <string>

#include "wavegate/graph/graph.h"

namespace wavegate::graph {

/// The graph as text for people: buffers, kernels, then one line a command; repeats, conditionals and loops as
/// indented blocks. Precondition: the graph is verified.
std::string print(const Graph& graph);

/// The graph in the language of Graphviz: commands in their order, with edges from and to the buffers that they
/// read and write; repeats, conditionals and loops are clusters. Precondition: the graph is verified.
std::string print_dot(const Graph& graph);

}  // namespace wavegate::graph
