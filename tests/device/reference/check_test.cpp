#include "wavegate/device/check.h"

#include <gmock/gmock.h>

#include <functional>

namespace wavegate::device {
namespace {

using kir::Access;
using kir::BindingKind;
using testing::HasSubstr;

graph::Dispatch& dispatch_of(graph::Graph& graph) {
  return std::get<graph::Dispatch>(graph.commands[0]);
}

kir::Kernel make_kernel() {
  kir::Kernel kernel;
  kernel.interface.name = "relax";
  kernel.interface.workgroup_size = {64, 2, 1};
  kernel.interface.bindings = {{"in", BindingKind::buffer, kir::Type::f32, Access::read},
                               {"stop", BindingKind::scalar, kir::Type::i32, Access::read}};
  kernel.interface.parameters = {{"n", kir::Type::i64}};
  kernel.memories = {{"in", kir::MemorySpace::buffer, kir::Type::f32, 0, 0},
                     {"tile", kir::MemorySpace::workgroup, kir::Type::f32, 256, 0}};
  return kernel;
}

/// The error of a graph that just fits, after one limit was lowered, or "ok".
std::string verdict(const std::function<void(target::Limits&)>& lower,
                    const std::function<void(graph::Graph&)>& change = {}, bool predicates = true) {
  graph::Graph graph;
  graph.name = "g";
  graph.buffers = {{"x", 1024}, {"arena", 512}};
  graph.kernels = {std::make_shared<const kir::Kernel>(make_kernel())};
  graph::Dispatch dispatch;
  dispatch.label = "step";
  dispatch.bindings = {{graph::BufferId{0}, 256, 768}, {graph::BufferId{1}, 0, 512}};
  dispatch.words = {0, 1, 0};
  dispatch.grid = {1000, 20, 3};
  graph.commands = {dispatch};
  if (change) change(graph);

  target::Profile profile;
  profile.features.conditional_rendering = predicates;
  profile.limits.grid = {1000, 20, 3};
  profile.limits.workgroup_size = {64, 2, 1};
  profile.limits.workgroup_invocations = 128;
  profile.limits.workgroup_memory = 1024;
  profile.limits.storage_buffers = 2;
  profile.limits.immediate_words = 3;
  profile.limits.binding_alignment = 256;
  profile.limits.binding_bytes = 768;
  profile.limits.buffer_bytes = 1024;
  profile.limits.memory_bytes = 1536;
  lower(profile.limits);
  const Result<void> result = check_graph(graph, profile);
  if (result.ok()) return "ok";
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(result.error().where, "graph \"g\"");
  return result.error().message;
}

void nothing(target::Limits&) {}

TEST(check_graph, a_graph_that_just_fits_is_accepted) {
  EXPECT_EQ(verdict(nothing), "ok");
}

TEST(check_graph, a_buffer_beyond_the_largest_is_named) {
  EXPECT_EQ(verdict([](target::Limits& l) { l.buffer_bytes = 1000; }),
            "buffer \"x\": 1024 bytes exceed the device's largest buffer of 1000 bytes; split it");
}

TEST(check_graph, the_buffer_that_no_longer_fits_the_memory_is_named) {
  EXPECT_EQ(verdict([](target::Limits& l) { l.memory_bytes = 1532; }),
            "buffer \"arena\": its 512 bytes after 1024 bytes of other buffers exceed the device's 1532 bytes of "
            "memory; use fewer or smaller values");
}

TEST(check_graph, sizes_whose_sum_overflows_do_not_fit) {
  EXPECT_THAT(verdict(
                  [](target::Limits& l) {
                    l.buffer_bytes = std::numeric_limits<uint64_t>::max();
                    l.memory_bytes = std::numeric_limits<uint64_t>::max() - 8;
                  },
                  [](graph::Graph& g) { g.buffers[0].bytes = std::numeric_limits<uint64_t>::max() - 255; }),
              HasSubstr("buffer \"arena\""));
}

TEST(check_graph, external_buffers_take_no_memory_of_the_graph) {
  EXPECT_EQ(
      verdict([](target::Limits& l) { l.memory_bytes = 512; }, [](graph::Graph& g) { g.buffers[0].external = true; }),
      "ok");
}

TEST(check_graph, a_workgroup_too_long_in_one_dimension_is_named) {
  EXPECT_EQ(verdict([](target::Limits& l) { l.workgroup_size[1] = 1; }),
            "kernel \"relax\": workgroup size 2 in y exceeds the device's 1; use a smaller workgroup");
}

TEST(check_graph, a_workgroup_of_too_many_invocations_is_named) {
  EXPECT_THAT(verdict([](target::Limits& l) { l.workgroup_invocations = 127; }),
              HasSubstr("kernel \"relax\": 128 invocations in a workgroup exceed the device's 127"));
}

TEST(check_graph, too_much_workgroup_memory_is_named) {
  EXPECT_THAT(verdict([](target::Limits& l) { l.workgroup_memory = 1023; }),
              HasSubstr("kernel \"relax\": 1024 bytes of workgroup memory exceed the device's 1023"));
}

TEST(check_graph, the_arena_counts_as_a_storage_buffer) {
  EXPECT_EQ(verdict([](target::Limits& l) { l.storage_buffers = 1; }),
            "kernel \"relax\": 2 storage buffers (the arena counts as one) exceed the device's 1; join buffers or "
            "split the kernel");
}

TEST(check_graph, too_many_launch_words_are_named) {
  EXPECT_THAT(verdict([](target::Limits& l) { l.immediate_words = 2; }),
              HasSubstr("kernel \"relax\": 3 launch words exceed the device's 2"));
}

TEST(check_graph, a_grid_beyond_the_limit_names_the_dimension_and_another) {
  EXPECT_EQ(verdict([](target::Limits& l) { l.grid[0] = 999; }),
            "kernel \"relax\": dispatch \"step\" of 1000 workgroups exceeds the device's 999 in x; split it or use y");
}

TEST(check_graph, the_declared_bound_of_an_indirect_dispatch_is_checked) {
  EXPECT_THAT(verdict([](target::Limits& l) { l.grid[2] = 2; },
                      [](graph::Graph& g) {
                        dispatch_of(g).indirect = graph::Range{graph::BufferId{1}, 0, 12};
                      }),
              HasSubstr("indirect dispatch \"step\" of 3 workgroups exceeds the device's 2 in z"));
}

TEST(check_graph, a_binding_off_the_alignment_is_named) {
  EXPECT_THAT(verdict([](target::Limits& l) { l.binding_alignment = 512; }),
              HasSubstr("binds buffer \"x\" at offset 256, which is not a multiple of the device's 512"));
}

TEST(check_graph, a_binding_beyond_the_limit_is_named) {
  EXPECT_THAT(verdict([](target::Limits& l) { l.binding_bytes = 512; }),
              HasSubstr("binds 768 bytes of buffer \"x\", which exceed the device's 512 in one binding"));
}

/// What a device without, or with, predication says of the graph's commands under a predicate.
std::string predicated_verdict(bool is_offered, const std::function<void(target::Limits&)>& lower = nothing) {
  return verdict(
      lower,
      [](graph::Graph& g) {
        g.commands = {std::make_shared<const graph::Conditional>(
            graph::Conditional{"maybe", {graph::BufferId{1}, 0, 4}, g.commands})};
      },
      is_offered);
}

TEST(check_graph, a_conditional_needs_a_device_that_predicates) {
  EXPECT_EQ(predicated_verdict(true), "ok");
  EXPECT_EQ(
      predicated_verdict(false),
      "conditional \"maybe\": the device has no predicated dispatches (VK_EXT_conditional_rendering); use another "
      "strategy than predication");
}

TEST(check_graph, commands_inside_a_conditional_are_checked) {
  EXPECT_THAT(predicated_verdict(true, [](target::Limits& l) { l.grid[1] = 19; }), HasSubstr("20 workgroups"));
}

TEST(check_graph, commands_inside_a_loop_are_checked) {
  EXPECT_THAT(verdict([](target::Limits& l) { l.grid[1] = 19; },
                      [](graph::Graph& g) {
                        graph::Loop loop;
                        loop.body = g.commands;
                        g.commands = {std::make_shared<const graph::Loop>(loop)};
                      }),
              HasSubstr("20 workgroups"));
}

TEST(check_graph, commands_inside_a_repeat_are_checked) {
  EXPECT_THAT(verdict([](target::Limits& l) { l.grid[1] = 19; },
                      [](graph::Graph& g) {
                        g.commands = {std::make_shared<const graph::Repeat>(graph::Repeat{"r", 2, g.commands})};
                      }),
              HasSubstr("20 workgroups"));
}

}  // namespace
}  // namespace wavegate::device
