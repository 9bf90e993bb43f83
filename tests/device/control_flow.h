#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "device/device_under_test.h"

/// Loops of a graph, which mean the same on every device: each device's test program includes this once. Those of
/// devices that have predication include conditionals.h as well.
namespace wavegate::device {

class ControlFlow : public DeviceTest {};

constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();

/// If done[slot] is zero: another iteration, and done[slot] = 1 if that makes `needed[slot]` of them. Always counts a
/// run.
inline Result<kir::Kernel> iterate_kernel() {
  kir::Builder b("iterate");
  auto done = b.buffer("done", kir::Type::i32, kir::Access::read_write);
  auto iterations = b.buffer("iterations", kir::Type::i32, kir::Access::read_write);
  auto runs = b.buffer("runs", kir::Type::i32, kir::Access::read_write);
  auto needed = b.buffer("needed", kir::Type::i32, kir::Access::read);
  auto slot = b.parameter("slot", kir::Type::i32);
  runs[slot] = runs[slot] + 1;
  b.if_(kir::Expr(done[slot]) == 0, [&] {
    iterations[slot] = iterations[slot] + 1;
    b.if_(kir::Expr(iterations[slot]) >= kir::Expr(needed[slot]), [&] { done[slot] = 1; });
  });
  return b.finish();
}

/// values[i] = values[i] * 3 + 1 if done[0] is zero.
inline Result<kir::Kernel> step_kernel() {
  kir::Builder b("step", {64});
  auto done = b.buffer("done", kir::Type::i32, kir::Access::read);
  auto values = b.buffer("values", kir::Type::i32, kir::Access::read_write);
  auto i = b.global_id();
  b.if_(kir::Expr(done[0]) == 0, [&] { values[i] = values[i] * 3 + 1; });
  return b.finish();
}

/// predicate[0] = the lowest bit of source[0].
inline Result<kir::Kernel> is_odd_kernel() {
  kir::Builder b("is_odd");
  auto source = b.buffer("source", kir::Type::i32, kir::Access::read);
  auto predicate = b.buffer("predicate", kir::Type::i32, kir::Access::read_write);
  predicate[0] = source[0] & 1;
  return b.finish();
}

/// Two slots of loops: how many iterations each needs, has done, and how often its body ran.
struct LoopGraph {
  TestGraph graph{"loops"};
  graph::BufferId done = graph.observed(graph.buffer<uint32_t>("done", {0, 0}));
  graph::BufferId iterations = graph.output(graph.buffer<uint32_t>("iterations", {0, 0}));
  graph::BufferId runs = graph.output(graph.buffer<uint32_t>("runs", {0, 0}));
  graph::BufferId needed;
  graph::KernelId iterate = graph.kernel(iterate_kernel());

  explicit LoopGraph(uint32_t first, uint32_t second = 1) : needed(graph.buffer<uint32_t>("needed", {first, second})) {}

  graph::Command body(uint32_t slot) {
    return graph.dispatch(iterate, {done, iterations, runs, needed}, {slot}, {1, 1, 1});
  }
  graph::Loop loop(uint32_t slot) {
    graph::Loop loop;
    loop.label = slot == 0 ? "first loop" : "second loop";
    loop.done = graph.word(done, slot);
    loop.body = {body(slot)};
    return loop;
  }
  void add_loop(uint32_t slot, std::optional<uint64_t> maximum = std::nullopt) {
    graph::Loop added = loop(slot);
    added.maximum = maximum;
    graph.add(std::move(added));
  }
};

/// How many chunks hold the needed runs and what else may be in flight then: one more.
struct Expense {
  uint64_t chunks = 0;
  uint64_t runs = 0;
};
inline Expense greatest_expense(const graph::Loop& loop, uint64_t needed) {
  Expense expense;
  uint64_t chunk = loop.first_chunk;
  for (bool is_enough = false;;) {
    const bool is_last = is_enough;
    is_enough = expense.runs + chunk >= needed;
    expense.runs += chunk;
    ++expense.chunks;
    if (is_last) return expense;
    chunk = graph::next_chunk(loop, expense.runs);
  }
}

using Words = std::vector<uint32_t>;

// Loops.

TEST_F(ControlFlow, ALoopThatIsDoneAtOnceRunsOneIteration) {
  LoopGraph loops(1);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, loops.iterations, 1), (Words{1}));
}

TEST_F(ControlFlow, ALoopRunsUntilItIsDone) {
  for (const uint32_t needed : {2u, 4u, 5u, 12u, 13u, 1000u}) {
    LoopGraph loops(needed);
    loops.add_loop(0);
    const auto executable = load(loops.graph);
    ASSERT_OK(executable->run());
    EXPECT_EQ(read_all<uint32_t>(*executable, loops.iterations, 1), (Words{needed}));
  }
}

TEST_F(ControlFlow, NoMoreIsWastedThanWhatIsInFlight) {
  for (const uint32_t needed : {1u, 4u, 5u, 28u, 29u, 700u}) {
    LoopGraph loops(needed);
    loops.add_loop(0);
    const auto executable = load(loops.graph);
    ASSERT_OK(executable->run());
    const uint32_t runs = read_all<uint32_t>(*executable, loops.runs, 1).front();
    EXPECT_GE(runs, needed);
    EXPECT_LE(runs, greatest_expense(loops.loop(0), needed).runs) << "with " << needed << " needed";
  }
}

TEST_F(ControlFlow, ALoopNeverRunsMoreOftenThanItsMaximum) {
  for (const uint64_t maximum : {0u, 1u, 4u, 5u, 12u, 13u, 28u, 100u, 333u}) {
    LoopGraph loops(kNever);
    loops.add_loop(0, maximum);
    const auto executable = load(loops.graph);
    ASSERT_OK(executable->run());
    EXPECT_EQ(read_all<uint32_t>(*executable, loops.runs, 1), (Words{static_cast<uint32_t>(maximum)}));
  }
}

TEST_F(ControlFlow, ALoopDoneBeforeItsMaximumEndsThere) {
  LoopGraph loops(50);
  loops.add_loop(0, 1000000);
  const auto executable = load(loops.graph);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, loops.iterations, 1), (Words{50}));
  EXPECT_LE(read_all<uint32_t>(*executable, loops.runs, 1).front(), greatest_expense(loops.loop(0), 50).runs);
}

TEST_F(ControlFlow, ALoopIsOneWaitAndASubmissionAChunkAtMost) {
  LoopGraph loops(700);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  const Counters before = device().counters();
  ASSERT_OK(executable->run());
  read_all<uint32_t>(*executable, loops.iterations, 1);
  const Counters spent = device().counters() - before;
  EXPECT_EQ(spent.host_waits, 1u);
  EXPECT_EQ(spent.readbacks, 2u);
  EXPECT_GE(spent.observations, 1u);
  EXPECT_GE(spent.submissions, 1u);
  EXPECT_LE(spent.submissions, greatest_expense(loops.loop(0), 700).chunks + 1);
}

TEST_F(ControlFlow, TwoLoopsRunOneAfterTheOther) {
  LoopGraph loops(30, 7);
  loops.add_loop(0);
  loops.add_loop(1);
  const auto executable = load(loops.graph);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, loops.iterations, 2), (Words{30, 7}));
}

TEST_F(ControlFlow, WorkAroundLoopsRunsOnceAndInOrder) {
  // What each stretch copies is the count of iterations that it sees.
  LoopGraph loops(20, 40);
  const auto seen = loops.graph.output(loops.graph.buffer<uint32_t>("seen", Words(6, 99)));
  const auto keep = [&](uint64_t at) {
    loops.graph.add(loops.graph.copy(loops.graph.whole(loops.iterations), {seen, 8 * at, 8}));
  };
  keep(0);
  loops.add_loop(0);
  keep(1);
  loops.add_loop(1);
  keep(2);
  const auto executable = load(loops.graph);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, seen, 6), (Words{0, 0, 20, 0, 20, 40}));
}

TEST_F(ControlFlow, BoundedLoopsAndOthersFollowEachOther) {
  LoopGraph loops(kNever, 9);
  loops.add_loop(0, 3);
  loops.add_loop(1);
  loops.add_loop(0, 0);
  loops.add_loop(0, 21);
  const auto executable = load(loops.graph);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, loops.iterations, 2), (Words{24, 9}));
}

TEST_F(ControlFlow, ALoopThatIsDoneBeforeItBeginsHasNoEffect) {
  LoopGraph loops(5);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  ASSERT_OK(executable->run());
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, loops.iterations, 1), (Words{5}));
}

TEST_F(ControlFlow, ALoopRunsAgainAfterResetAndSeesWhatWasWritten) {
  LoopGraph loops(5);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  for (const uint32_t needed : {100u, 3u, 1000u}) {
    ASSERT_OK(executable->reset());
    ASSERT_OK(write_all<uint32_t>(*executable, loops.needed, {needed, 0}));
    ASSERT_OK(executable->run());
    EXPECT_EQ(read_all<uint32_t>(*executable, loops.iterations, 1), (Words{needed}));
  }
}

TEST_F(ControlFlow, TheCommandsOfABodyAreOrderedFromRunToRunAndChunkToChunk) {
  constexpr size_t kCount = 4096;
  constexpr uint32_t kNeeded = 100;
  LoopGraph loops(kNeeded);
  TestGraph& graph = loops.graph;
  const auto values = graph.buffer<uint32_t>("values", Words(kCount, 1));
  const auto copied = graph.output(graph.buffer("copied", kCount));
  graph::Loop loop = loops.loop(0);
  loop.body = {graph.dispatch(graph.kernel(step_kernel()), {loops.done, values}, {}, {kCount / 64, 1, 1}),
               graph.fill(graph.whole(copied), 5), graph.copy(graph.whole(values), graph.whole(copied)), loops.body(0)};
  graph.add(loop);
  const auto executable = load(graph);
  ASSERT_OK(executable->run());
  uint32_t expected = 1;
  for (uint32_t i = 0; i < kNeeded; ++i) expected = expected * 3 + 1;
  EXPECT_EQ(read_all<uint32_t>(*executable, copied, kCount), Words(kCount, expected));
}

TEST_F(ControlFlow, ALoopReportsDeviceTime) {
  LoopGraph loops(100);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  ASSERT_OK(executable->run());
  EXPECT_EQ(executable->device_seconds() > 0, device().profile().features.timestamps);
}

TEST_F(ControlFlow, AnExecutableMayGoWhileItsLoopRuns) {
  LoopGraph loops(100);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  ASSERT_OK(executable->submit());
}

TEST_F(ControlFlow, ARunWithALoopMustBeWaitedForBeforeTheNext) {
  LoopGraph loops(100);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  ASSERT_OK(executable->submit());
  EXPECT_FALSE(executable->submit().ok());
  ASSERT_OK(executable->wait());
  EXPECT_FALSE(executable->wait().ok());
}

TEST_F(ControlFlow, ALoopInARepeatIsRefused) {
  LoopGraph loops(1);
  loops.graph.add_repeat(2, {std::make_shared<const graph::Loop>(loops.loop(0))});
  const auto result = device().load(loops.graph.get());
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, testing::HasSubstr("loop \"first loop\" stands in repeat \"repeat\""));
}

// The time limit.

TEST_F(ControlFlow, ALoopBeyondItsTimeLimitIsAnErrorThatNamesIt) {
  LoopGraph loops(3, kNever);
  loops.add_loop(0);
  loops.add_loop(1);
  const auto executable = load(loops.graph);
  executable->set_time_limit(0.02);
  const auto result = executable->run();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::device);
  EXPECT_EQ(result.error().where, "graph \"loops\"");
  EXPECT_EQ(
      result.error().message,
      "loop \"second loop\": it is not done after 0.02 seconds, the time limit; raise the limit (--time-limit) or "
      "give the loop a maximum");
  EXPECT_LT(executable->device_seconds(), 0);
}

TEST_F(ControlFlow, ARunBeyondItsTimeLimitLeavesTheOutputsOfTheRunBefore) {
  LoopGraph loops(3);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  ASSERT_OK(executable->run());
  ASSERT_OK(executable->reset());
  ASSERT_OK(write_all<uint32_t>(*executable, loops.needed, {kNever, 1}));
  executable->set_time_limit(0.02);
  EXPECT_FALSE(executable->run().ok());
  const Counters before = device().counters();
  EXPECT_EQ(read_all<uint32_t>(*executable, loops.iterations, 1), (Words{3}));
  EXPECT_EQ((device().counters() - before).host_waits, 0u);
}

TEST_F(ControlFlow, WhatAFailedRunLeftCannotBeRead) {
  LoopGraph loops(kNever);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  executable->set_time_limit(0.02);
  EXPECT_FALSE(executable->run().ok());
  uint32_t word = 0;
  for (const graph::BufferId buffer : {loops.done, loops.iterations}) {  // an output of no run, and no output
    const auto result = executable->read(buffer, 0, std::as_writable_bytes(std::span(&word, 1)));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(result.error().message, testing::HasSubstr("a run that failed"));
  }
}

TEST_F(ControlFlow, AfterAFailedRunAnExecutableCanBeResetAndRunAgain) {
  LoopGraph loops(kNever);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  executable->set_time_limit(0.02);
  EXPECT_FALSE(executable->run().ok());
  executable->set_time_limit(std::nullopt);
  ASSERT_OK(executable->reset());
  ASSERT_OK(write_all<uint32_t>(*executable, loops.needed, {50, 0}));
  const Counters before = device().counters();
  ASSERT_OK(executable->run());
  EXPECT_EQ((device().counters() - before).host_waits, 1u);
  EXPECT_EQ(read_all<uint32_t>(*executable, loops.iterations, 1), (Words{50}));
  EXPECT_EQ(read_all<uint32_t>(*executable, loops.done, 1), (Words{1}));
}

TEST_F(ControlFlow, AfterAFailedRunTheNextGoesOnFromWhatItLeft) {
  LoopGraph loops(kNever);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  executable->set_time_limit(0.02);
  EXPECT_FALSE(executable->run().ok());
  executable->set_time_limit(std::nullopt);
  ASSERT_OK(write_all<uint32_t>(*executable, loops.needed, {1, 0}));
  ASSERT_OK(executable->run());
  EXPECT_GT(read_all<uint32_t>(*executable, loops.iterations, 1).front(), 1u);
}

TEST_F(ControlFlow, ALoopWithinItsTimeLimitEndsWell) {
  LoopGraph loops(100);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  executable->set_time_limit(3600);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, loops.iterations, 1), (Words{100}));
}

TEST_F(ControlFlow, ATimeLimitEndsNothingOfAGraphWithoutLoops) {
  LoopGraph loops(5);
  loops.graph.add_repeat(10, {loops.body(0)});
  const auto executable = load(loops.graph);
  executable->set_time_limit(0);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, loops.iterations, 1), (Words{5}));
}

}  // namespace wavegate::device
