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

const Refused kNarrow = refused({Strategy::unroll});

/// From run to run: what persists, what starts fresh, what the host may set.
class Runs : public ConformanceTest {
 protected:
  void in_every_way(const Program& program, const Refused& refused, const std::function<void(Executable&)>& check) {
    conformance::in_every_way(program, device(), refused, check);
  }
};

TEST_P(Runs, LatchesAndCountersStartFreshAndValuesPersist) {
  Program program("again");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0), runs = program.scalar_u32("runs", 0);
  const Scalar limit = program.parameter("limit", literal(3u));
  program.assign(n, literal(0u));
  program.assign(runs, runs + 1);
  const auto loop = program.while_(n < limit, {.min = 0, .max = 8}, [&] {
    program.if_(program::equal(n, 6u), [&] { program.break_(); });
    program.assign(n, n + 1);
    add(program, data, 1);
  });
  in_every_way(program, refused({Strategy::producer, Strategy::unroll}), [&](Executable& executable) {
    const auto check = [&](uint32_t trips, uint32_t sum, uint32_t count, ExitReason reason) {
      succeed(executable.run());
      EXPECT_THAT(report(executable, loop), Reports(trips, reason));
      EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(sum));
      EXPECT_EQ(value_of(executable.read_bits(runs)), count);
    };
    check(3, 3, 1, ExitReason::converged);
    check(3, 6, 2, ExitReason::converged);
    succeed(executable.set(limit, literal(9u)));
    check(7, 12, 3, ExitReason::bound);  // left by break_
    succeed(executable.set(limit, literal(0u)));
    check(0, 12, 4, ExitReason::converged);
    succeed(executable.reset());
    check(3, 3, 1, ExitReason::converged);
  });
}

TEST_P(Runs, AParameterOfAKernelChangesWithoutRecompiling) {
  Program program("parameter");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar amount = program.parameter("amount", literal(2u));
  const Scalar active = program.scalar_u32("active", 1);
  program.while_(active, {.max = 3}, [&] { add(program, data, amount); });
  in_every_way(program, kNarrow, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(6u));
    succeed(executable.set(amount, literal(5u)));
    succeed(executable.set(active, literal(1u)));
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(21u));
  });
}

TEST_P(Runs, WhatTheHostWritesIsWhatTheNextRunReads) {
  Program program("written");
  const Buffer data = program.buffer("data", Type::i32, 4, Initial::zero());
  const Scalar n = program.scalar_u32("n", 2);
  program.while_(n > 0, {.max = 9}, [&] {
    program.assign(n, n - 1);
    add(program, data, 1);
  });
  in_every_way(program, kNarrow, [&](Executable& executable) {
    succeed(executable.run());
    const std::vector<uint32_t> words = {10, 20};
    succeed(executable.write<uint32_t>(data, words, 1));
    succeed(executable.set(n, literal(5u)));
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::ElementsAre(7, 15, 25, 7));
  });
}

WAVEGATE_CONFORMANCE(Runs);

}  // namespace
}  // namespace wavegate::conformance
