#include "conformance/ways.h"

namespace wavegate::conformance {
namespace {

using kir::Type;
using program::Buffer;
using program::Initial;
using program::literal;
using program::Program;
using program::Scalar;
using program::ScalarExpr;
using testing::Each;
using testing::HasSubstr;

class UnboundedLoops : public ConformanceTest {
 protected:
  void in_every_way(const Program& program, const Refused& refused, const std::function<void(Executable&)>& check) {
    conformance::in_every_way(program, device(), refused, check);
  }
  /// In chunks of a known size.
  Executable chunked(const Program& program) {
    CompileOptions options;
    options.strategy = Strategy::chunked;
    options.costs = target::Costs{.dispatch = 1, .scalar_step = 1, .submission = 2};
    return value_of(compile(program, device(), options));
  }
};

/// All iterations would have to be spelled out.
const std::set<Strategy> kSpelled = {Strategy::gate,     Strategy::fused_gate, Strategy::chained_gate,
                                     Strategy::producer, Strategy::early_out,  Strategy::predication,
                                     Strategy::unroll};
/// Chunks and one workgroup remain, which the host ends.
const Refused kOpen = refused(kSpelled, true);
/// A kernel whose inner loop nothing could end is none.
const Refused kOpenInside = [] {
  Refused refused = kOpen;
  refused.strategies.insert(Strategy::resident);
  return refused;
}();

TEST_P(UnboundedLoops, EndWhenTheirPredicateIsFalse) {
  for (const uint32_t needed : {0u, 1u, 2u, 3u, 37u, 500u}) {
    Program program("open");
    const Buffer data = program.buffer("data", Type::i32, 100, Initial::zero());
    const Scalar n = program.scalar_u32("n", 0);
    const auto loop = program.while_(n < needed, {}, [&] {
      add(program, data, 1);
      program.assign(n, n + 1);
    });
    add(program, data, 1000);
    in_every_way(program, kOpen, [&](Executable& executable) {
      succeed(executable.run());
      EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(1000u + needed));
      EXPECT_THAT(report(executable, loop), Reports(needed, ExitReason::converged));
    });
  }
}

TEST_P(UnboundedLoops, MayBeLeftByABreakAlone) {
  Program program("left");
  const Buffer data = program.buffer("data", Type::i32, 100, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  const auto loop = program.while_(1u, {.min = 2, .max = {}}, [&] {
    program.assign(n, n + 1);
    program.if_(n > 40, [&] { program.break_(); });
    program.if_(program::equal(n, 7u), [&] { program.continue_(); });
    add(program, data, 1);
  });
  in_every_way(program, kOpen, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(39u));
    EXPECT_THAT(report(executable, loop), Reports(41u, ExitReason::bound));
  });
}

TEST_P(UnboundedLoops, FollowEachOther) {
  Program program("two");
  const Buffer data = program.buffer("data", Type::i32, 100, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  std::vector<program::Loop> loops;
  for (const uint32_t needed : {30u, 45u, 45u}) {
    loops.push_back(program.while_(n < needed, {}, [&] {
      add(program, data, 1);
      program.assign(n, n + 1);
    }));
    add(program, data, 1000);
  }
  in_every_way(program, kOpen, [&](Executable& executable) {
    for (uint32_t run = 0; run < 2; ++run) {
      succeed(executable.reset());
      succeed(executable.run());
      EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(3045u));
      EXPECT_EQ(report(executable, loops[0]).trips, 30u);
      EXPECT_EQ(report(executable, loops[1]).trips, 15u);
      EXPECT_THAT(report(executable, loops[2]), Reports(0u, ExitReason::converged));
    }
  });
}

/// For each outer iteration as many inner ones as three times its number; what comes after the inner loop sees all of
/// them.
struct Nest {
  Program program{"nest"};
  Buffer data = program.buffer("data", Type::i32, 100, Initial::zero());
  Buffer sums = program.buffer("sums", Type::i32, 100, Initial::zero());
  Scalar outer = program.scalar_u32("outer", 0), inner = program.scalar_u32("inner", 0);
  program::Loop outer_loop, inner_loop;

  Nest(std::optional<uint32_t> outer_max, std::optional<uint32_t> inner_max) {
    outer_loop = program.while_(outer < 5, {.min = 0, .max = outer_max}, [&] {
      program.assign(inner, literal(0u));
      inner_loop = program.while_(inner < outer * 3u, {.min = 0, .max = inner_max}, [&] {
        add(program, data, 1);
        program.assign(inner, inner + 1);
      });
      add(program, sums, inner);
      program.assign(outer, outer + 1);
    });
    add(program, data, 1000);
  }
  void check(Executable& executable) const {
    for (uint32_t run = 0; run < 2; ++run) {
      succeed(executable.reset());
      succeed(executable.run());
      EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(1030u));
      EXPECT_THAT(value_of(executable.read<uint32_t>(sums)), Each(30u));
      EXPECT_THAT(report(executable, outer_loop), Reports(5u, ExitReason::converged));
      EXPECT_THAT(report(executable, inner_loop), Reports(12u, ExitReason::converged));
    }
  }
};

TEST_P(UnboundedLoops, InsideABoundedOne) {
  const Nest nest(9, std::nullopt);
  in_every_way(nest.program, kOpenInside, [&](Executable& executable) { nest.check(executable); });
}

TEST_P(UnboundedLoops, InsideAnUnboundedOne) {
  const Nest nest(std::nullopt, std::nullopt);
  in_every_way(nest.program, kOpenInside, [&](Executable& executable) { nest.check(executable); });
}

TEST_P(UnboundedLoops, AroundABoundedOneOfAnyLength) {
  for (const uint32_t bound : {13u, 4000u}) {
    const Nest nest(std::nullopt, bound);
    in_every_way(nest.program, kOpen, [&](Executable& executable) { nest.check(executable); });
  }
}

TEST_P(UnboundedLoops, InBranchesOfOneWithBreaksAndContinuesAfterThem) {
  Program program("branches");
  const Buffer data = program.buffer("data", Type::i32, 100, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0), k = program.scalar_u32("k", 0), hash = program.scalar_u32("hash", 7);
  uint32_t expected_hash = 7, expected_data = 0, expected_n = 0;
  const auto loop = program.while_(1u, {}, [&] {
    program.assign(n, n + 1);
    program.assign(k, literal(0u));
    program.if_(
        program::equal(n, 3u), [&] { program.continue_(); },
        [&] {
          program.while_(k < n, {}, [&] {
            program.assign(k, k + 1);
            program.while_(1u, {}, [&] {
              add(program, data, 1);
              program.if_(program.iteration() + 1 >= k, [&] { program.break_(); });
            });
          });
        });
    program.assign(hash, ScalarExpr(hash) * 5u + k);
    program.if_(n >= 6, [&] { program.break_(); });
    program.assign(hash, ScalarExpr(hash) + n);
  });
  for (;;) {
    ++expected_n;
    if (expected_n == 3) continue;
    for (uint32_t i = 1; i <= expected_n; ++i) expected_data += i;
    expected_hash = expected_hash * 5 + expected_n;
    if (expected_n >= 6) break;
    expected_hash += expected_n;
  }
  in_every_way(program, kOpenInside, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(expected_data));
    EXPECT_EQ(value_of(executable.read_bits(hash)), expected_hash);
    EXPECT_THAT(report(executable, loop), Reports(6u, ExitReason::bound));
  });
}

/// A loop whose grid is computed, so that it can only be chunked.
struct ChunkedAlone {
  Program program{"chunked alone"};
  Buffer data = program.buffer("data", Type::i32, 100, Initial::zero());
  Scalar n = program.scalar_u32("n", 0);
  Scalar needed = program.parameter("needed", literal(40u));
  program::Loop loop;
  ChunkedAlone() {
    program.output(data);
    program.assign(n, literal(0u));
    loop = program.while_(
        n < needed, {},
        [&] {
          program.dispatch({.label = "add",
                            .kernel = add_kernel(),
                            .bindings = {data},
                            .parameters = {literal(1u)},
                            .computed_grid = program::ComputedGrid{.workgroups = {2u, 1u, 1u}, .maximum = {2, 1, 1}}});
          program.assign(n, n + 1);
        },
        "relax");
  }
};

TEST_P(UnboundedLoops, AreRefusedByNameWhereNoHostMayStandBetween) {
  const ChunkedAlone chunked;
  const auto executable = compile(chunked.program, device(), host_free());
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(executable.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(executable.error().message, HasSubstr("while \"relax\""));
  EXPECT_THAT(executable.error().message, HasSubstr("host-free"));
}

TEST_P(UnboundedLoops, AreOneWaitAndSomeLooks) {
  const ChunkedAlone one;
  Executable executable = chunked(one.program);
  const device::Counters before = device()->counters();
  succeed(executable.run());
  value_of(executable.read<uint32_t>(one.data));
  EXPECT_EQ(report(executable, one.loop).trips, 40u);
  const device::Counters used = device()->counters() - before;
  EXPECT_EQ(used.host_waits, 1u);
  EXPECT_GT(used.observations, 0u);
  EXPECT_EQ(used.readbacks, 2u);  // the output and the arena
}

TEST_P(UnboundedLoops, BeginNoMoreThanTheChunksInFlight) {
  for (const uint32_t needed : {1u, 10u, 300u}) {
    const ChunkedAlone one;
    Executable executable = chunked(one.program);
    succeed(executable.set(one.needed, literal(needed)));
    const graph::Loop* loop = graph::find_loop(*executable.plan().graph);
    ASSERT_NE(loop, nullptr);
    ASSERT_EQ(loop->maximum, std::nullopt);
    // When the chunk ends that holds the last iteration, one more is in flight.
    uint64_t chunks = 0;
    for (uint64_t runs = 0; runs * 2 < needed; ++chunks)  // a run of the body is two iterations
      runs += chunks == 0 ? loop->first_chunk : graph::next_chunk(*loop, runs);
    ASSERT_LT(loop->largest_chunk, 300u);
    const device::Counters before = device()->counters();
    succeed(executable.run());
    const device::Counters used = device()->counters() - before;
    EXPECT_EQ(report(executable, one.loop).trips, needed);
    EXPECT_THAT(value_of(executable.read<uint32_t>(one.data)), Each(needed));
    EXPECT_GE(used.submissions, 1u);
    EXPECT_LE(used.submissions, chunks + 2) << "one chunk more in flight, and what follows the loop";
  }
}

TEST_P(UnboundedLoops, ABoundIsKeptInChunks) {
  for (const uint32_t bound : {1u, 7u, 64u, 333u}) {
    Program program("bounded");
    const Buffer data = program.buffer("data", Type::i32, 100, Initial::zero());
    const Scalar active = program.scalar_u32("active", 1);
    const auto loop = program.while_(active, {.max = bound}, [&] { add(program, data, 1); });
    Executable executable = chunked(program);
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(bound));
    EXPECT_THAT(report(executable, loop), Reports(bound, ExitReason::bound));
  }
}

TEST_P(UnboundedLoops, AnEndlessOneEndsInAClearErrorAtTheTimeLimitAndHarmsNothing) {
  const ChunkedAlone one;
  Executable executable = chunked(one.program);
  succeed(executable.run());
  succeed(executable.reset());
  succeed(executable.set(one.needed, literal(0xffffffffu)));
  executable.set_time_limit(0.05);
  const auto result = executable.run();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::device);
  EXPECT_THAT(result.error().message, HasSubstr("loop \"relax\""));
  EXPECT_THAT(result.error().message, HasSubstr("0.05 seconds"));
  EXPECT_THAT(result.error().message, HasSubstr("--time-limit"));
  // What the run before left is still there.
  EXPECT_THAT(value_of(executable.read<uint32_t>(one.data)), Each(40u));
  EXPECT_EQ(report(executable, one.loop).trips, 40u);
  // And the executable is good for another.
  executable.set_time_limit(std::nullopt);
  succeed(executable.reset());
  succeed(executable.set(one.needed, literal(9u)));
  succeed(executable.run());
  EXPECT_THAT(value_of(executable.read<uint32_t>(one.data)), Each(9u));
  EXPECT_THAT(report(executable, one.loop), Reports(9u, ExitReason::converged));
}

TEST_P(UnboundedLoops, AnEndlessOneInOneWorkgroupEndsAtTheTimeLimitToo) {
  Program program("endless kernel");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar flag = program.scalar_u32("flag", 1);
  const auto loop = program.while_(
      flag, {}, [&] { add(program, data, 1); }, "relax");
  CompileOptions options = forced(Strategy::resident);
  options.costs = target::Costs{.resident_step = 100};
  Executable executable = value_of(compile(program, device(), options));
  executable.set_time_limit(0.05);
  const auto result = executable.run();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("loop \"relax\""));
  succeed(executable.reset());
  succeed(executable.set(flag, literal(0u)));
  succeed(executable.run());
  EXPECT_THAT(report(executable, loop), Reports(0u, ExitReason::converged));
}

TEST_P(UnboundedLoops, AnEndlessNestEndsAtTheTimeLimitToo) {
  Program program("endless nest");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar flag = program.scalar_u32("flag", 1);
  program.while_(
      flag, {},
      [&] {
        program.while_(
            flag, {}, [&] { add(program, data, 1); }, "inner");
      },
      "outer");
  Executable executable = chunked(program);
  executable.set_time_limit(0.05);
  const auto result = executable.run();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("loop \"outer\""));
}

WAVEGATE_CONFORMANCE(UnboundedLoops);

class HostFree : public ConformanceTest {};

TEST_P(HostFree, ARunIsOneSubmissionAndOneWaitHoweverOftenItLoops) {
  Program program("counters");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  program.output(data);
  const Scalar active = program.scalar_u32("active", 1);
  const auto loop = program.while_(active, {.min = 0, .max = 50}, [&] {
    program.while_(active, {.max = 3}, [&] { add(program, data, 1); });
    program.if_(active, [&] { add(program, data, 1); });
  });
  for (Way& way : every_way(device(), refused({Strategy::producer, Strategy::unroll}))) {
    if (way.options.strategy == Strategy::chunked || !way.is_applicable) continue;
    SCOPED_TRACE(way.name);
    way.options.host_free = true;
    Executable executable = value_of(compile(program, way.device, way.options));
    EXPECT_EQ(graph::find_loop(*executable.plan().graph), nullptr);
    const device::Counters before = device()->counters();
    succeed(executable.run());
    value_of(executable.read<uint32_t>(data));
    EXPECT_EQ(report(executable, loop).trips, 50u);
    const device::Counters used = device()->counters() - before;
    EXPECT_EQ(used.submissions, 1u);
    EXPECT_EQ(used.host_waits, 1u);
    EXPECT_EQ(used.readbacks, 2u);  // the output and the arena
    EXPECT_EQ(used.observations, 0u);
  }
}

WAVEGATE_CONFORMANCE(HostFree);

}  // namespace
}  // namespace wavegate::conformance
