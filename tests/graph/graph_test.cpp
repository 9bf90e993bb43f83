#include "wavegate/graph/graph.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>

namespace wavegate::graph {
namespace {

using kir::Access;
using kir::BindingKind;
using testing::HasSubstr;

constexpr BufferId kFirst{0};
constexpr BufferId kSecond{1};
constexpr BufferId kArguments{2};

/// Two storage buffers, of which the second is written, one scalar that is read and one parameter.
kir::Interface make_interface() {
  kir::Interface interface;
  interface.name = "scale";
  interface.workgroup_size = {64, 1, 1};
  interface.bindings = {{"in", BindingKind::buffer, kir::Type::f32, Access::read},
                        {"factor", BindingKind::scalar, kir::Type::f32, Access::read},
                        {"out", BindingKind::buffer, kir::Type::f32, Access::write}};
  interface.parameters = {{"n", kir::Type::i32}};
  return interface;
}

Dispatch& dispatch_of(Graph& graph) {
  return std::get<Dispatch>(graph.commands[0]);
}
Copy& copy_of(Graph& graph) {
  return std::get<Copy>(graph.commands[1]);
}
Fill& fill_of(Graph& graph) {
  return std::get<Fill>(graph.commands[2]);
}

Graph make_graph() {
  auto kernel = std::make_shared<kir::Kernel>();
  kernel->interface = make_interface();
  Dispatch dispatch;
  dispatch.label = "scale x";
  dispatch.bindings = {{kFirst, 0, 512}, {kSecond, 0, 512}, {kArguments, 64, 64}};
  dispatch.words = {0, 128};
  dispatch.uses = {
      {{kFirst, 0, 512}, Access::read}, {{kSecond, 0, 512}, Access::write}, {{kArguments, 64, 4}, Access::read}};
  dispatch.grid = {2, 1, 1};
  Graph graph;
  graph.name = "g";
  graph.buffers = {{"x", 1024}, {"y", 1024}, {"arguments", 128}};
  graph.buffers[2].indirect = true;
  graph.kernels = {kernel};
  graph.commands = {dispatch, Copy{"keep", {kSecond, 0, 512}, {kFirst, 512, 512}}, Fill{"clear", {kSecond, 0, 64}, 7}};
  return graph;
}

/// The error of the graph after a change, or "ok".
std::string verdict(const std::function<void(Graph&)>& change) {
  Graph graph = make_graph();
  change(graph);
  const Result<void> result = verify(graph);
  if (result.ok()) return "ok";
  EXPECT_EQ(result.error().kind, ErrorKind::internal);
  return result.error().message;
}

TEST(graph, a_graph_without_mistakes_verifies) {
  EXPECT_EQ(verdict([](Graph&) {}), "ok");
}

TEST(graph, a_buffer_without_bytes_is_a_mistake) {
  EXPECT_EQ(verdict([](Graph& g) { g.buffers[0].bytes = 0; }),
            "graph \"g\": buffer \"x\" has no bytes; the smallest buffer has 4");
}

TEST(graph, a_buffer_of_half_a_word_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { g.buffers[0].bytes = 1026; }), HasSubstr("\"x\" has 1026 bytes"));
}

TEST(graph, initial_contents_have_the_size_of_the_buffer) {
  EXPECT_THAT(verdict([](Graph& g) {
                g.buffers[0].initial = Contents{std::make_shared<const std::vector<std::byte>>(8), 0};
              }),
              HasSubstr("\"x\" has 1024 bytes, but 8 bytes of initial contents"));
}

TEST(graph, an_external_buffer_has_no_initial_contents) {
  EXPECT_THAT(verdict([](Graph& g) {
                g.buffers[0].external = true;
                g.buffers[0].initial = Contents{};
              }),
              HasSubstr("\"x\" is external and has initial contents"));
}

TEST(graph, a_null_kernel_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { g.kernels[0] = std::shared_ptr<const kir::Kernel>(); }),
              HasSubstr("kernel 0 is null"));
}

TEST(graph, a_dispatch_of_a_kernel_that_does_not_exist_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { dispatch_of(g).kernel = KernelId{1}; }),
              HasSubstr("dispatch \"scale x\" names kernel 1; there are 1"));
}

TEST(graph, a_dispatch_binds_the_buffers_and_the_arena) {
  EXPECT_THAT(verdict([](Graph& g) { dispatch_of(g).bindings.pop_back(); }),
              HasSubstr("binds 2 ranges; kernel \"scale\" takes 3"));
}

TEST(graph, a_dispatch_has_a_word_for_each_scalar_and_parameter) {
  EXPECT_THAT(verdict([](Graph& g) { dispatch_of(g).words = {0}; }),
              HasSubstr("has 1 launch words; kernel \"scale\" takes 2"));
}

TEST(graph, an_opaque_kernel_binds_its_scalars_as_buffers_and_has_no_words_for_them) {
  EXPECT_EQ(verdict([](Graph& g) {
              auto kernel = std::make_shared<kir::OpaqueKernel>();
              kernel->interface = make_interface();
              g.kernels[0] = kernel;
              dispatch_of(g).bindings = {{kFirst, 0, 512}, {kArguments, 64, 4}, {kSecond, 0, 512}};
              dispatch_of(g).words = {128};
            }),
            "ok");
}

TEST(graph, a_range_of_a_buffer_that_does_not_exist_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { fill_of(g).destination.buffer = BufferId{9}; }),
              HasSubstr("the destination of fill \"clear\" names buffer 9; there are 3"));
}

TEST(graph, a_range_past_the_end_of_its_buffer_is_a_mistake) {
  EXPECT_EQ(verdict([](Graph& g) {
              dispatch_of(g).bindings[0] = {kFirst, 516, 512};
            }),
            "graph \"g\": binding 0 of dispatch \"scale x\" is \"x\"[516, 1028): the buffer ends at 1024");
}

TEST(graph, a_range_whose_end_overflows_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) {
                fill_of(g).destination = {kFirst, ~uint64_t{3}, 8};
              }),
              HasSubstr("the buffer ends at 1024"));
}

TEST(graph, a_range_starts_at_a_word) {
  EXPECT_THAT(verdict([](Graph& g) { fill_of(g).destination = {kFirst, 2, 8}; }), HasSubstr("multiples of 4"));
}

TEST(graph, a_range_without_bytes_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { fill_of(g).destination = {kFirst, 0, 0}; }), HasSubstr("has no bytes"));
}

TEST(graph, a_use_outside_the_bindings_is_a_mistake) {
  EXPECT_EQ(verdict([](Graph& g) {
              dispatch_of(g).uses[0].range = {kFirst, 256, 512};
            }),
            "graph \"g\": dispatch \"scale x\" uses \"x\"[256, 768), which lies in none of its bindings");
}

TEST(graph, a_write_to_a_binding_that_the_kernel_reads_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { dispatch_of(g).uses[0].access = Access::read_write; }),
              HasSubstr("is said to write \"x\"[0, 512), but kernel \"scale\" only reads that binding"));
}

TEST(graph, a_write_to_an_arena_of_which_the_kernel_reads_all_scalars_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { dispatch_of(g).uses[2].access = Access::write; }),
              HasSubstr("is said to write \"arguments\"[64, 68)"));
}

TEST(graph, an_indirect_grid_lies_in_a_buffer_marked_for_it) {
  EXPECT_EQ(verdict([](Graph& g) { dispatch_of(g).indirect = Range{kArguments, 4, 12}; }), "ok");
  EXPECT_THAT(verdict([](Graph& g) {
                dispatch_of(g).indirect = Range{kFirst, 4, 12};
              }),
              HasSubstr("lies in buffer \"x\", which is not marked indirect"));
}

TEST(graph, an_indirect_grid_takes_twelve_bytes) {
  EXPECT_THAT(verdict([](Graph& g) {
                dispatch_of(g).indirect = Range{kArguments, 4, 16};
              }),
              HasSubstr("it takes 12 bytes"));
}

TEST(graph, a_copy_between_sizes_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { copy_of(g).source.bytes = 256; }),
              HasSubstr("copy \"keep\" copies 256 bytes to 512 bytes"));
}

TEST(graph, a_copy_onto_itself_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { copy_of(g).source = {kFirst, 256, 512}; }), HasSubstr("overlap"));
}

TEST(graph, a_copy_between_neighbours_in_one_buffer_verifies) {
  EXPECT_EQ(verdict([](Graph& g) { copy_of(g).source = {kFirst, 0, 512}; }), "ok");
}

std::shared_ptr<const Repeat> repeat(uint32_t count, std::vector<Command> body) {
  return std::make_shared<const Repeat>(Repeat{"again", count, std::move(body)});
}

TEST(graph, the_body_of_a_repeat_is_verified) {
  EXPECT_THAT(verdict([](Graph& g) {
                fill_of(g).destination.bytes = 6;
                g.commands = {repeat(2, {g.commands[2]})};
              }),
              HasSubstr("fill \"clear\""));
}

TEST(graph, repeats_that_nest_too_deeply_are_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) {
                for (int i = 0; i < 65; ++i) g.commands = {repeat(1, std::move(g.commands))};
              }),
              HasSubstr("nested deeper than 64"));
}

TEST(graph, the_encoded_size_spells_out_repeats) {
  const Fill fill;
  EXPECT_EQ(encoded_size({fill, repeat(3, {fill, fill, repeat(10, {fill})}), repeat(0, {fill})}), 1 + 3 * 12);
}

TEST(graph, the_encoded_size_saturates) {
  std::vector<Command> commands = {Fill{}, Fill{}};
  for (int i = 0; i < 3; ++i) commands = {repeat(std::numeric_limits<uint32_t>::max(), std::move(commands))};
  EXPECT_EQ(encoded_size(commands), std::numeric_limits<uint64_t>::max());
}

}  // namespace
}  // namespace wavegate::graph
