#include "conformance/suite.h"

namespace wavegate::conformance {
namespace {

using kir::Access;
using kir::Builder;
using kir::Type;
using program::Buffer;
using program::Initial;
using program::literal;
using program::Program;
using program::Scalar;

/// buffer[i] += amount, for every element.
std::shared_ptr<const program::KernelSource> add_kernel() {
  static const auto kernel = [] {
    Builder b("add", {64});
    auto data = b.buffer("data", Type::i32, Access::read_write);
    auto amount = b.parameter("amount", Type::i32);
    auto i = b.global_id();
    b.if_(i < data.length(), [&] { data[i] = data[i] + amount; });
    return source(b.finish());
  }();
  return kernel;
}

void add(Program& program, Buffer data, uint32_t amount) {
  const auto count = static_cast<uint32_t>(program.info(data).count);
  program.dispatch({"add", add_kernel(), {data}, {literal(amount)}, program::grid_for({count, 1, 1}, {64, 1, 1}), {}});
}

class ControlFlow : public ConformanceTest {};

TEST_P(ControlFlow, AWhileWhosePredicateIsFalseAtOnceRunsNothingAndConverges) {
  Program program("at once");
  const Buffer data = program.buffer("data", Type::i32, 100, Initial::repeated(7u));
  program.output(data);
  const Scalar active = program.scalar_u32("active", 0);
  const auto loop = program.while_(active, {.min = 0, .max = 5}, [&] { add(program, data, 1); });
  Executable executable = compiled(program);
  succeed(executable.run());
  EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::Each(7u));
  const LoopReport report = value_of(executable.loop(loop));
  EXPECT_EQ(report.trips, 0u);
  EXPECT_EQ(report.reason, ExitReason::converged);
}

TEST_P(ControlFlow, AWhileStopsAtItsBound) {
  Program program("bound");
  const Buffer data = program.buffer("data", Type::i32, 3, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  const auto loop = program.while_(active, {.min = 0, .max = 5}, [&] { add(program, data, 1); });
  Executable executable = compiled(program);
  succeed(executable.run());
  EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::Each(5u));
  const LoopReport report = value_of(executable.loop(loop));
  EXPECT_EQ(report.trips, 5u);
  EXPECT_EQ(report.reason, ExitReason::bound);
}

TEST_P(ControlFlow, AWhileRunsItsMinimumBeforeThePredicateIsRead) {
  Program program("min");
  const Buffer data = program.buffer("data", Type::i32, 3, Initial::zero());
  const Scalar active = program.scalar_u32("active", 0);
  const auto loop = program.while_(active, {.min = 3, .max = 9}, [&] { add(program, data, 1); });
  Executable executable = compiled(program);
  succeed(executable.run());
  EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::Each(3u));
  const LoopReport report = value_of(executable.loop(loop));
  EXPECT_EQ(report.trips, 3u);
  EXPECT_EQ(report.reason, ExitReason::converged);
}

TEST_P(ControlFlow, ALoopThatConvergesInItsLastIterationReportsConverged) {
  Program program("last");
  const Scalar n = program.scalar_u32("n", 0);
  const Scalar active = program.scalar_u32("active", 1);
  const auto loop = program.while_(active, {.min = 0, .max = 4}, [&] {
    program.assign(n, n + 1);
    program.assign(active, n < 4);
  });
  Executable executable = compiled(program);
  succeed(executable.run());
  const LoopReport report = value_of(executable.loop(loop));
  EXPECT_EQ(report.trips, 4u);
  EXPECT_EQ(report.reason, ExitReason::converged);
}

TEST_P(ControlFlow, ACounterOnTheDeviceEndsTheLoop) {
  Program program("counter");
  const Buffer data = program.buffer("data", Type::i32, 1000, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  const Scalar active = program.scalar_u32("active", 1);
  const auto loop = program.while_(active, {.min = 0, .max = 100}, [&] {
    add(program, data, 2);
    program.assign(n, n + 1);
    program.assign(active, n < 17);
  });
  Executable executable = compiled(program);
  succeed(executable.run());
  EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::Each(34u));
  EXPECT_EQ(value_of(executable.loop(loop)).trips, 17u);
}

// Hazard 1 of the reference: a predicate that is read per command cuts a body in half when the body clears it.
TEST_P(ControlFlow, ABodyThatClearsItsPredicateMidwayStillRunsWhole) {
  Program program("latched");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  const auto loop = program.while_(active, {.min = 0, .max = 4}, [&] {
    add(program, data, 1);
    program.assign(active, literal(0u));
    add(program, data, 10);
  });
  const Scalar condition = program.scalar_u32("condition", 1);
  program.if_(
      condition,
      [&] {
        program.assign(condition, literal(0u));
        add(program, data, 100);
      },
      [&] { add(program, data, 1000); });
  Executable executable = compiled(program);
  succeed(executable.run());
  EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::Each(111u));
  EXPECT_EQ(value_of(executable.loop(loop)).trips, 1u);
}

TEST_P(ControlFlow, OneBranchOfAnIfRuns) {
  for (const uint32_t condition : {0u, 1u, 0x80000000u}) {
    Program program("branch");
    const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
    const Scalar predicate = program.scalar_u32("predicate", condition);
    program.if_(
        predicate, [&] { add(program, data, 1); }, [&] { add(program, data, 2); });
    Executable executable = compiled(program);
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::Each(condition != 0 ? 1u : 2u));
  }
}

// Hazard 4: copies and fills obey the predicate as dispatches do.
TEST_P(ControlFlow, CopiesAndFillsObeyThePredicate) {
  for (const uint32_t condition : {0u, 1u}) {
    Program program("copy and fill");
    const Buffer from = program.buffer("from", Type::i32, 1000, Initial::repeated(5u));
    const Buffer to = program.buffer("to", Type::i32, 1000, Initial::repeated(1u));
    const Buffer filled = program.buffer("filled", Type::i32, 1000, Initial::repeated(2u));
    const Scalar predicate = program.scalar_u32("predicate", condition);
    program.if_(predicate, [&] {
      program.copy({"part", from, to, 10, 20, 300});
      program.fill({"part", filled, 7, 500, literal(9u)});
    });
    Executable executable = compiled(program);
    succeed(executable.run());
    std::vector<uint32_t> expected_copy(1000, 1), expected_fill(1000, 2);
    if (condition != 0) {
      std::fill_n(expected_copy.begin() + 20, 300, 5u);
      std::fill_n(expected_fill.begin() + 7, 500, 9u);
    }
    EXPECT_EQ(value_of(executable.read<uint32_t>(to)), expected_copy);
    EXPECT_EQ(value_of(executable.read<uint32_t>(filled)), expected_fill);
  }
}

TEST_P(ControlFlow, AnIfInsideAWhileRunsInItsIterationsOnly) {
  Program program("if in while");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  const Scalar active = program.scalar_u32("active", 1);
  const Scalar late = program.scalar_u32("late", 0);
  program.while_(active, {.min = 0, .max = 20}, [&] {
    program.assign(late, n >= 3);
    program.if_(
        late, [&] { add(program, data, 100); }, [&] { add(program, data, 1); });
    program.assign(n, n + 1);
    program.assign(active, n < 5);
  });
  Executable executable = compiled(program);
  succeed(executable.run());
  EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::Each(203u));
}

TEST_P(ControlFlow, AWhileInsideAWhileStartsFreshEachTime) {
  Program program("while in while");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar outer = program.scalar_u32("outer", 0);
  const Scalar inner = program.scalar_u32("inner", 0);
  const Scalar outer_active = program.scalar_u32("outer_active", 1);
  const Scalar inner_active = program.scalar_u32("inner_active", 1);
  program::Loop inner_loop;
  const auto outer_loop = program.while_(outer_active, {.min = 1, .max = 6}, [&] {
    program.assign(inner, literal(0u));
    program.assign(inner_active, literal(1u));
    inner_loop = program.while_(inner_active, {.min = 1, .max = 6}, [&] {
      add(program, data, 1);
      program.assign(inner, inner + 1);
      program.assign(inner_active, inner <= outer);
    });
    program.assign(outer, outer + 1);
    program.assign(outer_active, outer < 4);
  });
  Executable executable = compiled(program);
  succeed(executable.run());
  EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::Each(1u + 2 + 3 + 4));
  EXPECT_EQ(value_of(executable.loop(outer_loop)).trips, 4u);
  EXPECT_EQ(value_of(executable.loop(inner_loop)).trips, 4u);
  EXPECT_EQ(value_of(executable.loop(inner_loop)).reason, ExitReason::converged);
}

TEST_P(ControlFlow, LatchesAndCountersStartFreshAtEachRunAndValuesPersist) {
  Program program("again");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  const Scalar limit = program.parameter("limit", literal(3u));
  const Scalar active = program.scalar_u32("active", 1);
  program.assign(n, literal(0u));
  program.assign(active, n < limit);
  const auto loop = program.while_(active, {.min = 0, .max = 8}, [&] {
    add(program, data, 1);
    program.assign(n, n + 1);
    program.assign(active, n < limit);
  });
  Executable executable = compiled(program);
  succeed(executable.run());
  EXPECT_EQ(value_of(executable.loop(loop)).trips, 3u);
  succeed(executable.run());
  EXPECT_EQ(value_of(executable.loop(loop)).trips, 3u);
  EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::Each(6u));
  succeed(executable.set(limit, literal(5u)));
  succeed(executable.run());
  EXPECT_EQ(value_of(executable.loop(loop)).trips, 5u);
  EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::Each(11u));
  succeed(executable.reset());
  succeed(executable.run());
  EXPECT_EQ(value_of(executable.loop(loop)).trips, 3u);
  EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::Each(3u));
}

TEST_P(ControlFlow, ARunIsOneSubmissionAndOneWaitHoweverOftenItLoops) {
  Program program("counters");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  program.output(data);
  const Scalar active = program.scalar_u32("active", 1);
  const auto loop = program.while_(active, {.min = 0, .max = 50}, [&] { add(program, data, 1); });
  Executable executable = compiled(program);
  const device::Counters before = device()->counters();
  succeed(executable.run());
  value_of(executable.read<uint32_t>(data));
  value_of(executable.loop(loop));
  const device::Counters used = device()->counters() - before;
  EXPECT_EQ(used.submissions, 1u);
  EXPECT_EQ(used.host_waits, 1u);
  EXPECT_EQ(used.readbacks, 2u);  // the output and the arena
  EXPECT_EQ(used.observations, 0u);
}

WAVEGATE_CONFORMANCE(ControlFlow);

}  // namespace
}  // namespace wavegate::conformance
