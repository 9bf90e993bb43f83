#include "conformance/ways.h"

namespace wavegate::conformance {
namespace {

using program::Buffer;
using program::literal;
using program::Program;
using program::Scalar;
using program::ScalarExpr;
using testing::ElementsAre;

/// The bodies hold scalar work alone.
const Refused kScalars = refused({Strategy::producer, Strategy::unroll});

class Histories : public ConformanceTest {
 protected:
  void in_every_way(const Program& program, const Refused& refused, const std::function<void(Executable&)>& check) {
    conformance::in_every_way(program, device(), refused, check);
  }
};

TEST_P(Histories, KeepAValueOfEveryIteration) {
  Program program("residuals");
  const Scalar residual = program.scalar_f32("residual", 64.0f);
  Buffer history;
  program.while_(residual > 3.0f, {.max = 9}, [&] {
    program.assign(residual, residual * 0.5f);
    history = program.record(residual);
  });
  in_every_way(program, kScalars, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<float>(history)), ElementsAre(32, 16, 8, 4, 2, 0, 0, 0, 0));
  });
}

TEST_P(Histories, KeepNoMoreThanTheirCapacity) {
  Program program("short");
  const Scalar n = program.scalar_u32("n", 0);
  Buffer history;
  const auto loop = program.while_(n < 30, {.max = 40}, [&] {
    program.assign(n, n + 1);
    history = program.record(n, 4);
  });
  in_every_way(program, kScalars, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(history)), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(report(executable, loop).trips, 30u);
  });
}

TEST_P(Histories, OfAnUnboundedLoopKeepTheirCapacity) {
  Program program("open");
  const Scalar n = program.scalar_u32("n", 0);
  Buffer history;
  program.while_(n < 200, {}, [&] {
    program.assign(n, n + 1);
    history = program.record(n, 5);
  });
  in_every_way(program,
               refused({Strategy::gate, Strategy::fused_gate, Strategy::chained_gate, Strategy::producer,
                        Strategy::early_out, Strategy::predication, Strategy::unroll},
                       true),
               [&](Executable& executable) {
                 succeed(executable.run());
                 EXPECT_THAT(value_of(executable.read<uint32_t>(history)), ElementsAre(1, 2, 3, 4, 5));
                 EXPECT_EQ(value_of(executable.read_bits(n)), 200u);
               });
}

TEST_P(Histories, KeepOnlyIterationsThatGetThere) {
  Program program("some");
  const Scalar n = program.scalar_u32("n", 0);
  Buffer even, late;
  program.while_(n < 6, {.max = 8}, [&] {
    program.assign(n, n + 1);
    program.switch_(n, {{2, [&] { even = program.record(n, {}, "even"); }}, {5, [&] { program.continue_(); }}});
    late = program.record(n, {}, "late");
  });
  in_every_way(program, kScalars, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(even)), ElementsAre(0, 2, 0, 0, 0, 0, 0, 0));
    EXPECT_THAT(value_of(executable.read<uint32_t>(late)), ElementsAre(1, 2, 3, 4, 0, 6, 0, 0));
  });
}

TEST_P(Histories, OfAnInnerLoopAreByItsIterations) {
  Program program("inner");
  const Scalar n = program.scalar_u32("n", 0);
  Buffer history;
  program.while_(1u, {.max = 3}, [&] {
    const Scalar outer = program.iteration();
    program.while_(program.scalar_u32("flag", 1), {.max = 4}, [&] {
      program.if_(program.iteration() > outer, [&] { program.break_(); });
      program.assign(n, n + 1);
      history = program.record(n);
    });
  });
  in_every_way(program, kScalars, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(history)), ElementsAre(4, 5, 6, 0));
  });
}

TEST_P(Histories, OfAnEarlierRunStayWhereThisOneDoesNotGet) {
  Program program("again");
  const Scalar n = program.scalar_u32("n", 0), limit = program.parameter("limit", literal(4u));
  Buffer history;
  const Scalar index = program.scalar_u32("index", 0);
  program.assign(index, literal(0u));
  program.while_(index < limit, {.max = 5}, [&] {
    program.assign(n, n + 1);
    program.assign(index, index + 1);
    history = program.record(n);
  });
  in_every_way(program, kScalars, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(history)), ElementsAre(1, 2, 3, 4, 0));
    succeed(executable.set(limit, literal(2u)));
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(history)), ElementsAre(5, 6, 3, 4, 0));
    succeed(executable.reset());
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(history)), ElementsAre(1, 2, 3, 4, 0));
  });
}

WAVEGATE_CONFORMANCE(Histories);

}  // namespace
}  // namespace wavegate::conformance
