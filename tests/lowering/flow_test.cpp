#include "wavegate/lowering/flow.h"

#include "lowering/support.h"

namespace wavegate::lowering {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

struct Sample {
  Program program{"flow"};
  Buffer data = program.buffer("data", Type::i32, 1 << 16, Initial::zero());
  Scalar flag = program.scalar_u32("flag", 1), other = program.scalar_u32("other", 1);
  Scalar n = program.scalar_u32("n", 0);
  target::Profile device = profile();

  void work(program::Grid grid = {4, 1, 1}) { touch(program, data, grid); }
  Plan plan(const Options& options) const { return value_of(lower(program, device, options)); }
  Plan plan(Strategy strategy) const { return plan(forced(strategy)); }
};

/// Dispatches that are not work of the program.
size_t overhead(const Plan& plan) {
  return dispatches(plan).size() - dispatches(plan, "touch").size();
}

TEST(Flow, WhatStandsUnderNoPredicateIsDirectAndAlone) {
  Sample s;
  s.work({1, 2, 3});
  s.program.fill({"zero", s.data, 0, 16, literal(0u)});
  for (const StrategyInfo& row : strategies()) {
    const Plan plan = s.plan(row.strategy);
    const auto all = dispatches(plan);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_FALSE(all[0]->indirect);
    EXPECT_EQ(all[0]->grid, (graph::Grid{1, 2, 3}));
    EXPECT_THAT(plan.graph->kernels, SizeIs(1));
  }
}

TEST(Flow, GatePutsAGateBeforeEveryCommand) {
  Sample s;
  s.program.if_(s.flag, [&] { s.work(), s.work(), s.work({2, 1, 1}); });
  const Plan plan = s.plan(Strategy::gate);
  EXPECT_THAT(dispatches(plan, "gate touch"), SizeIs(3));
  for (const graph::Dispatch* work : dispatches(plan, "touch")) EXPECT_TRUE(work->indirect);
}

// Hazard 7 of the reference.
TEST(Flow, GatesOfAllGeometriesAreOneKernel) {
  const auto kernels = [](Strategy strategy, size_t geometries) {
    Sample s;
    s.program.if_(s.flag, [&] {
      for (uint32_t i = 0; i < geometries; ++i) s.work({i + 1, i % 2 + 1, 1});
    });
    return s.plan(strategy).graph->kernels.size();
  };
  for (const Strategy strategy : {Strategy::gate, Strategy::fused_gate, Strategy::producer})
    EXPECT_EQ(kernels(strategy, 1), kernels(strategy, 9)) << to_string(strategy);
}

TEST(Flow, FusedGateWritesAllGridsOfARegionAtOnceAndSharesEqualGeometry) {
  Sample s;
  s.program.if_(s.flag, [&] {
    s.work({1, 1, 1});
    s.work({2, 1, 1});
    s.work({1, 1, 1});
    s.work({1, 2, 1});
    s.work({2, 1, 1});
  });
  const Plan plan = s.plan(Strategy::fused_gate);
  EXPECT_EQ(overhead(plan), 1u);
  std::vector<uint64_t> slots;
  for (const graph::Dispatch* work : dispatches(plan, "touch")) {
    ASSERT_TRUE(work->indirect);
    slots.push_back(work->indirect->offset);
  }
  EXPECT_EQ(slots, (std::vector<uint64_t>{0, 12, 0, 24, 12}));
  const auto arguments = std::ranges::find(plan.graph->buffers, "arguments", &graph::Buffer::name);
  EXPECT_EQ(arguments->bytes, 36u);
}

TEST(Flow, BothBranchesAreGatedByOneKernel) {
  Sample s;
  s.program.if_(
      ScalarExpr(s.n) < 3u, [&] { s.work(); }, [&] { s.work(); });
  EXPECT_EQ(overhead(s.plan(Strategy::fused_gate)), 1u);
  EXPECT_EQ(overhead(s.plan(Strategy::early_out)), 1u);
}

TEST(Flow, EarlyOutDispatchesDirectlyKernelsThatTestTheLatch) {
  for (const target::Profile& device : {profile(), gpu_profile()}) {
    Sample s;
    s.device = device;
    s.program.if_(s.flag, [&] { s.work(), s.work(); });
    const Plan plan = s.plan(Strategy::early_out);
    EXPECT_EQ(overhead(plan), 1u);
    const auto works = dispatches(plan, "touch");
    ASSERT_THAT(works, SizeIs(2));
    EXPECT_EQ(works[0]->kernel, works[1]->kernel);
    for (const graph::Dispatch* work : works) EXPECT_FALSE(work->indirect);
    EXPECT_EQ(kernel_of(plan, *works[0]).interface.bindings.back().name, "latch");
  }
}

TEST(Flow, PredicationPutsNeighboursUnderOneCondition) {
  Sample s;
  s.program.if_(s.flag, [&] {
    s.work();
    s.program.fill(s.data, literal(3u));
    s.work();
  });
  const Plan plan = s.plan(Strategy::predication);
  const auto conditionals = blocks<graph::Conditional>(plan.graph->commands);
  ASSERT_THAT(conditionals, SizeIs(1));
  EXPECT_THAT(conditionals[0]->body, SizeIs(3));
  for (const graph::Dispatch* work : dispatches(conditionals[0]->body)) EXPECT_FALSE(work->indirect);
}

// Hazard 6 of the reference: a nested predicate is the conjunction of what encloses it, once a region.
TEST(Flow, AConjunctionIsComputedOnceHoweverManyCommandsStandUnderIt) {
  for (const Strategy strategy :
       {Strategy::fused_gate, Strategy::producer, Strategy::early_out, Strategy::predication}) {
    std::vector<size_t> counts;
    for (const int commands : {1, 7}) {
      Sample s;
      s.program.if_(s.flag, [&] {
        s.program.if_(s.other, [&] {
          for (int i = 0; i < commands; ++i) s.work();
        });
      });
      counts.push_back(overhead(s.plan(strategy)));
    }
    EXPECT_EQ(counts, (std::vector<size_t>{1, 1})) << to_string(strategy);
  }
}

TEST(Flow, AGateReadsOneLatchHoweverDeepItStands) {
  Sample s;
  s.program.if_(s.flag, [&] { s.program.if_(s.other, [&] { s.program.if_(s.n, [&] { s.work(), s.work(); }); }); });
  const Plan plan = s.plan(Strategy::gate);
  const auto gates = dispatches(plan, "gate ");
  ASSERT_THAT(gates, SizeIs(2));
  std::set<uint64_t> read;
  for (const graph::Dispatch* gate : gates)
    for (const graph::Use& use : gate->uses)
      if (use.range.buffer == plan.arena) read.insert(use.range.offset);
  EXPECT_THAT(read, SizeIs(1));
  EXPECT_THAT(dispatches(plan, "latch "), SizeIs(3));
}

TEST(Flow, AnEmptyBranchCostsNothing) {
  Sample s;
  s.program.if_(
      s.flag, [] {}, [] {}, "nothing");
  EXPECT_THAT(dispatches(s.plan(Strategy::early_out)), SizeIs(0));
}

TEST(Flow, StraightLineScalarWorkIsOneKernelForEveryStrategy) {
  Sample s;
  s.program.assign(s.n, s.n + 1);
  s.program.assign(s.other, ScalarExpr(s.n) * 2u);
  s.program.assign(s.n, ScalarExpr(s.other) - 1u);
  for (const StrategyInfo& row : strategies()) EXPECT_THAT(dispatches(s.plan(row.strategy)), SizeIs(1)) << row.name;
}

TEST(Flow, ScalarWorkTestAndLatchThatFollowEachOtherAreOneKernel) {
  Sample s;
  s.program.while_(s.flag, {.max = 10}, [&] {
    s.work();
    s.program.assign(s.n, s.n + 1);
    s.program.record(s.n);
    s.program.assign(s.flag, ScalarExpr(s.n) < 4u);
  });
  const Plan plan = s.plan(Strategy::fused_gate);
  const auto repeats = blocks<graph::Repeat>(plan.graph->commands);
  ASSERT_THAT(repeats, SizeIs(1));
  // Two iterations, whose latches take turns: of each the work and one step.
  EXPECT_EQ(repeats[0]->count, 5u);
  EXPECT_THAT(repeats[0]->body, SizeIs(4));
}

TEST(Flow, ATestThatNothingWaitsForStandsRightAfterWhatThePredicateDependsOn) {
  Sample s;
  s.program.while_(s.flag, {.max = 2}, [&] {
    s.program.assign(s.n, s.n + 1);
    s.program.assign(s.flag, ScalarExpr(s.n) < 4u);
    s.work();
    s.work();
  });
  const Plan plan = s.plan(Strategy::early_out);
  const auto body = dispatches(blocks<graph::Repeat>(plan.graph->commands)[0]->body);
  std::vector<std::string> labels;
  for (size_t i = 0; i < 3; ++i) labels.push_back(body[i]->label);
  EXPECT_THAT(labels[0], testing::StartsWith("assign"));
  EXPECT_EQ(labels[1], "touch");
  EXPECT_EQ(labels[2], "touch");
}

TEST(Flow, AStepAfterAKernelOfOneWorkgroupIsItsTail) {
  Sample s;
  s.work({1, 1, 1});
  s.program.assign(s.n, s.n + 1);
  const Plan plan = s.plan(Strategy::early_out);
  const auto all = dispatches(plan);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0]->label, "touch, assign n");
  EXPECT_GE(count(kernel_of(plan, *all[0]), kir::Op::barrier), 1);
}

TEST(Flow, AStepAfterAKernelThatMayNotRunIsNotItsTail) {
  Sample s;
  s.program.if_(s.flag, [&] { s.work({1, 1, 1}); });
  s.program.assign(s.n, s.n + 1);
  const Plan plan = s.plan(Strategy::fused_gate);
  EXPECT_THAT(dispatches(plan), SizeIs(3));
}

TEST(Flow, ProducerTestsInTheTailOfTheLastKernel) {
  Sample s;
  s.program.while_(s.flag, {.max = 10}, [&] {
    s.work();
    s.work({1, 1, 1});
    s.program.assign(s.flag, 0u);
  });
  const Plan plan = s.plan(Strategy::producer);
  const auto repeats = blocks<graph::Repeat>(plan.graph->commands);
  ASSERT_THAT(repeats, SizeIs(1));
  ASSERT_THAT(repeats[0]->body, SizeIs(2));
  for (const graph::Dispatch* work : dispatches(repeats[0]->body)) EXPECT_TRUE(work->indirect);
  EXPECT_THAT(dispatches(repeats[0]->body)[1]->label, testing::HasSubstr("touch, assign flag"));
}

TEST(Flow, ATailThatDoesNotFitIsAnErrorForTheProducerAlone) {
  Sample s;
  s.device.limits.storage_buffers = 2;
  s.program.while_(
      s.flag, {.max = 10},
      [&] {
        s.work({1, 1, 1});
      },
      "loop");
  const auto refused = lower(s.program, s.device, forced(Strategy::producer));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(refused.error().to_string(), testing::AllOf(testing::HasSubstr("loop"), testing::HasSubstr("tail")));
  EXPECT_TRUE(lower(s.program, s.device, forced(Strategy::fused_gate)).ok());
}

TEST(Flow, ChainedGatesAreGatedThemselves) {
  Sample s;
  s.program.while_(s.flag, {.max = 10}, [&] {
    s.work();
    s.program.assign(s.flag, 0u);
  });
  const Plan plan = s.plan(Strategy::chained_gate);
  const auto repeats = blocks<graph::Repeat>(plan.graph->commands);
  ASSERT_THAT(repeats, SizeIs(1));
  EXPECT_EQ(repeats[0]->count, 10u);
  for (const graph::Dispatch* each : dispatches(repeats[0]->body)) EXPECT_TRUE(each->indirect) << each->label;
}

TEST(Flow, ChunkedIsALoopThatTheHostDrives) {
  Sample s;
  s.program.while_(
      s.flag, {.max = 11}, [&] { s.work(); }, "loop");
  Options options = forced(Strategy::chunked);
  options.costs = target::Costs{.dispatch = 1, .scalar_step = 0, .submission = 10};
  const Plan plan = s.plan(options);
  const graph::Loop* loop = graph::find_loop(*plan.graph);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->label, "loop");
  // A run of the body is two iterations, whose latches take turns.
  EXPECT_EQ(loop->maximum, 6u);
  EXPECT_GT(loop->first_chunk, 1u);
  EXPECT_GT(loop->largest_chunk, loop->first_chunk);
  EXPECT_TRUE(plan.graph->buffers[static_cast<uint32_t>(loop->done.buffer)].observed);
  s.program.while_(
      s.flag, {}, [&] { s.work(); }, "open");
  EXPECT_EQ(blocks<graph::Loop>(s.plan(options).graph->commands)[1]->maximum, std::nullopt);
}

TEST(Flow, ChunkedInBlocksLeavesOutWhatFollowsTheEnd) {
  Sample s;
  s.program.while_(
      s.flag, {.max = 1001}, [&] { s.work(); }, "loop");
  Options options = forced(Strategy::chunked);
  options.costs = target::Costs{
      .dispatch = 1, .scalar_step = 0.1, .conditional_begin = 0.1, .conditional_on = 0, .conditional_off = 0};
  const Plan plan = s.plan(options);
  const graph::Loop* loop = graph::find_loop(*plan.graph);
  ASSERT_NE(loop, nullptr);
  ASSERT_THAT(loop->body, SizeIs(2));  // whether the block runs, and the block
  const auto conditionals = blocks<graph::Conditional>(loop->body);
  ASSERT_THAT(conditionals, SizeIs(1));
  const auto repeats = blocks<graph::Repeat>(conditionals[0]->body);
  ASSERT_THAT(repeats, SizeIs(1));
  const uint64_t block = uint64_t{repeats[0]->count} * 2;  // two iterations, whose latches take turns
  EXPECT_GT(block, 2u);
  EXPECT_GE(*loop->maximum * block, 1001u);
  EXPECT_LT((*loop->maximum - 1) * block, 1001u);
  // Not where conditional rendering costs more than it saves, nor around a branch that is under it.
  options.costs->conditional_on = 100;
  EXPECT_THAT(blocks<graph::Conditional>(graph::find_loop(*s.plan(options).graph)->body), IsEmpty());
  options.costs->conditional_on = 0;
  Sample nested;
  nested.program.while_(
      nested.flag, {},
      [&] {
        nested.program.if_(
            nested.other, [&] { nested.work(); }, {}, "branch");
      },
      "loop");
  const auto label_of_condition = [&] {
    const auto found = blocks<graph::Conditional>(graph::find_loop(*nested.plan(options).graph)->body);
    return found.empty() ? std::string("none") : found[0]->label;
  };
  EXPECT_EQ(label_of_condition(), "loop");
  options.region_strategies = {{"branch", Strategy::predication}};
  EXPECT_EQ(label_of_condition(), "if");
}

TEST(Flow, HostFreeNeverYieldsALoopOfTheHost) {
  Sample s;
  s.program.while_(s.flag, {.max = 1000}, [&] {
    s.work({1024, 1, 1});
    s.program.while_(s.other, {.max = 500}, [&] { s.work({1024, 1, 1}); });
  });
  s.program.while_(s.flag, {.min = 3, .max = 3}, [&] { s.work(); });
  for (const target::Costs& costs : {target::Costs(), target::Costs::of_cpu()}) {
    Options options;
    options.costs = costs;
    EXPECT_NE(graph::find_loop(*s.plan(options).graph), nullptr);
    options.host_free = true;
    EXPECT_EQ(graph::find_loop(*s.plan(options).graph), nullptr);
  }
}

TEST(Flow, UnrollSpellsOutWithoutALatch) {
  Sample s;
  s.program.while_(s.flag, {.min = 7, .max = 7}, [&] { s.work(); });
  const Plan plan = s.plan(Strategy::unroll);
  const auto repeats = blocks<graph::Repeat>(plan.graph->commands);
  ASSERT_THAT(repeats, SizeIs(1));
  EXPECT_EQ(repeats[0]->count, 7u);
  EXPECT_THAT(repeats[0]->body, SizeIs(1));
  EXPECT_FALSE(dispatches(repeats[0]->body)[0]->indirect);
}

TEST(Flow, PredicatedLoopsAreBlocksOfIterationsUnderOneConditionEach) {
  Sample s;
  s.program.while_(s.flag, {.max = 1000}, [&] { s.work(); });
  Options options = forced(Strategy::predication);
  options.costs = target::Costs{.dispatch = 1, .scalar_step = 1, .conditional_begin = 1, .submission = 10};
  const Plan plan = s.plan(options);
  const auto repeats = blocks<graph::Repeat>(plan.graph->commands);
  ASSERT_THAT(repeats, SizeIs(1));
  const auto conditionals = blocks<graph::Conditional>(repeats[0]->body);
  ASSERT_THAT(conditionals, SizeIs(1));
  const auto inner = blocks<graph::Repeat>(conditionals[0]->body);
  ASSERT_THAT(inner, SizeIs(1));
  const uint32_t chunk = inner[0]->count * 2;  // two iterations, whose latches take turns
  EXPECT_GT(chunk, 2u);
  EXPECT_GE(repeats[0]->count * chunk, 1000u);
  EXPECT_LT((repeats[0]->count - 1) * chunk, 1000u);
  EXPECT_EQ(graph::find_loop(*plan.graph), nullptr);
}

TEST(Flow, EveryLoopReportsAlsoOneThatCannotRun) {
  Sample s;
  s.program.while_(s.flag, {.min = 0, .max = 0}, [&] {
    s.program.while_(
        s.flag, {.max = 2}, [&] { s.program.assign(s.flag, 0u); }, "inner");
  });
  for (const Strategy strategy : {Strategy::gate, Strategy::fused_gate, Strategy::early_out, Strategy::unroll}) {
    Options options;
    options.region_strategies["while"] = strategy;
    const Plan plan = s.plan(options);
    ASSERT_THAT(plan.loops, SizeIs(2));
    EXPECT_EQ(plan.loops[1].label, "inner");
    EXPECT_NE(plan.loops[0].trips, plan.loops[1].trips);
  }
}

TEST(Flow, ComputedGridsAreNamedForTheRunThatExceedsThem) {
  Sample s;
  for (const char* label : {"first", "second"})
    s.program.dispatch({.label = label,
                        .kernel = touch_kernel(),
                        .bindings = {s.data},
                        .computed_grid = program::ComputedGrid{.workgroups = {s.n, 1u, 1u}, .maximum = {9, 1, 1}}});
  const Plan plan = s.plan(Strategy::early_out);
  EXPECT_THAT(plan.computed_grids, testing::ElementsAre("first", "second"));
  const auto works = dispatches(plan, "second");
  ASSERT_THAT(works, SizeIs(1));
  EXPECT_TRUE(works[0]->indirect);
  EXPECT_EQ(works[0]->grid, (graph::Grid{9, 1, 1}));
}

TEST(Flow, AMutationLeavesOneRuleOut) {
  Sample s;
  s.program.if_(s.flag, [&] { s.program.fill(s.data, literal(1u)); });
  Options options = forced(Strategy::gate);
  const auto fills = [&] {
    const Plan plan = s.plan(options);
    return std::ranges::count_if(plan.graph->commands, [&](const graph::Command& command) {
      const auto* fill = std::get_if<graph::Fill>(&command);
      return fill != nullptr && fill->destination.buffer == plan.buffers[s.data.id].buffer;
    });
  };
  EXPECT_EQ(fills(), 0);
  options.mutation = Mutation::ungated_fill;
  EXPECT_EQ(fills(), 1);
}

}  // namespace
}  // namespace wavegate::lowering
