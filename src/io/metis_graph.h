#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/io/csr.h"

namespace wavegate::io {

/// An undirected graph without loops or parallel edges. Vertex v, counted from 0, has the neighbours
/// offsets[v] .. offsets[v + 1], ascending; each edge stands at both of its ends.
struct MetisGraph {
  std::uint32_t vertices = 0;
  std::vector<std::uint32_t> offsets;       ///< vertices + 1 of them.
  std::vector<std::uint32_t> neighbours;    ///< Two an edge.
  std::vector<std::uint32_t> edge_weights;  ///< One a neighbour and at least 1; empty: the file has none.
  std::uint32_t weights_per_vertex = 0;
  std::vector<std::uint32_t> vertex_weights;  ///< weights_per_vertex of them a vertex, vertex by vertex.
  std::vector<std::uint32_t> vertex_sizes;    ///< One a vertex; empty: the file has none.

  std::uint32_t edges() const { return static_cast<std::uint32_t>(neighbours.size() / 2); }
  bool operator==(const MetisGraph&) const = default;
};

/// Reads a graph file of METIS: a line "vertices edges [format [weights per vertex]]", then one line a vertex, with
/// neighbours counted from 1. Lines that start with % are comments; an empty line is a vertex without neighbours.
/// All that the format forbids is refused, with its line: loops, an edge that stands at one of its ends only or twice
/// at one or with two weights, and a number of edges that is not the header's. `name` is the source in errors. Time is
/// linear in the text but for the sorting within a vertex, memory is linear.
Result<MetisGraph> parse_metis_graph(std::string_view text, std::string_view name);

/// I + L, with L the graph's Laplacian: row v holds -w for each edge of weight w (1 where the file has none) and
/// 1 plus the sum of these weights on the diagonal. Symmetric and positive definite, so that conjugate gradients
/// converge on it. An error if it has more than kMaximumIndex entries.
Result<CsrMatrix> laplacian_plus_identity(const MetisGraph& graph);

}  // namespace wavegate::io
