#include "conformance/ways.h"

namespace wavegate::conformance {
namespace {

using kir::Type;
using program::Buffer;
using program::Initial;
using program::Program;
using program::Scalar;
using program::ScalarExpr;

class Predicates : public ConformanceTest {};
WAVEGATE_CONFORMANCE(Predicates);

TEST_P(Predicates, OfAnyValueButZeroAreTrueAndCountAsOne) {
  Program program("seven is true");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  program.output(data);
  const Scalar left = program.scalar_u32("left", 21);
  const Scalar large = program.scalar_u32("large", 0x80000000u);
  const auto loop = program.while_(left, {.min = 0, .max = 10}, [&] {
    add(program, data, 1);
    program.assign(left, left - 7u);
  });
  std::optional<program::Loop> inner;
  program.if_(large, [&] {
    inner = program.while_(large, {.min = 3, .max = 3}, [&] {
      program.iteration();
      add(program, data, 1);
    });
  });
  in_every_way(program, device(), refused({Strategy::unroll}), [&](Executable& executable) {
    succeed(executable.reset());
    succeed(executable.run());
    EXPECT_EQ(value_of(executable.loop(loop)).trips, 3u);
    EXPECT_EQ(value_of(executable.loop(*inner)).trips, 3u);
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), testing::Each(6u));
  });
}

}  // namespace
}  // namespace wavegate::conformance
