#include "wavegate/graph/print.h"

#include <gmock/gmock.h>

namespace wavegate::graph {
namespace {

using kir::Access;
using kir::BindingKind;
using testing::HasSubstr;

Graph make_graph() {
  auto kernel = std::make_shared<kir::Kernel>();
  kernel->interface.name = "scale";
  kernel->interface.workgroup_size = {64, 1, 1};
  kernel->interface.bindings = {{"in", BindingKind::buffer, kir::Type::f32, Access::read},
                                {"factor", BindingKind::scalar, kir::Type::f32, Access::read},
                                {"out", BindingKind::buffer, kir::Type::f32, Access::write}};
  Dispatch dispatch;
  dispatch.label = "scale x";
  dispatch.bindings = {{BufferId{0}, 0, 1024}, {BufferId{1}, 0, 512}, {BufferId{2}, 0, 128}};
  dispatch.words = {16};
  dispatch.uses = {{{BufferId{0}, 0, 1024}, Access::read}, {{BufferId{1}, 0, 512}, Access::write}};
  dispatch.grid = {4, 1, 1};
  Dispatch conditional = dispatch;
  conditional.label = "maybe";
  conditional.indirect = Range{BufferId{2}, 4, 12};

  Graph graph;
  graph.name = "example";
  graph.buffers = {{"x", 1024}, {"y", 1024}, {"arena", 128}};
  graph.buffers[0].initial = Contents{nullptr, 255};
  graph.buffers[1].output = true;
  graph.buffers[2].indirect = true;
  graph.kernels = {kernel};
  auto repeat = std::make_shared<const Repeat>(Repeat{"steps", 10, {conditional}});
  graph.commands = {Fill{"clear", {BufferId{1}, 0, 1024}, 7}, dispatch, repeat,
                    Copy{"keep", {BufferId{0}, 0, 512}, {BufferId{1}, 512, 512}}};
  return graph;
}

TEST(print, shows_buffers_kernels_and_one_line_a_command) {
  EXPECT_EQ(print(make_graph()),
            R"(graph "example": 3 buffers, 1 kernel, 13 commands once repeats are spelled out
  buffer "x" 1024 bytes, filled with 0xff
  buffer "y" 1024 bytes, output
  buffer "arena" 128 bytes, indirect
  kernel "scale" workgroup 64x1x1, 3 bindings, 1 launch word
  fill "clear" y with 0x7
  dispatch "scale x" kernel "scale" grid 4x1x1 (in=x read, out=y[0, 512) write, arena=arena scalars) words 0x10
  repeat "steps" 10 times {
    dispatch "maybe" kernel "scale" grid from arena[4, 16), at most 4x1x1 (in=x read, out=y[0, 512) write, arena=arena scalars) words 0x10
  }
  copy "keep" x[0, 512) -> y[512, 1024)
)");
}

TEST(print_dot, draws_commands_in_order_with_edges_to_what_they_use) {
  EXPECT_EQ(print_dot(make_graph()), R"(digraph "example" {
  node [fontname="sans-serif"];
  buffer0 [shape=cylinder, label="x\n1024 bytes"];
  buffer1 [shape=cylinder, label="y\n1024 bytes"];
  buffer2 [shape=cylinder, label="arena\n128 bytes"];
  command0 [shape=ellipse, label="fill clear"];
  command1 [shape=box, label="scale x\n4x1x1"];
  subgraph cluster0 {
    label="steps x 10";
    command2 [shape=box, label="maybe\nat most 4x1x1"];
  }
  command3 [shape=ellipse, label="copy keep"];
  command0 -> buffer1;
  command0 -> command1 [style=bold];
  buffer0 -> command1;
  command1 -> buffer1;
  command1 -> command2 [style=bold];
  buffer0 -> command2;
  command2 -> buffer1;
  buffer2 -> command2 [style=dotted];
  command2 -> command3 [style=bold];
  buffer0 -> command3;
  command3 -> buffer1;
}
)");
}

/// A loop of one dispatch and one conditional.
Graph make_loop_graph() {
  Graph graph = make_graph();
  const Command dispatch = graph.commands[1];
  graph.buffers[1].observed = true;
  Loop loop;
  loop.label = "until flat";
  loop.done = {BufferId{1}, 4, 4};
  loop.maximum = 100;
  loop.body = {dispatch, std::make_shared<const Conditional>(Conditional{"maybe", {BufferId{2}, 8, 4}, {dispatch}})};
  graph.commands = {std::make_shared<const Loop>(loop)};
  return graph;
}

TEST(print, shows_conditionals_and_loops_as_blocks) {
  const std::string text = print(make_loop_graph());
  EXPECT_THAT(text, HasSubstr("  buffer \"y\" 1024 bytes, output, observed\n"));
  EXPECT_EQ(text.substr(text.find("  loop")),
            R"(  loop "until flat" until y[4, 8), at most 100 times, chunks of 4 to 128 {
    dispatch "scale x" kernel "scale" grid 4x1x1 (in=x read, out=y[0, 512) write, arena=arena scalars) words 0x10
    conditional "maybe" if arena[8, 12) {
      dispatch "scale x" kernel "scale" grid 4x1x1 (in=x read, out=y[0, 512) write, arena=arena scalars) words 0x10
    }
  }
)");
}

TEST(print_dot, draws_what_decides_as_diamonds) {
  const std::string text = print_dot(make_loop_graph());
  EXPECT_EQ(text.substr(text.find("  subgraph")), R"(  subgraph cluster0 {
    label="until flat, at most 100 times";
    command0 [shape=box, label="scale x\n4x1x1"];
    subgraph cluster1 {
      label="maybe";
      command1 [shape=diamond, label="if"];
      command2 [shape=box, label="scale x\n4x1x1"];
    }
    command3 [shape=diamond, label="until"];
  }
  buffer0 -> command0;
  command0 -> buffer1;
  command0 -> command1 [style=bold];
  buffer2 -> command1 [style=dotted];
  command1 -> command2 [style=bold];
  buffer0 -> command2;
  command2 -> buffer1;
  command2 -> command3 [style=bold];
  buffer1 -> command3 [style=dotted];
}
)");
}

TEST(print_dot, escapes_what_would_end_a_string) {
  Graph graph;
  graph.name = "a\"b\\c";
  EXPECT_THAT(print_dot(graph), HasSubstr("digraph \"a\\\"b\\\\c\" {"));
}

}  // namespace
}  // namespace wavegate::graph
