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

// Loops without max are in unbounded_loops_test.cpp.
class ControlFlow : public ConformanceTest {
 protected:
  void in_every_way(const Program& program, const Refused& refused, const std::function<void(Executable&)>& check) {
    conformance::in_every_way(program, device(), refused, check);
  }
};

/// Why a loop of the usual form is not for two strategies: its last kernel has more than one workgroup, and its min
/// differs from its max.
const Refused kWide = refused({Strategy::producer, Strategy::unroll});
/// The last kernel of it has one workgroup.
const Refused kNarrow = refused({Strategy::unroll});

TEST_P(ControlFlow, EveryStrategyAppliesToALoopOfAKnownCount) {
  Program program("count");
  const Buffer data = program.buffer("data", Type::i32, 40, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  const auto loop = program.while_(active, {.min = 6, .max = 6}, [&] { add(program, data, 1); });
  in_every_way(program, {}, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(6u));
    EXPECT_THAT(report(executable, loop), Reports(6u, ExitReason::bound));
  });
}

TEST_P(ControlFlow, ALoopWhosePredicateIsFalseAtOnceRunsNothingAndConverges) {
  Program program("at once");
  const Buffer data = program.buffer("data", Type::i32, 100, Initial::repeated(7u));
  program.output(data);
  const Scalar active = program.scalar_u32("active", 0);
  const auto loop = program.while_(active, {.min = 0, .max = 5}, [&] { add(program, data, 1); });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(7u));
    EXPECT_THAT(report(executable, loop), Reports(0u, ExitReason::converged));
  });
}

TEST_P(ControlFlow, ALoopOfNoIterationsConvergesByItsPredicateAlone) {
  for (const uint32_t flag : {0u, 1u}) {
    Program program("none");
    const Buffer data = program.buffer("data", Type::i32, 3, Initial::zero());
    const Scalar active = program.scalar_u32("active", flag);
    const auto loop = program.while_(active, {.min = 0, .max = 0}, [&] { add(program, data, 1); });
    in_every_way(program, {}, [&](Executable& executable) {
      succeed(executable.run());
      EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(0u));
      EXPECT_THAT(report(executable, loop), Reports(0u, flag == 0 ? ExitReason::converged : ExitReason::bound));
    });
  }
}

TEST_P(ControlFlow, ALoopStopsAtItsBound) {
  for (const uint32_t bound : {1u, 2u, 5u}) {
    Program program("bound");
    const Buffer data = program.buffer("data", Type::i32, 3, Initial::zero());
    const Scalar active = program.scalar_u32("active", 1);
    const auto loop = program.while_(active, {.min = 0, .max = bound}, [&] { add(program, data, 1); });
    in_every_way(program, kNarrow, [&](Executable& executable) {
      succeed(executable.run());
      EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(bound));
      EXPECT_THAT(report(executable, loop), Reports(bound, ExitReason::bound));
    });
  }
}

TEST_P(ControlFlow, ALoopRunsItsMinimumBeforeThePredicateIsRead) {
  Program program("min");
  const Buffer data = program.buffer("data", Type::i32, 3, Initial::zero());
  const Scalar active = program.scalar_u32("active", 0);
  const auto loop = program.while_(active, {.min = 3, .max = 9}, [&] { add(program, data, 1); });
  in_every_way(program, kNarrow, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(3u));
    EXPECT_THAT(report(executable, loop), Reports(3u, ExitReason::converged));
  });
}

TEST_P(ControlFlow, ALoopThatConvergesInItsLastIterationReportsConverged) {
  Program program("last");
  const Scalar n = program.scalar_u32("n", 0);
  const Scalar active = program.scalar_u32("active", 1);
  const auto loop = program.while_(active, {.min = 0, .max = 4}, [&] {
    program.assign(n, n + 1);
    program.assign(active, n < 4);
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(report(executable, loop), Reports(4u, ExitReason::converged));
  });
}

TEST_P(ControlFlow, ACounterOnTheDeviceEndsTheLoop) {
  Program program("counter");
  const Buffer data = program.buffer("data", Type::i32, 1000, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  const auto loop = program.while_(n < 17, {.min = 0, .max = 100}, [&] {
    add(program, data, 2);
    program.assign(n, n + 1);
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(34u));
    EXPECT_THAT(report(executable, loop), Reports(17u, ExitReason::converged));
  });
}

TEST_P(ControlFlow, OneBranchOfAnIfRuns) {
  for (const uint32_t condition : {0u, 1u, 0x80000000u}) {
    Program program("branch");
    const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
    const Scalar predicate = program.scalar_u32("predicate", condition);
    program.if_(
        predicate, [&] { add(program, data, 1); }, [&] { add(program, data, 2); });
    in_every_way(program, {}, [&](Executable& executable) {
      succeed(executable.run());
      EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(condition != 0 ? 1u : 2u));
    });
  }
}

TEST_P(ControlFlow, OneCaseOfASwitchRunsOrItsDefault) {
  Program program("switch");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  program.while_(n < 5, {.max = 9}, [&] {
    // A case that changes the selector is still the only one that runs.
    program.switch_(ScalarExpr(n) * 10u,
                    {{10,
                      [&] {
                        digit(program, data, 1);
                        program.assign(n, literal(2u));
                      }},
                     {20, [&] { digit(program, data, 2); }},
                     {30, [&] { digit(program, data, 3); }},
                     {0xffffffffu, [&] { digit(program, data, 9); }}},
                    [&] { digit(program, data, 7); });
    program.assign(n, n + 1);
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(7137u));  // 0, 1 (then 3), 3, 4
  });
}

TEST_P(ControlFlow, NestedBranchesRunByTheConjunctionOfWhatEnclosesThem) {
  for (uint32_t bits = 0; bits < 8; ++bits) {
    Program program("nested");
    const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
    const Scalar a = program.scalar_u32("a", bits & 1), b = program.scalar_u32("b", bits >> 1 & 1);
    const Scalar c = program.scalar_u32("c", bits >> 2);
    program.if_(a, [&] {
      program.if_(
          b,
          [&] {
            program.if_(
                c, [&] { digit(program, data, 1); }, [&] { digit(program, data, 2); });
          },
          [&] { digit(program, data, 3); });
      digit(program, data, 4);
    });
    in_every_way(program, {}, [&](Executable& executable) {
      succeed(executable.run());
      const uint32_t expected = (bits & 1) == 0 ? 0u : (bits >> 1 & 1) == 0 ? 34u : (bits >> 2) == 0 ? 24u : 14u;
      EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(expected));
    });
  }
}

TEST_P(ControlFlow, AnIfInsideAWhileRunsInItsIterationsOnly) {
  Program program("if in while");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  program.while_(n < 5, {.min = 0, .max = 20}, [&] {
    program.if_(
        n >= 3, [&] { add(program, data, 100); }, [&] { add(program, data, 1); });
    program.assign(n, n + 1);
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(203u));
  });
}

TEST_P(ControlFlow, AWhileInsideAWhileStartsFreshEachTime) {
  Program program("while in while");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar outer = program.scalar_u32("outer", 0);
  const Scalar inner = program.scalar_u32("inner", 0);
  program::Loop inner_loop;
  const auto outer_loop = program.while_(outer < 4, {.min = 1, .max = 6}, [&] {
    program.assign(inner, literal(0u));
    inner_loop = program.while_(inner <= outer, {.min = 1, .max = 6}, [&] {
      add(program, data, 1);
      program.assign(inner, inner + 1);
    });
    program.assign(outer, outer + 1);
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(1u + 2 + 3 + 4));
    EXPECT_THAT(report(executable, outer_loop), Reports(4u, ExitReason::converged));
    EXPECT_THAT(report(executable, inner_loop), Reports(4u, ExitReason::converged));
  });
}

TEST_P(ControlFlow, ALoopInsideALoopThatIsNotAlwaysEnteredReportsItsLastEntry) {
  Program program("sometimes");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar outer = program.scalar_u32("outer", 0);
  const Scalar inner = program.scalar_u32("inner", 0);
  program::Loop inner_loop;
  program.while_(outer < 5, {.max = 9}, [&] {
    program.if_(outer < 3, [&] {
      program.assign(inner, outer);
      inner_loop = program.while_(inner > 0, {.max = 20}, [&] {
        add(program, data, 1);
        program.assign(inner, inner - 1);
      });
    });
    program.assign(outer, outer + 1);
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(3u));
    EXPECT_THAT(report(executable, inner_loop), Reports(2u, ExitReason::converged));
  });
}

TEST_P(ControlFlow, ALoopThatIsNeverEnteredReportsNoTripsAndNoConvergence) {
  Program program("never");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar no = program.scalar_u32("no", 0);
  program::Loop loop;
  program.if_(no, [&] { loop = program.while_(no, {.min = 2, .max = 4}, [&] { add(program, data, 1); }); });
  in_every_way(program, kNarrow, [&](Executable& executable) {
    for (int run = 0; run < 2; ++run) {
      succeed(executable.run());
      EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(0u));
      EXPECT_THAT(report(executable, loop), Reports(0u, ExitReason::bound));
    }
  });
}

TEST_P(ControlFlow, ABreakEndsItsLoopAndSkipsTheRestOfTheBody) {
  Program program("break");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  const auto loop = program.while_(1u, {.max = 9}, [&] {
    digit(program, data, 1);
    program.assign(n, n + 1);
    program.if_(n >= 3, [&] {
      digit(program, data, 2);
      program.break_();
    });
    digit(program, data, 3);
  });
  digit(program, data, 4);
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(1313124u));
    EXPECT_THAT(report(executable, loop), Reports(3u, ExitReason::bound));
  });
}

TEST_P(ControlFlow, ABreakWithAFalsePredicateIsConverged) {
  Program program("break, converged");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  const auto loop = program.while_(active, {.max = 9}, [&] {
    add(program, data, 1);
    program.assign(active, literal(0u));
    program.break_();
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(1u));
    EXPECT_THAT(report(executable, loop), Reports(1u, ExitReason::converged));
  });
}

TEST_P(ControlFlow, AContinueEndsItsIterationAlone) {
  Program program("continue");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  const auto loop = program.while_(n < 5, {.max = 9}, [&] {
    program.assign(n, n + 1);
    digit(program, data, n);
    program.switch_(n, {{2, [&] { program.continue_(); }}, {4, [&] { program.continue_(); }}});
    digit(program, data, 9);
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(19239459u));
    EXPECT_THAT(report(executable, loop), Reports(5u, ExitReason::converged));
  });
}

TEST_P(ControlFlow, ABreakInAnInnerLoopLeavesTheOuterOneRunning) {
  Program program("inner break");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar outer = program.scalar_u32("outer", 0), inner = program.scalar_u32("inner", 0);
  program::Loop inner_loop;
  const auto outer_loop = program.while_(outer < 3, {.max = 7}, [&] {
    program.assign(inner, literal(0u));
    inner_loop = program.while_(1u, {.max = 6}, [&] {
      program.if_(inner >= outer, [&] { program.break_(); });
      digit(program, data, 1);
      program.assign(inner, inner + 1);
    });
    program.assign(outer, outer + 1);
    program.if_(outer >= 2, [&] { program.continue_(); });
    digit(program, data, 2);
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(2111u));
    EXPECT_THAT(report(executable, outer_loop), Reports(3u, ExitReason::converged));
    EXPECT_THAT(report(executable, inner_loop), Reports(3u, ExitReason::bound));
  });
}

TEST_P(ControlFlow, ALoopOfAKnownCountMayBeLeftEarly) {
  Program program("known, left");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  program::Scalar index;
  const auto loop = program.while_(1u, {.min = 8, .max = 8}, [&] {
    index = program.iteration();
    program.if_(program::equal(index, 1u), [&] { program.continue_(); });
    program.if_(program::equal(index, 5u), [&] { program.break_(); });
    digit(program, data, index);
  });
  in_every_way(program, refused({Strategy::producer}), [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(234u));
    EXPECT_THAT(report(executable, loop), Reports(6u, ExitReason::bound));
  });
}

TEST_P(ControlFlow, EverythingNestsInEverything) {
  Program program("mixture");
  const Buffer data = program.buffer("data", Type::i32, 70, Initial::zero());
  const Scalar a = program.scalar_u32("a", 0), b = program.scalar_u32("b", 0), c = program.scalar_u32("c", 0);
  const auto hash = [&](uint32_t number) {
    program.assign(c, ScalarExpr(c) * 31u + number);
    digit(program, data, number);
  };
  program::Loop inner_loop;
  const auto outer_loop = program.while_(a < 6, {.min = 1, .max = 8}, [&] {
    program.switch_(a,
                    {{0,
                      [&] {
                        program.if_(
                            b, [&] { hash(1); }, [&] { hash(2); });
                      }},
                     {1,
                      [&] {
                        inner_loop = program.while_(b < 4, {.min = 2, .max = 5}, [&] {
                          program.assign(b, b + 1);
                          program.if_(program::equal(b, 3u), [&] { program.continue_(); });
                          hash(3);
                          program.if_(b >= 4, [&] { program.break_(); });
                          hash(4);
                        });
                      }},
                     {4,
                      [&] {
                        hash(5);
                        program.break_();
                      }}},
                    [&] {
                      program.fill({"part", data, 60, 10, literal(0u)});
                      hash(6);
                    });
    program.assign(a, a + 1);
  });
  uint32_t expected = 0;
  for (const uint32_t number : {2u, 3u, 4u, 3u, 4u, 3u, 6u, 6u, 5u}) expected = expected * 31 + number;
  // One kernel of all that has more launch words than some devices.
  Refused refused = kWide;
  if (device()->profile().limits.immediate_words < 64) refused.strategies.insert(Strategy::resident);
  in_every_way(program, refused, [&](Executable& executable) {
    succeed(executable.run());
    std::vector<uint32_t> words(60, 234343665u);
    words.insert(words.end(), 10, 65u);
    EXPECT_EQ(value_of(executable.read<uint32_t>(data)), words);
    EXPECT_EQ(value_of(executable.read_bits(c)), expected);
    EXPECT_THAT(report(executable, outer_loop), Reports(5u, ExitReason::bound));
    EXPECT_THAT(report(executable, inner_loop), Reports(4u, ExitReason::converged));
  });
}

TEST_P(ControlFlow, TheIterationIndexIsAnOperand) {
  Program program("index");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar sum = program.scalar_u32("sum", 0), last = program.scalar_u32("last", 99);
  program.while_(1u, {.max = 3}, [&] {
    const Scalar outer = program.iteration();
    program.while_(1u, {.max = 2}, [&] {
      const Scalar inner = program.iteration();
      program.assign(sum, ScalarExpr(sum) * 10u + outer * 2u + inner);
      digit(program, data, inner);
      program.assign(last, inner);
    });
    digit(program, data, outer);
  });
  in_every_way(program, kNarrow, [&](Executable& executable) {
    for (uint32_t run = 0; run < 2; ++run) {
      succeed(executable.reset());
      succeed(executable.run());
      EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(10011012u));  // 010 011 012
      EXPECT_EQ(value_of(executable.read_bits(sum)), 12345u);
      EXPECT_EQ(value_of(executable.read_bits(last)), 1u);
    }
  });
}

TEST_P(ControlFlow, TheIterationIndexCountsIterationsThatContinueToo) {
  Program program("index, continue");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  program.while_(n < 6, {.max = 9}, [&] {
    const Scalar index = program.iteration();
    program.assign(n, n + 1);
    program.if_(program::equal(index, 2u), [&] { program.continue_(); });
    digit(program, data, index);
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(1345u));
  });
}

WAVEGATE_CONFORMANCE(ControlFlow);

}  // namespace
}  // namespace wavegate::conformance
