#include "conformance/ways.h"

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
using program::ScalarExpr;
using testing::Each;
using testing::HasSubstr;

/// Every workgroup counts itself, by its place in a grid of at most 4 x 4 x 4.
std::shared_ptr<const program::KernelSource> mark_kernel() {
  static const auto kernel = [] {
    Builder b("mark", {1});
    auto seen = b.buffer("seen", Type::i32, Access::read_write);
    const auto place = (b.workgroup_id(2) * 4 + b.workgroup_id(1)) * 4 + b.workgroup_id(0);
    seen[place] = seen[place] + 1;
    return source(b.finish());
  }();
  return kernel;
}

/// A dispatch of workgroups that the program computes.
void mark(Program& program, Buffer seen, const std::array<ScalarExpr, 3>& workgroups) {
  program.dispatch({.label = "mark",
                    .kernel = mark_kernel(),
                    .bindings = {seen},
                    .computed_grid = program::ComputedGrid{.workgroups = workgroups, .maximum = {4, 4, 4}}});
}

std::vector<uint32_t> marks(const std::vector<std::array<uint32_t, 3>>& grids) {
  std::vector<uint32_t> seen(64, 0);
  for (const auto& [x, y, z] : grids)
    for (uint32_t k = 0; k < z; ++k)
      for (uint32_t j = 0; j < y; ++j)
        for (uint32_t i = 0; i < x; ++i) ++seen[(k * 4 + j) * 4 + i];
  return seen;
}

/// In a loop no resident kernel has a grid that is computed, and no computed grid is the last of a producer.
const Refused kLoop = refused({Strategy::producer, Strategy::unroll, Strategy::resident});

class ComputedGrids : public ConformanceTest {
 protected:
  void in_every_way(const Program& program, const Refused& refused, const std::function<void(Executable&)>& check) {
    conformance::in_every_way(program, device(), refused, check);
  }
};

TEST_P(ComputedGrids, AreExactUpToTheirMaximum) {
  for (const std::array<uint32_t, 3> grid :
       {std::array<uint32_t, 3>{0, 1, 1}, {1, 0, 4}, {1, 1, 1}, {3, 2, 1}, {4, 4, 4}}) {
    Program program("exact");
    const Buffer seen = program.buffer("seen", Type::i32, 64, Initial::zero());
    std::array<ScalarExpr, 3> workgroups = {1u, 1u, 1u};
    for (size_t d = 0; d < 3; ++d) workgroups[d] = program.scalar_u32("w" + std::to_string(d), grid[d]);
    mark(program, seen, workgroups);
    in_every_way(program, {}, [&](Executable& executable) {
      succeed(executable.run());
      EXPECT_EQ(value_of(executable.read<uint32_t>(seen)), marks({grid}));
    });
  }
}

TEST_P(ComputedGrids, FollowWhatALoopComputes) {
  Program program("growing");
  const Buffer seen = program.buffer("seen", Type::i32, 64, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  program.while_(n < 4, {.max = 9}, [&] {
    mark(program, seen, {n, program.iteration() + 1, 1u});
    program.if_(n >= 2, [&] { mark(program, seen, {1u, 1u, n}); });
    program.assign(n, n + 1);
  });
  in_every_way(program, kLoop, [&](Executable& executable) {
    for (uint32_t run = 0; run < 2; ++run) {
      succeed(executable.reset());
      succeed(executable.run());
      EXPECT_EQ(value_of(executable.read<uint32_t>(seen)),
                marks({{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}, {1, 1, 2}, {1, 1, 3}}));
    }
  });
}

TEST_P(ComputedGrids, OfInvocationsCoverThemAll) {
  Program program("cover");
  const Buffer data = program.buffer("data", Type::i32, 300, Initial::zero());
  const Scalar count = program.parameter("count", literal(0u));
  program.dispatch({.label = "add",
                    .kernel = add_kernel(),
                    .bindings = {data},
                    .parameters = {literal(1u)},
                    .computed_grid = program::computed_grid_for({count, 1u, 1u}, {64, 1, 1}, {5, 1, 1})});
  in_every_way(program, {}, [&](Executable& executable) {
    for (const uint32_t threads : {0u, 1u, 64u, 65u, 300u}) {
      succeed(executable.reset());
      succeed(executable.set(count, literal(threads)));
      succeed(executable.run());
      std::vector<uint32_t> expected(300, 0);
      std::fill_n(expected.begin(), std::min<size_t>(300, (threads + 63) / 64 * 64), 1u);
      EXPECT_EQ(value_of(executable.read<uint32_t>(data)), expected);
    }
  });
}

TEST_P(ComputedGrids, BeyondTheirMaximumFailTheRunByName) {
  Program program("beyond");
  const Buffer seen = program.buffer("seen", Type::i32, 64, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0), limit = program.parameter("limit", literal(5u));
  program.assign(n, literal(1u));
  program.while_(n < limit, {.max = 9}, [&] {
    program.dispatch({.label = "too many",
                      .kernel = mark_kernel(),
                      .bindings = {seen},
                      .computed_grid = program::ComputedGrid{.workgroups = {1u, n, 1u}, .maximum = {1, 3, 1}}});
    mark(program, seen, {1u, 1u, 1u});
    program.assign(n, n + 1);
  });
  in_every_way(program, kLoop, [&](Executable& executable) {
    const auto result = executable.run();
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(result.error().to_string(), HasSubstr("dispatch \"too many\""));
    // The next run starts without a fault.
    succeed(executable.reset());
    succeed(executable.set(limit, literal(4u)));
    succeed(executable.run());
    EXPECT_EQ(value_of(executable.read<uint32_t>(seen)),
              marks({{1, 1, 1}, {1, 2, 1}, {1, 3, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}));
  });
}

TEST_P(ComputedGrids, OfDispatchesThatDoNotRunAreNoFault) {
  Program program("not taken");
  const Buffer seen = program.buffer("seen", Type::i32, 64, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0), no = program.scalar_u32("no", 0);
  program.if_(no, [&] { mark(program, seen, {100u, 1u, 1u}); });
  // After the loop n stays at 4, and past its end one more dispatch would be too many.
  program.while_(n < 4, {.max = 9}, [&] {
    program.assign(n, n + 1);
    mark(program, seen, {n, 1u, 1u});
    program.if_(n >= 4, [&] {
      program.assign(n, literal(50u));
      program.break_();
    });
  });
  in_every_way(program, kLoop, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_EQ(value_of(executable.read<uint32_t>(seen)), marks({{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {4, 1, 1}}));
  });
}

TEST_P(ComputedGrids, InAnUnboundedLoopEndWithIt) {
  Program program("frontier");
  const Buffer seen = program.buffer("seen", Type::i32, 64, Initial::zero());
  const Scalar left = program.scalar_u32("left", 20);
  const auto loop = program.while_(left > 0, {}, [&] {
    mark(program, seen, {program::minimum(left, 4u), 1u, 1u});
    program.assign(left, ScalarExpr(left) - program::minimum(left, 3u));
  });
  Refused refused = kLoop;
  refused.host_free = true;
  for (const Strategy spelled :
       {Strategy::gate, Strategy::fused_gate, Strategy::chained_gate, Strategy::early_out, Strategy::predication})
    refused.strategies.insert(spelled);
  in_every_way(program, refused, [&](Executable& executable) {
    succeed(executable.run());
    const std::vector<uint32_t> expected =
        marks({{4, 1, 1}, {4, 1, 1}, {4, 1, 1}, {4, 1, 1}, {4, 1, 1}, {4, 1, 1}, {2, 1, 1}});
    EXPECT_EQ(value_of(executable.read<uint32_t>(seen)), expected);
    EXPECT_THAT(report(executable, loop), Reports(7u, ExitReason::converged));
  });
}

WAVEGATE_CONFORMANCE(ComputedGrids);

}  // namespace
}  // namespace wavegate::conformance
