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

// Conditionals.

/// A conditional on the first word of "arguments" around the commands.
Conditional conditional(std::vector<Command> body) {
  return {"maybe", {kArguments, 0, 4}, std::move(body)};
}
Command command(Conditional conditional) {
  return std::make_shared<const Conditional>(std::move(conditional));
}

TEST(graph, a_conditional_holds_dispatches_and_repeats_of_them) {
  EXPECT_EQ(verdict([](Graph& g) {
              g.commands = {command(conditional({g.commands[0], repeat(3, {g.commands[0]})}))};
            }),
            "ok");
}

TEST(graph, a_conditional_may_stand_in_a_repeat) {
  EXPECT_EQ(verdict([](Graph& g) { g.commands = {repeat(3, {command(conditional({g.commands[0]}))})}; }), "ok");
}

TEST(graph, a_copy_in_a_conditional_is_a_mistake) {
  EXPECT_EQ(
      verdict([](Graph& g) { g.commands = {command(conditional({g.commands[1]}))}; }),
      "graph \"g\": copy \"keep\" stands in conditional \"maybe\", which holds dispatches and repeats of them alone");
}

TEST(graph, a_fill_in_a_repeat_in_a_conditional_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { g.commands = {command(conditional({repeat(2, {g.commands[2]})}))}; }),
              HasSubstr("fill \"clear\" stands in conditional \"maybe\""));
}

TEST(graph, a_conditional_in_a_conditional_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) {
                Conditional inner = conditional({g.commands[0]});
                inner.label = "inner";
                g.commands = {command(conditional({repeat(2, {command(inner)})}))};
              }),
              HasSubstr("conditional \"inner\" stands in conditional \"maybe\""));
}

TEST(graph, a_predicate_is_a_word_inside_its_buffer) {
  const auto with = [](Range predicate) {
    return verdict([&](Graph& g) {
      Conditional changed = conditional({g.commands[0]});
      changed.predicate = predicate;
      g.commands = {command(changed)};
    });
  };
  EXPECT_THAT(with({kArguments, 0, 8}),
              HasSubstr("the predicate of conditional \"maybe\" is \"arguments\"[0, 8): it takes 4 bytes"));
  EXPECT_THAT(with({kArguments, 2, 4}), HasSubstr("multiples of 4"));
  EXPECT_THAT(with({kArguments, 128, 4}), HasSubstr("the buffer ends at 128"));
}

TEST(graph, a_predicate_in_an_external_buffer_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) {
                g.buffers[2].external = true;
                g.commands = {command(conditional({g.commands[0]}))};
              }),
              HasSubstr("the predicate of conditional \"maybe\" lies in buffer \"arguments\", which is external"));
}

TEST(graph, a_body_that_writes_its_predicate_is_a_mistake) {
  EXPECT_EQ(verdict([](Graph& g) {
              Conditional changed = conditional({repeat(2, {g.commands[0]})});
              changed.predicate = {kSecond, 508, 4};
              g.commands = {command(changed)};
            }),
            "graph \"g\": the body of conditional \"maybe\" writes its predicate \"y\"[508, 512)");
}

TEST(graph, a_null_conditional_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { g.commands = {std::shared_ptr<const Conditional>()}; }),
              HasSubstr("a conditional is null"));
}

// Loops.

/// The graph as a loop whose done word is the last that its dispatch writes.
Loop loop_around(Graph& graph) {
  graph.buffers[1].observed = true;
  Loop loop;
  loop.label = "until flat";
  loop.done = {kSecond, 508, 4};
  loop.body = graph.commands;
  return loop;
}
Command command(Loop loop) {
  return std::make_shared<const Loop>(std::move(loop));
}

/// The error of a graph that is one loop, after a change.
std::string loop_verdict(const std::function<void(Graph&, Loop&)>& change) {
  return verdict([&](Graph& g) {
    Loop loop = loop_around(g);
    change(g, loop);
    g.commands = {command(loop)};
  });
}

TEST(graph, a_loop_holds_dispatches_copies_fills_repeats_and_conditionals) {
  EXPECT_EQ(loop_verdict([](Graph&, Loop& loop) {
              loop.body.push_back(repeat(2, {loop.body[0], command(conditional({loop.body[0]}))}));
            }),
            "ok");
}

TEST(graph, a_loop_in_a_repeat_is_a_mistake) {
  EXPECT_EQ(verdict([](Graph& g) { g.commands = {repeat(2, {command(loop_around(g))})}; }),
            "graph \"g\": loop \"until flat\" stands in repeat \"again\"; a loop stands at the top level only");
}

TEST(graph, a_loop_in_a_loop_is_a_mistake) {
  EXPECT_THAT(loop_verdict([](Graph& g, Loop& loop) { loop.body = {command(loop_around(g))}; }),
              HasSubstr("loop \"until flat\" stands in loop \"until flat\""));
}

TEST(graph, a_loop_in_a_conditional_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { g.commands = {command(conditional({command(loop_around(g))}))}; }),
              HasSubstr("loop \"until flat\" stands in conditional \"maybe\""));
}

TEST(graph, the_body_of_a_loop_is_verified) {
  EXPECT_THAT(loop_verdict([](Graph&, Loop& loop) { std::get<Fill>(loop.body[2]).destination.bytes = 6; }),
              HasSubstr("fill \"clear\""));
}

TEST(graph, a_done_word_is_a_word_inside_its_buffer) {
  EXPECT_THAT(loop_verdict([](Graph&, Loop& loop) { loop.done.bytes = 8; }),
              HasSubstr("the done word of loop \"until flat\" is \"y\"[508, 516): it takes 4 bytes"));
  EXPECT_THAT(loop_verdict([](Graph&, Loop& loop) { loop.done.offset = 1024; }), HasSubstr("the buffer ends at 1024"));
}

TEST(graph, a_done_word_lies_in_an_observed_buffer) {
  EXPECT_THAT(loop_verdict([](Graph& g, Loop&) { g.buffers[1].observed = false; }),
              HasSubstr("the done word of loop \"until flat\" lies in buffer \"y\", which is not marked observed"));
}

TEST(graph, an_observed_buffer_is_not_external) {
  EXPECT_THAT(verdict([](Graph& g) { g.buffers[0].external = g.buffers[0].observed = true; }),
              HasSubstr("buffer \"x\" is external and observed"));
}

TEST(graph, a_loop_that_nothing_can_end_is_a_mistake) {
  EXPECT_THAT(loop_verdict([](Graph&, Loop& loop) { loop.done.offset = 512; }),
              HasSubstr("nothing in the body of loop \"until flat\" writes its done word \"y\"[512, 516)"));
}

TEST(graph, a_copy_or_a_fill_may_write_the_done_word) {
  EXPECT_EQ(loop_verdict([](Graph&, Loop& loop) {
              loop.done.offset = 512;
              loop.body.push_back(repeat(1, {Fill{"end", {kSecond, 512, 4}, 1}}));
            }),
            "ok");
}

TEST(graph, the_chunks_of_a_loop_grow) {
  EXPECT_THAT(loop_verdict([](Graph&, Loop& loop) { loop.first_chunk = 0; }),
              HasSubstr("starts with a chunk of 0 runs"));
  EXPECT_THAT(loop_verdict([](Graph&, Loop& loop) { loop.first_chunk = 129; }),
              HasSubstr("starts with a chunk of 129 runs and has chunks of up to 128"));
}

TEST(graph, a_null_loop_is_a_mistake) {
  EXPECT_THAT(verdict([](Graph& g) { g.commands = {std::shared_ptr<const Loop>()}; }), HasSubstr("a loop is null"));
}

TEST(graph, the_first_loop_is_found) {
  Graph graph = make_graph();
  EXPECT_EQ(find_loop(graph), nullptr);
  Loop first = loop_around(graph), second = first;
  first.label = "first";
  graph.commands.push_back(command(first));
  graph.commands.push_back(command(second));
  ASSERT_NE(find_loop(graph), nullptr);
  EXPECT_EQ(find_loop(graph)->label, "first");
}

TEST(graph, the_encoded_size_counts_a_conditional_and_its_body) {
  EXPECT_EQ(encoded_size({repeat(3, {command(conditional({Dispatch{}, Dispatch{}}))})}), 9);
}

TEST(graph, the_encoded_size_of_a_loop_is_that_of_its_largest_chunk) {
  Loop loop;
  loop.largest_chunk = 10;
  loop.maximum = 1000000;
  loop.body = {Fill{}, Fill{}};
  EXPECT_EQ(encoded_size({Fill{}, command(loop)}), 1 + 10 * 2);
  loop.maximum = 6;
  EXPECT_EQ(encoded_size({Fill{}, command(loop)}), 1 + 6 * 2);
}

TEST(graph, a_chunk_is_as_large_as_all_before_it_then_half_of_the_largest_then_the_largest) {
  Loop loop;
  loop.first_chunk = 4;
  loop.largest_chunk = 20;
  EXPECT_EQ(next_chunk(loop, 4), 4u);
  EXPECT_EQ(next_chunk(loop, 8), 8u);
  EXPECT_EQ(next_chunk(loop, 16), 10u);
  EXPECT_EQ(next_chunk(loop, 319), 10u);
  EXPECT_EQ(next_chunk(loop, 320), 20u);
  loop.largest_chunk = UINT32_MAX;
  EXPECT_EQ(next_chunk(loop, UINT64_MAX), UINT32_MAX);
  loop.first_chunk = loop.largest_chunk = 3;
  EXPECT_EQ(next_chunk(loop, 3), 3u);
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
