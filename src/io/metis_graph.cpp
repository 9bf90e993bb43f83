#include "wavegate/io/metis_graph.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/io/text.h"

namespace wavegate::io {
namespace {

struct Header {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool vertex_sizes = false;
  std::uint64_t weights_per_vertex = 0;
  bool edge_weights = false;
};

struct Edge {
  std::uint32_t neighbour = 0;
  std::uint32_t weight = 1;
};

/// The next line that is no comment. Empty lines mean something here.
bool next_content(LineReader& lines) {
  while (lines.next()) {
    if (!lines.line().starts_with('%')) return true;
  }
  return false;
}

/// A number in `minimum` .. `maximum`. `describe` makes its name for an error, such as "the weight of the edge 3 - 4".
template <typename Describe>
Result<std::uint32_t> parse_number(std::string_view word, std::uint64_t minimum, std::uint64_t maximum,
                                   const LineReader& lines, Describe describe) {
  const auto number = parse_unsigned(word);
  if (number && *number >= minimum && *number <= maximum) return static_cast<std::uint32_t>(*number);
  if (word.empty()) return invalid_input(format("{} is missing", describe()), lines.where());
  return invalid_input(format("{}, {}, is not a whole number from {} to {}", describe(), quote(word), minimum, maximum),
                       lines.where());
}

Result<Header> parse_header(const LineReader& lines) {
  std::string_view line = lines.line();
  Header header;
  const auto named = [](std::string_view what) { return [what] { return format("the header's number of {}", what); }; };
  WAVEGATE_TRY(header.vertices, parse_number(take_word(line), 1, kMaximumIndex, lines, named("vertices")));
  WAVEGATE_TRY(header.edges, parse_number(take_word(line), 0, kMaximumIndex / 2, lines, named("edges")));

  const std::string_view kind = take_word(line);
  if (kind.size() > 3 || kind.find_first_not_of("01") != std::string_view::npos) {
    return invalid_input(format("the header's format {} is not one to three digits of 0 and 1 (vertex sizes, vertex "
                                "weights, edge weights)",
                                quote(kind)),
                         lines.where());
  }
  const auto flag = [&](std::size_t from_right) {
    return kind.size() > from_right && kind[kind.size() - 1 - from_right] == '1';
  };
  header.edge_weights = flag(0);
  header.weights_per_vertex = flag(1) ? 1 : 0;
  header.vertex_sizes = flag(2);
  if (const std::string_view count = take_word(line); !count.empty()) {
    WAVEGATE_TRY(const std::uint32_t weights,
                 parse_number(count, 1, kMaximumIndex, lines, named("weights per vertex")));
    if (!flag(1)) {
      return invalid_input(format("the header claims {} weights per vertex, but its format {} says that vertices have "
                                  "none",
                                  weights, quote(kind)),
                           lines.where());
    }
    header.weights_per_vertex = weights;
  }
  if (const std::string_view rest = take_word(line); !rest.empty()) {
    return invalid_input(format("{} follows the header's numbers", quote(rest)), lines.where());
  }

  // A vertex takes a line, if only its end; each weight, size, neighbour and edge weight a digit and a blank.
  const std::uint64_t left = lines.bytes_left() + 1;
  const std::uint64_t numbers = header.edges * (header.edge_weights ? 4 : 2) +
                                header.vertices * (header.weights_per_vertex + (header.vertex_sizes ? 1 : 0));
  if (header.vertices > left || numbers > left / 2) {
    return invalid_input(
        format("the header claims {} vertices and {} edges, more than the {} bytes that follow can hold",
               header.vertices, header.edges, lines.bytes_left()),
        lines.where());
  }
  return header;
}

/// Reads one vertex's line into the graph.
Result<void> parse_vertex(const LineReader& lines, const Header& header, std::uint32_t vertex, MetisGraph& graph,
                          std::vector<Edge>& edges) {
  std::string_view line = lines.line();
  const std::uint32_t shown = vertex + 1;
  if (header.vertex_sizes) {
    WAVEGATE_TRY(const std::uint32_t size, parse_number(take_word(line), 0, kMaximumIndex, lines,
                                                        [&] { return format("the size of vertex {}", shown); }));
    graph.vertex_sizes.push_back(size);
  }
  for (std::uint64_t i = 0; i < header.weights_per_vertex; ++i) {
    WAVEGATE_TRY(const std::uint32_t weight, parse_number(take_word(line), 0, kMaximumIndex, lines, [&] {
                   return format("weight {} of vertex {}", i + 1, shown);
                 }));
    graph.vertex_weights.push_back(weight);
  }

  edges.clear();
  while (true) {
    const std::string_view word = take_word(line);
    if (word.empty()) break;
    WAVEGATE_TRY(const std::uint32_t neighbour, parse_number(word, 1, header.vertices, lines, [&] {
                   return format("a neighbour of vertex {}", shown);
                 }));
    if (neighbour == shown) return invalid_input(format("vertex {} is its own neighbour", shown), lines.where());
    Edge edge{neighbour - 1, 1};
    if (header.edge_weights) {
      WAVEGATE_TRY(edge.weight, parse_number(take_word(line), 1, kMaximumIndex, lines, [&] {
                     return format("the weight of the edge {} - {}", shown, neighbour);
                   }));
    }
    edges.push_back(edge);
  }
  if (!std::ranges::is_sorted(edges, {}, &Edge::neighbour)) std::ranges::sort(edges, {}, &Edge::neighbour);
  const auto twice = std::ranges::adjacent_find(edges, {}, &Edge::neighbour);
  if (twice != edges.end()) {
    return invalid_input(format("vertex {} lists its neighbour {} twice", shown, twice->neighbour + 1), lines.where());
  }
  for (const Edge& edge : edges) {
    graph.neighbours.push_back(edge.neighbour);
    if (header.edge_weights) graph.edge_weights.push_back(edge.weight);
  }
  return {};
}

/// "name:12" of a vertex, found by a second reading.
std::string where_is_vertex(std::string_view text, std::string_view name, std::uint32_t vertex) {
  LineReader lines(text, name);
  do {
    next_content(lines);
  } while (lines.line().find_first_not_of(" \t") == std::string_view::npos);
  for (std::uint32_t i = 0; i <= vertex; ++i) next_content(lines);
  return lines.where();
}

/// Checks that each edge stands at both ends with one weight. Vertices ascend, and so do the neighbours of each: when
/// the walk comes from u to its neighbour v, then u must be the first of v's neighbours that no walk has come from.
Result<void> check_symmetry(const MetisGraph& graph, std::string_view text, std::string_view name) {
  const auto one_sided = [&](std::uint32_t lister, std::uint32_t listed) {
    return invalid_input(format("vertex {} lists its neighbour {}, but vertex {} does not list {}", lister + 1,
                                listed + 1, listed + 1, lister + 1),
                         where_is_vertex(text, name, lister));
  };
  std::vector<std::uint32_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  for (std::uint32_t u = 0; u < graph.vertices; ++u) {
    for (std::uint32_t i = graph.offsets[u]; i < graph.offsets[u + 1]; ++i) {
      const std::uint32_t v = graph.neighbours[i];
      const std::uint32_t j = next[v];
      if (j == graph.offsets[v + 1] || graph.neighbours[j] > u) return one_sided(u, v);
      if (graph.neighbours[j] < u) return one_sided(v, graph.neighbours[j]);
      if (!graph.edge_weights.empty() && graph.edge_weights[i] != graph.edge_weights[j]) {
        return invalid_input(format("the edge {} - {} has the weight {} at vertex {} and {} at vertex {}", u + 1, v + 1,
                                    graph.edge_weights[i], u + 1, graph.edge_weights[j], v + 1),
                             where_is_vertex(text, name, u));
      }
      ++next[v];
    }
  }
  return {};
}

}  // namespace

Result<MetisGraph> parse_metis_graph(std::string_view text, std::string_view name) {
  LineReader lines(text, name);
  do {
    if (!next_content(lines)) return invalid_input("is no METIS graph: it has no header", std::string(name));
  } while (lines.line().find_first_not_of(" \t") == std::string_view::npos);
  const std::uint64_t header_line = lines.number();
  WAVEGATE_TRY(const Header header, parse_header(lines));

  MetisGraph graph;
  graph.vertices = static_cast<std::uint32_t>(header.vertices);
  graph.weights_per_vertex = static_cast<std::uint32_t>(header.weights_per_vertex);
  graph.offsets.reserve(static_cast<std::size_t>(header.vertices + 1));
  graph.neighbours.reserve(static_cast<std::size_t>(header.edges * 2));
  graph.offsets.push_back(0);
  std::vector<Edge> edges;
  for (std::uint32_t vertex = 0; vertex < graph.vertices; ++vertex) {
    if (!next_content(lines)) {
      return invalid_input(
          format("the text ends after {} of the {} vertices that its header claims", vertex, graph.vertices),
          lines.where());
    }
    WAVEGATE_CHECK(parse_vertex(lines, header, vertex, graph, edges));
    if (graph.neighbours.size() > kMaximumIndex) {
      return invalid_input(format("the vertices list more than {} neighbours", kMaximumIndex), lines.where());
    }
    graph.offsets.push_back(static_cast<std::uint32_t>(graph.neighbours.size()));
  }
  while (next_content(lines)) {
    std::string_view line = lines.line();
    if (const std::string_view word = take_word(line); !word.empty()) {
      return invalid_input(format("{} follows the line of the last vertex, {}", quote(word), graph.vertices),
                           lines.where());
    }
  }
  WAVEGATE_CHECK(check_symmetry(graph, text, name));
  if (graph.edges() != header.edges) {
    return invalid_input(format("the header claims {} edges, but the vertices list {}", header.edges, graph.edges()),
                         format("{}:{}", name, header_line));
  }
  return graph;
}

Result<CsrMatrix> laplacian_plus_identity(const MetisGraph& graph) {
  const std::uint64_t entries = std::uint64_t{graph.vertices} + graph.neighbours.size();
  if (entries > kMaximumIndex) {
    return invalid_input(format("the Laplacian of {} vertices and {} edges has {} entries, over the limit of {}",
                                graph.vertices, graph.edges(), entries, kMaximumIndex));
  }
  CsrMatrix matrix;
  matrix.rows = graph.vertices;
  matrix.columns = graph.vertices;
  matrix.row_offsets.reserve(std::size_t{graph.vertices} + 1);
  matrix.column_indices.reserve(static_cast<std::size_t>(entries));
  matrix.values.reserve(static_cast<std::size_t>(entries));
  matrix.row_offsets.push_back(0);
  const auto push = [&](std::uint32_t column, double value) {
    matrix.column_indices.push_back(column);
    matrix.values.push_back(static_cast<float>(value));
  };
  for (std::uint32_t v = 0; v < graph.vertices; ++v) {
    const auto weight = [&](std::uint32_t i) { return graph.edge_weights.empty() ? 1.0 : graph.edge_weights[i]; };
    double diagonal = 1;
    for (std::uint32_t i = graph.offsets[v]; i < graph.offsets[v + 1]; ++i) diagonal += weight(i);
    std::uint32_t i = graph.offsets[v];
    for (; i < graph.offsets[v + 1] && graph.neighbours[i] < v; ++i) push(graph.neighbours[i], -weight(i));
    push(v, diagonal);
    for (; i < graph.offsets[v + 1]; ++i) push(graph.neighbours[i], -weight(i));
    matrix.row_offsets.push_back(static_cast<std::uint32_t>(matrix.column_indices.size()));
  }
  return matrix;
}

}  // namespace wavegate::io
