#include "wavegate/device/reference/device.h"

#include <gmock/gmock.h>

#include <cstring>
#include <functional>

#include "device/reference/launch.h"

namespace wavegate::device::reference {
namespace {

using graph::BufferId;
using graph::Dispatch;
using graph::Graph;
using kir::Access;
using kir::Builder;
using kir::Type;
using testing::ElementsAre;
using testing::HasSubstr;

using Words = std::vector<uint32_t>;

std::shared_ptr<const kir::Kernel> shared(Builder& builder) {
  return std::make_shared<const kir::Kernel>(finish(builder));
}

/// data[i] = data[i] + amount, one invocation an element.
std::shared_ptr<const kir::Kernel> add_kernel() {
  Builder b("add");
  auto data = b.buffer("data", Type::i32, Access::read_write);
  auto amount = b.parameter("amount", Type::i32);
  data[b.global_id()] = data[b.global_id()] + amount;
  return shared(b);
}

graph::Contents contents(const Words& words) {
  std::vector<std::byte> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return {std::make_shared<const std::vector<std::byte>>(std::move(bytes)), 0};
}

graph::Buffer buffer(const std::string& name, uint64_t words) {
  graph::Buffer result;
  result.name = name;
  result.bytes = words * 4;
  return result;
}

Dispatch add_dispatch(BufferId id, uint32_t words, uint32_t amount) {
  Dispatch dispatch;
  dispatch.label = "add";
  dispatch.bindings = {{id, 0, words * 4}};
  dispatch.words = {amount};
  dispatch.uses = {{{id, 0, words * 4}, Access::read_write}};
  dispatch.grid = {words, 1, 1};
  return dispatch;
}

/// One output "data" of three words that start as 1, 2, 3, and one addition of 10.
Graph add_graph() {
  Graph graph;
  graph.name = "adding";
  graph.buffers = {buffer("data", 3)};
  graph.buffers[0].output = true;
  graph.buffers[0].initial = contents({1, 2, 3});
  graph.kernels = {add_kernel()};
  graph.commands = {add_dispatch(BufferId{0}, 3, 10)};
  return graph;
}

class ReferenceDevice : public testing::Test {
 protected:
  std::unique_ptr<Executable> load(Graph graph) {
    auto executable = device_->load(std::make_shared<const Graph>(std::move(graph)));
    EXPECT_TRUE(executable.ok()) << executable.error().to_string();
    return executable.ok() ? *std::move(executable) : nullptr;
  }

  std::string load_error(Graph graph) {
    auto executable = device_->load(std::make_shared<const Graph>(std::move(graph)));
    return executable.ok() ? "ok" : executable.error().to_string();
  }

  Words read(Executable& executable, BufferId id, size_t words) {
    Words result(words);
    EXPECT_EQ(outcome(executable.read(id, 0, std::as_writable_bytes(std::span(result)))), "ok");
    return result;
  }

  std::string write(Executable& executable, BufferId id, uint64_t offset, const Words& words) {
    return outcome(executable.write(id, offset, std::as_bytes(std::span(words))));
  }

  std::unique_ptr<Device> device_ = make_device();
};

TEST_F(ReferenceDevice, profile_promises_exact_floats_and_no_device_pointers) {
  const target::Profile& profile = device_->profile();
  EXPECT_EQ(profile.backend, "reference");
  EXPECT_TRUE(profile.is_cpu);
  EXPECT_TRUE(profile.floats.fused_fma_f32 && profile.floats.keeps_denormals_f32);
  EXPECT_FALSE(profile.floats.contracts_f32);
  EXPECT_FALSE(profile.features.device_pointers);
}

TEST_F(ReferenceDevice, a_run_starts_from_the_initial_contents) {
  auto executable = load(add_graph());
  ASSERT_EQ(outcome(executable->run()), "ok");
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(11, 12, 13));
}

TEST_F(ReferenceDevice, what_a_run_leaves_persists_to_the_next) {
  auto executable = load(add_graph());
  ASSERT_EQ(outcome(executable->run()), "ok");
  ASSERT_EQ(outcome(executable->run()), "ok");
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(21, 22, 23));
}

TEST_F(ReferenceDevice, reset_puts_the_initial_contents_back_before_the_next_run) {
  auto executable = load(add_graph());
  ASSERT_EQ(outcome(executable->run()), "ok");
  ASSERT_EQ(outcome(executable->reset()), "ok");
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(11, 12, 13));
  ASSERT_EQ(outcome(executable->run()), "ok");
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(11, 12, 13));
}

TEST_F(ReferenceDevice, a_write_takes_effect_with_the_next_run) {
  auto executable = load(add_graph());
  ASSERT_EQ(outcome(executable->run()), "ok");
  ASSERT_EQ(write(*executable, BufferId{0}, 4, {100}), "ok");
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(11, 12, 13));
  ASSERT_EQ(outcome(executable->run()), "ok");
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(21, 110, 23));
}

TEST_F(ReferenceDevice, of_reset_and_write_the_later_one_holds) {
  auto executable = load(add_graph());
  ASSERT_EQ(write(*executable, BufferId{0}, 0, {7}), "ok");
  ASSERT_EQ(outcome(executable->reset()), "ok");
  ASSERT_EQ(write(*executable, BufferId{0}, 8, {9}), "ok");
  ASSERT_EQ(outcome(executable->run()), "ok");
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(11, 12, 19));
}

TEST_F(ReferenceDevice, a_repeat_runs_its_body_count_times) {
  Graph graph = add_graph();
  auto inner = std::make_shared<const graph::Repeat>(graph::Repeat{"inner", 4, graph.commands});
  graph.commands = {std::make_shared<const graph::Repeat>(graph::Repeat{"outer", 3, {inner}})};
  auto executable = load(std::move(graph));
  ASSERT_EQ(outcome(executable->run()), "ok");
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(121, 122, 123));
}

TEST_F(ReferenceDevice, fills_and_copies_move_words) {
  Graph graph;
  graph.buffers = {buffer("a", 4), buffer("b", 4)};
  graph.buffers[1].output = true;
  graph.buffers[1].initial = graph::Contents{nullptr, 5};
  graph.commands = {graph::Fill{"fill", {BufferId{0}, 4, 8}, 0xabcd},
                    graph::Copy{"copy", {BufferId{0}, 4, 8}, {BufferId{1}, 8, 8}}};
  auto executable = load(std::move(graph));
  ASSERT_EQ(outcome(executable->run()), "ok");
  EXPECT_THAT(read(*executable, BufferId{1}, 4), ElementsAre(5, 5, 0xabcd, 0xabcd));
}

TEST_F(ReferenceDevice, a_run_counts_one_submission_one_wait_and_a_readback_an_output) {
  auto executable = load(add_graph());
  const Counters before = device_->counters();
  ASSERT_EQ(outcome(executable->run()), "ok");
  read(*executable, BufferId{0}, 3);
  const Counters spent = device_->counters() - before;
  EXPECT_EQ(spent.submissions, 1u);
  EXPECT_EQ(spent.host_waits, 1u);
  EXPECT_EQ(spent.readbacks, 1u);
  EXPECT_EQ(spent.observations, 0u);
}

TEST_F(ReferenceDevice, reading_a_buffer_that_is_no_output_costs_a_submission_a_wait_and_a_readback) {
  Graph graph = add_graph();
  graph.buffers[0].output = false;
  auto executable = load(std::move(graph));
  ASSERT_EQ(outcome(executable->run()), "ok");
  const Counters before = device_->counters();
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(11, 12, 13));
  const Counters spent = device_->counters() - before;
  EXPECT_EQ(spent.submissions, 1u);
  EXPECT_EQ(spent.host_waits, 1u);
  EXPECT_EQ(spent.readbacks, 1u);
}

TEST_F(ReferenceDevice, writing_and_resetting_count_nothing) {
  auto executable = load(add_graph());
  const Counters before = device_->counters();
  ASSERT_EQ(write(*executable, BufferId{0}, 0, {1}), "ok");
  ASSERT_EQ(outcome(executable->reset()), "ok");
  const Counters spent = device_->counters() - before;
  EXPECT_EQ(spent.submissions + spent.host_waits + spent.readbacks, 0u);
}

// Indirect dispatches.

/// add_graph with the grid in a buffer "arguments" that holds `grid` from word 1 on.
Graph indirect_graph(const graph::Grid& grid) {
  Graph graph = add_graph();
  graph.buffers.push_back(buffer("arguments", 4));
  graph.buffers[1].indirect = true;
  graph.buffers[1].initial = contents({99, grid[0], grid[1], grid[2]});
  std::get<Dispatch>(graph.commands[0]).indirect = graph::Range{BufferId{1}, 4, 12};
  return graph;
}

TEST_F(ReferenceDevice, an_indirect_dispatch_takes_its_grid_from_the_buffer) {
  auto executable = load(indirect_graph({2, 1, 1}));
  ASSERT_EQ(outcome(executable->run()), "ok");
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(11, 12, 3));
}

TEST_F(ReferenceDevice, an_indirect_grid_of_zero_runs_nothing) {
  auto executable = load(indirect_graph({0, 1, 1}));
  ASSERT_EQ(outcome(executable->run()), "ok");
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(1, 2, 3));
}

TEST_F(ReferenceDevice, an_indirect_grid_beyond_its_bound_is_an_error_that_names_both) {
  auto executable = load(indirect_graph({4, 1, 1}));
  const auto result = executable->run();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().where, "graph \"adding\", dispatch \"add\"");
  EXPECT_EQ(result.error().message,
            "the grid 4x1x1 in buffer \"arguments\" at byte 4 exceeds the declared "
            "bound 3x1x1; declare a larger bound or compute a smaller grid");
}

TEST_F(ReferenceDevice, an_indirect_grid_never_written_is_an_error) {
  Graph graph = indirect_graph({1, 1, 1});
  graph.buffers[1].initial.reset();
  auto executable = load(std::move(graph));
  EXPECT_THAT(outcome(executable->run()), HasSubstr("\"arguments\" at byte 4 was never written"));
}

// External buffers.

Graph external_graph() {
  Graph graph = add_graph();
  graph.buffers[0].external = true;
  graph.buffers[0].initial.reset();
  return graph;
}

TEST_F(ReferenceDevice, an_external_buffer_starts_zeroed_and_outlives_the_executable) {
  auto memory = device_->allocate(16);
  ASSERT_TRUE(memory.ok());
  for (uint32_t expected : {10u, 20u}) {
    auto executable = load(external_graph());
    ASSERT_EQ(outcome(executable->bind(BufferId{0}, *memory)), "ok");
    ASSERT_EQ(outcome(executable->run()), "ok");
    EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(expected, expected, expected));
  }
}

TEST_F(ReferenceDevice, an_external_buffer_without_memory_stops_the_run) {
  auto executable = load(external_graph());
  EXPECT_EQ(outcome(executable->submit()), "external buffer \"data\" has no memory; bind it before the run");
}

TEST_F(ReferenceDevice, memory_smaller_than_declared_cannot_be_bound) {
  auto executable = load(external_graph());
  EXPECT_THAT(outcome(executable->bind(BufferId{0}, *device_->allocate(8))),
              HasSubstr("the memory for buffer \"data\" has 8 bytes; it needs 12"));
}

TEST_F(ReferenceDevice, a_buffer_of_the_graph_cannot_be_bound) {
  auto executable = load(add_graph());
  EXPECT_THAT(outcome(executable->bind(BufferId{0}, *device_->allocate(16))), HasSubstr("\"data\" is not external"));
}

TEST_F(ReferenceDevice, memory_of_another_kind_of_device_cannot_be_bound) {
  struct Foreign : Buffer {
    uint64_t bytes() const override { return 64; }
  };
  auto executable = load(external_graph());
  EXPECT_THAT(outcome(executable->bind(BufferId{0}, std::make_shared<Foreign>())),
              HasSubstr("is not of a reference device"));
}

TEST_F(ReferenceDevice, an_allocation_beyond_the_memory_is_an_error) {
  auto memory = device_->allocate(uint64_t{1} << 60);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().kind, ErrorKind::device);
}

// Errors.

TEST_F(ReferenceDevice, a_fault_comes_out_of_wait_and_names_graph_and_dispatch) {
  Graph graph = add_graph();
  std::get<Dispatch>(graph.commands[0]).grid = {4, 1, 1};
  auto executable = load(std::move(graph));
  ASSERT_EQ(outcome(executable->submit()), "ok");
  const auto result = executable->wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().where, "graph \"adding\", dispatch \"add\"");
  EXPECT_EQ(result.error().message,
            "kernel \"add\": load of \"data\" at index 3 is outside its 3 elements "
            "(invocation 3, 0, 0)");
}

TEST_F(ReferenceDevice, a_buffer_without_initial_contents_starts_unwritten) {
  Graph graph = add_graph();
  graph.buffers[0].initial.reset();
  auto executable = load(std::move(graph));
  EXPECT_THAT(outcome(executable->run()), HasSubstr("load of \"data\" at index 0 reads an element never written"));
}

TEST_F(ReferenceDevice, a_copy_of_what_was_never_written_does_not_make_it_written) {
  Graph graph = add_graph();
  graph.buffers.push_back(buffer("empty", 3));
  graph.commands.insert(graph.commands.begin(), graph::Copy{"copy", {BufferId{1}, 0, 12}, {BufferId{0}, 0, 12}});
  auto executable = load(std::move(graph));
  EXPECT_THAT(outcome(executable->run()), HasSubstr("never written"));
}

TEST_F(ReferenceDevice, a_loop_without_end_exhausts_the_budget_of_the_options) {
  device_ = make_device({.max_steps = 100});
  Builder b("endless");
  auto data = b.buffer("data", Type::i32, Access::read_write);
  b.while_([&] { return kir::Expr(data[0]) == 1; }, [] {});
  Graph graph = add_graph();
  graph.kernels = {shared(b)};
  std::get<Dispatch>(graph.commands[0]).words.clear();
  auto executable = load(std::move(graph));
  EXPECT_THAT(outcome(executable->run()), HasSubstr("kernel \"endless\": the dispatch ran more than 100"));
}

TEST_F(ReferenceDevice, an_opaque_kernel_is_unsupported_by_name) {
  auto opaque = std::make_shared<kir::OpaqueKernel>();
  opaque->interface = add_kernel()->interface;
  opaque->interface.name = "finished";
  Graph graph = add_graph();
  graph.kernels = {opaque};
  EXPECT_THAT(load_error(std::move(graph)), HasSubstr("kernel \"finished\": the reference device cannot run"));
}

TEST_F(ReferenceDevice, a_graph_beyond_the_limits_is_refused_at_load) {
  Graph graph = add_graph();
  std::get<Dispatch>(graph.commands[0]).grid = {1, 70000, 1};
  EXPECT_THAT(load_error(std::move(graph)), HasSubstr("70000 workgroups exceeds the device's 65535 in y"));
}

TEST_F(ReferenceDevice, limits_of_the_options_are_those_of_the_profile_and_hold) {
  device_ = make_device({.storage_buffers = 1, .immediate_words = 2, .workgroup_memory = 16});
  const target::Limits& limits = device_->profile().limits;
  EXPECT_EQ(limits.storage_buffers, 1u);
  EXPECT_EQ(limits.immediate_words, 2u);
  EXPECT_EQ(limits.workgroup_memory, 16u);
  load(add_graph());

  const auto refusal = [&](const std::function<void(Builder&)>& add_to) {
    Builder b("large");
    auto data = b.buffer("data", Type::i32, Access::read_write);
    data[0] = b.parameter("amount", Type::i32);
    add_to(b);
    Graph graph = add_graph();
    graph.kernels = {shared(b)};
    auto& dispatch = std::get<Dispatch>(graph.commands[0]);
    for (size_t i = 1; i < graph::binding_count(graph.kernels[0]); ++i)
      dispatch.bindings.push_back({BufferId{0}, 0, 12});
    dispatch.words.resize(graph::word_count(graph.kernels[0]));
    return load_error(std::move(graph));
  };
  EXPECT_THAT(refusal([](Builder& b) { b.buffer("more", Type::i32, Access::read); }),
              HasSubstr("2 storage buffers exceed the device's 1"));
  EXPECT_THAT(refusal([](Builder& b) {
                b.parameter("p", Type::i32);
                b.parameter("q", Type::i32);
              }),
              HasSubstr("3 launch words exceed the device's 2"));
  EXPECT_THAT(refusal([](Builder& b) { b.workgroup_array("w", Type::i32, 5)[0] = b.u32(0); }),
              HasSubstr("20 bytes of workgroup memory exceed the device's 16"));
}

TEST_F(ReferenceDevice, a_kernels_loops_end_after_the_iterations_of_the_profile) {
  device_ = make_device({.kernel_loop_iterations = 5});
  EXPECT_EQ(device_->profile().limits.kernel_loop_iterations, 5u);
  Builder b("endless");
  auto data = b.buffer("data", Type::i32, Access::read_write);
  b.while_([&] { return b.boolean(true); }, [&] { data[b.global_id()] = data[b.global_id()] + 1; });
  Graph graph = add_graph();
  graph.kernels = {shared(b)};
  std::get<Dispatch>(graph.commands[0]).words.clear();
  auto executable = load(std::move(graph));
  ASSERT_EQ(outcome(executable->run()), "ok");
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(6, 7, 8));
}

TEST_F(ReferenceDevice, a_kernel_that_does_not_verify_is_refused_at_load) {
  auto kernel = std::make_shared<kir::Kernel>(*add_kernel());
  kernel->body.instructions.pop_back();
  Graph graph = add_graph();
  graph.kernels = {kernel};
  EXPECT_THAT(load_error(std::move(graph)), HasSubstr("kernel \"add\""));
}

TEST_F(ReferenceDevice, a_subgroup_size_that_is_no_power_of_two_is_refused_at_load) {
  device_ = make_device({.subgroup_size = 24});
  EXPECT_THAT(load_error(add_graph()), HasSubstr("subgroup size of 24"));
}

TEST_F(ReferenceDevice, before_the_first_run_a_buffer_holds_its_initial_contents_and_what_was_written) {
  auto executable = load(add_graph());
  ASSERT_EQ(write(*executable, BufferId{0}, 4, {100}), "ok");
  EXPECT_THAT(read(*executable, BufferId{0}, 3), ElementsAre(1, 100, 3));
}

TEST_F(ReferenceDevice, a_read_before_external_memory_is_bound_is_an_error) {
  Graph graph = add_graph();
  graph.buffers[0].initial.reset();
  graph.buffers[0].external = true;
  auto executable = load(std::move(graph));
  Words words(3);
  EXPECT_THAT(outcome(executable->read(BufferId{0}, 0, std::as_writable_bytes(std::span(words)))),
              HasSubstr("external buffer \"data\" has no memory"));
}

TEST_F(ReferenceDevice, a_read_past_the_end_is_an_error) {
  auto executable = load(add_graph());
  ASSERT_EQ(outcome(executable->run()), "ok");
  Words words(3);
  EXPECT_EQ(outcome(executable->read(BufferId{0}, 4, std::as_writable_bytes(std::span(words)))),
            "read of 12 bytes at offset 4 of buffer \"data\" goes beyond its 12 bytes");
}

TEST_F(ReferenceDevice, a_write_past_the_end_is_an_error) {
  auto executable = load(add_graph());
  EXPECT_THAT(write(*executable, BufferId{0}, 12, {1}), HasSubstr("goes beyond its 12 bytes"));
}

TEST_F(ReferenceDevice, a_run_must_be_waited_for_before_the_next) {
  auto executable = load(add_graph());
  ASSERT_EQ(outcome(executable->submit()), "ok");
  EXPECT_EQ(outcome(executable->submit()), "submit while a run is in flight; wait() for it first");
  EXPECT_EQ(outcome(executable->wait()), "ok");
  EXPECT_EQ(outcome(executable->wait()), "wait without a run in flight; submit() first");
}

TEST_F(ReferenceDevice, a_hundred_thousand_dispatches_of_no_workgroups_pass_quickly) {
  Graph graph = indirect_graph({0, 0, 0});
  graph.commands.assign(100000, graph.commands[0]);
  auto executable = load(std::move(graph));
  ASSERT_EQ(outcome(executable->run()), "ok");
  EXPECT_LT(executable->device_seconds(), 2.0);
}

}  // namespace
}  // namespace wavegate::device::reference
