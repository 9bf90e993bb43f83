#include "wavegate/io/metis_graph.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "io/support.h"
#include "wavegate/base/format.h"
#include "wavegate/io/file.h"

namespace wavegate::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<MetisGraph> parse(std::string_view text) {
  return parse_metis_graph(text, "g.graph");
}

/// The graph of a text, or an empty one after a failed check that says why.
MetisGraph parsed(std::string_view text) {
  Result<MetisGraph> graph = parse(text);
  EXPECT_EQ(error_text(graph), "");
  return graph.ok() ? *graph : MetisGraph{};
}

constexpr std::string_view kPath = "3 2\n2\n1 3\n2\n";

TEST(MetisGraphText, ReadsNeighboursFromOne) {
  const MetisGraph graph = parsed(kPath);
  EXPECT_EQ(graph.vertices, 3u);
  EXPECT_EQ(graph.edges(), 2u);
  EXPECT_THAT(graph.offsets, ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(graph.neighbours, ElementsAre(1, 0, 2, 1));
  EXPECT_THAT(graph.edge_weights, IsEmpty());
  EXPECT_THAT(graph.vertex_weights, IsEmpty());
  EXPECT_THAT(graph.vertex_sizes, IsEmpty());
}

TEST(MetisGraphText, SortsNeighbours) {
  EXPECT_EQ(parsed("3 2\n2\n3 1\n2\n"), parsed(kPath));
}

TEST(MetisGraphText, PassesOverCommentsAnywhere) {
  EXPECT_EQ(parsed("% a\n\n3 2\n% b\n2\n1 3\n%c\n2\n% d\n\n"), parsed(kPath));
}

TEST(MetisGraphText, ReadsCarriageReturnsTabsAndAMissingLastEnd) {
  EXPECT_EQ(parsed("3 2\r\n2 \r\n\t1 3\r\n2"), parsed(kPath));
}

TEST(MetisGraphText, TakesAnEmptyLineForAVertexWithoutNeighbours) {
  EXPECT_THAT(parsed("4 1\n\n3\n2\n\n").offsets, ElementsAre(0, 0, 1, 2, 2));
  EXPECT_EQ(parsed("1 0\n\n").vertices, 1u);
}

TEST(MetisGraphText, ReadsEdgeWeights) {
  const MetisGraph graph = parsed("3 2 1\n2 5\n3 7 1 5\n2 7\n");
  EXPECT_THAT(graph.neighbours, ElementsAre(1, 0, 2, 1));
  EXPECT_THAT(graph.edge_weights, ElementsAre(5, 5, 7, 7));
}

TEST(MetisGraphText, ReadsVertexWeights) {
  const MetisGraph graph = parsed("2 1 010 2\n10 20 2\n30 0 1\n");
  EXPECT_EQ(graph.weights_per_vertex, 2u);
  EXPECT_THAT(graph.vertex_weights, ElementsAre(10, 20, 30, 0));
  EXPECT_THAT(graph.neighbours, ElementsAre(1, 0));
}

TEST(MetisGraphText, ReadsSizesThenWeightsThenEdges) {
  const MetisGraph graph = parsed("2 1 111 1\n7 10 2 5\n8 30 1 5\n");
  EXPECT_THAT(graph.vertex_sizes, ElementsAre(7, 8));
  EXPECT_THAT(graph.vertex_weights, ElementsAre(10, 30));
  EXPECT_THAT(graph.edge_weights, ElementsAre(5, 5));
}

TEST(MetisGraphText, TakesAFormatOfZerosForNone) {
  EXPECT_EQ(parsed("3 2 000\n2\n1 3\n2\n"), parsed(kPath));
}

class MalformedMetisGraph : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedMetisGraph, IsRefusedByName) {
  const std::string error = error_text(parse(GetParam().text));
  EXPECT_THAT(error, HasSubstr("invalid input: g.graph"));
  for (const std::string& word : GetParam().words) EXPECT_THAT(error, HasSubstr(word));
}

INSTANTIATE_TEST_SUITE_P(
    , MalformedMetisGraph,
    testing::Values(
        Malformed{"empty", "", {"has no header"}}, Malformed{"comments_alone", "% a\n\n", {"has no header"}},
        Malformed{"header_text", "%\na b\n", {"g.graph:2: ", "number of vertices, \"a\""}},
        Malformed{"no_vertices", "0 0\n", {"g.graph:1: ", "number of vertices, \"0\"", "from 1 to 2147483647"}},
        Malformed{"vertices_negative", "-3 2\n", {"number of vertices, \"-3\""}},
        Malformed{"vertices_beyond_31_bits", "2147483648 0\n", {"number of vertices, \"2147483648\""}},
        Malformed{"edges_missing", "3\n", {"number of edges is missing"}},
        Malformed{"edges_beyond_30_bits", "3 1073741824\n", {"number of edges, \"1073741824\""}},
        Malformed{"format_digit", "3 2 2\n", {"g.graph:1: ", "format \"2\""}},
        Malformed{"format_long", "3 2 0001\n", {"format \"0001\""}},
        Malformed{"weights_zero", "2 1 10 0\n", {"number of weights per vertex, \"0\""}},
        Malformed{"weights_unformatted", "2 1 1 2\n", {"2 weights per vertex", "format \"1\""}},
        Malformed{"header_extra", "2 1 10 1 9\n", {"\"9\" follows the header"}},
        Malformed{"vertices_beyond_the_text", "2147483647 0\n\n", {"claims 2147483647 vertices", "1 bytes"}},
        Malformed{"edges_beyond_the_text", "2 1000\n2\n1\n", {"1000 edges", "4 bytes"}},
        Malformed{"weights_beyond_the_text", "2 1 10 2147483647\n1 2\n1 1\n", {"more than the 8 bytes"}},
        Malformed{"vertex_missing", "3 2\n% a\n2\n1 3\n", {"g.graph:4: ", "ends after 2 of the 3 vertices"}},
        Malformed{"line_extra", "2 1\n2\n1\n\n5\n", {"g.graph:5: ", "\"5\" follows the line of the last vertex, 2"}},
        Malformed{"neighbour_zero", "2 1\n0\n1\n", {"g.graph:2: ", "neighbour of vertex 1, \"0\"", "from 1 to 2"}},
        Malformed{"neighbour_outside", "2 1\n2\n3\n", {"g.graph:3: ", "neighbour of vertex 2, \"3\""}},
        Malformed{"neighbour_text", "2 1\nx\n1\n", {"neighbour of vertex 1, \"x\""}},
        Malformed{"neighbour_beyond_32_bits", "2 1\n4294967298\n1\n", {"neighbour of vertex 1, \"4294967298\""}},
        Malformed{"loop", "2 1\n2\n2\n", {"g.graph:3: ", "vertex 2 is its own neighbour"}},
        Malformed{"neighbour_twice", "2 2\n2 2\n1 1\n", {"g.graph:2: ", "vertex 1 lists its neighbour 2 twice"}},
        Malformed{"one_sided_up",
                  "% a\n3 2\n% b\n2\n1 3\n\n",
                  {"g.graph:5: ", "vertex 2 lists its neighbour 3, but vertex 3 does not list 2"}},
        Malformed{"one_sided_down",
                  "3 2\n2\n1\n% b\n2\n",
                  {"g.graph:5: ", "vertex 3 lists its neighbour 2, but vertex 2 does not list 3"}},
        Malformed{"one_sided_hidden",
                  "4 3\n% a\n3 4\n3\n1\n1\n",
                  {"g.graph:4: ", "vertex 2 lists its neighbour 3, but vertex 3 does not list 2"}},
        Malformed{"edges_too_few", "%\n3 1\n2\n1 3\n2\n", {"g.graph:2: ", "claims 1 edges, but the vertices list 2"}},
        Malformed{"edges_too_many", "3 2\n2 \n1 \n   \n", {"g.graph:1: ", "claims 2 edges, but the vertices list 1"}},
        Malformed{"edge_weight_missing",
                  "2 1 1\n% comment\n2\n1 5\n",
                  {"g.graph:3: ", "weight of the edge 1 - 2 is missing"}},
        Malformed{"edge_weight_zero", "2 1 1\n2 0\n1 0\n", {"g.graph:2: ", "weight of the edge 1 - 2, \"0\""}},
        Malformed{"edge_weights_differ",
                  "2 1 1\n2 5\n1 6\n",
                  {"g.graph:2: ", "edge 1 - 2 has the weight 5 at vertex 1 and 6 at vertex 2"}},
        Malformed{"vertex_weight_missing", "2 0 10\n5\n    \n", {"g.graph:3: ", "weight 1 of vertex 2 is missing"}},
        Malformed{"vertex_weight_negative", "2 0 10\n5\n-5\n", {"g.graph:3: ", "weight 1 of vertex 2, \"-5\""}},
        Malformed{"vertex_size_text", "2 0 100\n5\nx\n", {"g.graph:3: ", "size of vertex 2, \"x\""}}),
    name_of);

TEST(LaplacianPlusIdentity, HoldsDegreesAndEdges) {
  const Result<CsrMatrix> matrix = laplacian_plus_identity(parsed(kPath));
  ASSERT_EQ(error_text(matrix), "");
  const CsrMatrix expected{.rows = 3,
                           .columns = 3,
                           .row_offsets = {0, 2, 5, 7},
                           .column_indices = {0, 1, 0, 1, 2, 1, 2},
                           .values = {2, -1, -1, 3, -1, -1, 2}};
  EXPECT_EQ(*matrix, expected);
}

TEST(LaplacianPlusIdentity, UsesEdgeWeights) {
  const Result<CsrMatrix> matrix = laplacian_plus_identity(parsed("2 1 1\n2 5\n1 5\n"));
  ASSERT_EQ(error_text(matrix), "");
  EXPECT_THAT(matrix->values, ElementsAre(6, -5, -5, 6));
}

TEST(LaplacianPlusIdentity, IsTheIdentityWithoutEdges) {
  const Result<CsrMatrix> matrix = laplacian_plus_identity(parsed("2 0\n\n\n"));
  ASSERT_EQ(error_text(matrix), "");
  EXPECT_THAT(matrix->values, ElementsAre(1, 1));
  EXPECT_THAT(matrix->column_indices, ElementsAre(0, 1));
}

struct Example {
  std::string_view name;
  std::uint32_t vertices;
  std::uint32_t edges;
};

std::string name_of_example(const testing::TestParamInfo<Example>& info) {
  return "graph_" + std::string(info.param.name);
}

class ExampleOfMetis : public testing::TestWithParam<Example> {};

TEST_P(ExampleOfMetis, BecomesAMatrixWhoseRowsSumToOne) {
  const std::filesystem::path path = metis_graphs() / format("{}.graph", GetParam().name);
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << path << " is missing; set WAVEGATE_METIS_GRAPHS to the folder of METIS's example graphs";
  }
  const Result<std::vector<std::byte>> bytes = read_file(path);
  ASSERT_EQ(error_text(bytes), "");
  const Result<MetisGraph> graph = parse_metis_graph(as_text(*bytes), path.string());
  ASSERT_EQ(error_text(graph), "");
  EXPECT_EQ(graph->vertices, GetParam().vertices);
  EXPECT_EQ(graph->edges(), GetParam().edges);

  const Result<CsrMatrix> matrix = laplacian_plus_identity(*graph);
  ASSERT_EQ(error_text(matrix), "");
  ASSERT_EQ(error_text(verify(*matrix)), "");
  // The Laplacian maps constants to zero: (I + L) 1 = 1, exactly, since all numbers are small integers.
  const std::vector<float> b(matrix->rows, 1);
  const std::vector<double> x(matrix->columns, 1);
  const Result<double> residual = relative_residual(*matrix, b, x);
  ASSERT_EQ(error_text(residual), "");
  EXPECT_EQ(*residual, 0);
}

INSTANTIATE_TEST_SUITE_P(, ExampleOfMetis,
                         testing::Values(Example{"4elt", 7434, 43031}, Example{"copter2", 55476, 352238},
                                         Example{"mdual", 258569, 513132}),
                         name_of_example);

}  // namespace
}  // namespace wavegate::io
