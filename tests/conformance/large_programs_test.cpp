#include <numeric>

#include "conformance/ways.h"

/// Programs as large as they may be, of the kind that a lowering puts something around: on the reference device, since
/// what is large is the same for all.
namespace wavegate::conformance {
namespace {

using kir::Type;
using program::Buffer;
using program::Initial;
using program::Program;
using program::Scalar;
using program::ScalarExpr;
using testing::Each;

/// The scalar so many times, in a tree as flat as it goes: 2 * terms - 1 operations and operands.
ScalarExpr sum(Scalar scalar, uint32_t terms) {
  if (terms == 1) return scalar;
  return sum(scalar, terms / 2) + sum(scalar, terms - terms / 2);
}
/// The same as deep as it goes.
ScalarExpr chain(Scalar scalar, uint32_t terms) {
  ScalarExpr result = scalar;
  for (uint32_t i = 1; i < terms; ++i) result = result + scalar;
  return result;
}
constexpr uint32_t kTerms = program::kMaximumExpressionSize / 2;

Executable compiled_for_reference(const Program& program, const CompileOptions& options = {}) {
  return value_of(compile(program, device_named("reference"), options));
}

/// The largest expressions, made by `make`, wherever a lowering puts conditions around them.
void expressions_mean_the_same(ScalarExpr (*make)(Scalar, uint32_t), const std::vector<Strategy>& strategies) {
  Program program("expressions");
  const Buffer data = program.buffer("data", Type::i32, 3, Initial::zero());
  const Scalar x = program.scalar_u32("x", 1), y = program.scalar_u32("y", 0), on = program.scalar_u32("on", 1);
  const Scalar off = program.scalar_u32("off", 0);
  // Beside the comparison there is room for one term less.
  const auto loop = program.while_(make(x, kTerms - 1) < 3 * (kTerms - 1), {.max = 5}, [&] {
    program.if_(on, [&] { program.assign(y, make(x, kTerms)); });
    program.if_(off, [&] { program.assign(y, make(x, kTerms)); });
    program.assign(x, x + 1);
  });
  const ScalarExpr large = make(x, kTerms - 1);
  program.dispatch({.label = "add",
                    .kernel = add_kernel(),
                    .bindings = {data},
                    .parameters = {program::literal(1u)},
                    .computed_grid = program::ComputedGrid{.workgroups = {large - (3 * (kTerms - 1) - 1), 1u, 1u},
                                                           .maximum = {1, 1, 1}}});
  // A scalar of the largest expression of all, read where control is.
  program.if_(make(x, kTerms), [&] { add(program, data, 10); });
  program.switch_(make(x, kTerms), {{3 * kTerms, [&] { add(program, data, 100); }}});
  for (const Strategy strategy : strategies) {
    SCOPED_TRACE(to_string(strategy));
    Executable executable = compiled_for_reference(program, forced(strategy));
    succeed(executable.run());
    EXPECT_THAT(report(executable, loop), Reports(2u, ExitReason::converged));
    EXPECT_EQ(value_of(executable.read_bits(y)), 2 * kTerms);
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(111u));
  }
}

TEST(LargePrograms, TheLargestExpressionsMayStandWhereALoweringAddsToThem) {
  expressions_mean_the_same(
      &sum, {Strategy::gate, Strategy::fused_gate, Strategy::early_out, Strategy::chunked, Strategy::resident});
}

// The time that it takes grows by the depth.
TEST(LargePrograms, TheDeepestExpressionsMayStandThere) {
  expressions_mean_the_same(&chain, {Strategy::early_out});
}

TEST(LargePrograms, AGridOfThreeLargeExpressionsNamesItsDispatchWhereItIsBeyondTheMaximum) {
  for (size_t beyond = 0; beyond < 4; ++beyond) {
    Program program("grid");
    const Buffer data = program.buffer("data", Type::i32, 3, Initial::zero());
    const Scalar x = program.scalar_u32("x", 1);
    std::array<ScalarExpr, 3> workgroups = {1u, 1u, 1u};
    for (size_t d = 0; d < 3; ++d) workgroups[d] = sum(x, kTerms - 1) - (kTerms - (d == beyond ? 3 : 2));
    program.dispatch({.label = "the large one",
                      .kernel = add_kernel(),
                      .bindings = {data},
                      .parameters = {program::literal(1u)},
                      .computed_grid = program::ComputedGrid{.workgroups = workgroups, .maximum = {1, 1, 1}}});
    Executable executable = compiled_for_reference(program);
    const Result<void> ran = executable.run();
    EXPECT_EQ(ran.ok(), beyond == 3) << beyond;
    if (!ran.ok()) {
      EXPECT_THAT(ran.error().to_string(), testing::HasSubstr("the large one"));
    }
  }
}

TEST(LargePrograms, ASwitchOfThousandsOfCasesMayLeaveTheLoop) {
  Program program("switch");
  const Scalar n = program.scalar_u32("n", 0), after = program.scalar_u32("after", 0);
  std::vector<std::pair<uint32_t, std::function<void()>>> cases;
  for (uint32_t i = 0; i < 2100; ++i)
    cases.emplace_back(
        i, i == 3 ? std::function<void()>([&] { program.break_(); }) : [] {});
  const auto loop = program.while_(n < 10u, {.max = 10}, [&] {
    program.switch_(n, cases);
    program.assign(n, n + 1);
    program.assign(after, after + 1);
  });
  // Without a host each iteration has all the latches; chunked says it once.
  for (const Strategy strategy : {Strategy::fused_gate, Strategy::early_out, Strategy::chunked}) {
    Executable executable = compiled_for_reference(program, forced(strategy));
    succeed(executable.run());
    EXPECT_THAT(report(executable, loop), Reports(4u, ExitReason::bound));
    EXPECT_EQ(value_of(executable.read_bits(n)), 3u);
    EXPECT_EQ(value_of(executable.read_bits(after)), 3u);
  }
}

TEST(LargePrograms, AssignsOfMoreScalarsThanLaunchWordsMeanTheSame) {
  constexpr uint32_t count = 200;
  Program program("many");
  std::vector<Scalar> scalars;
  for (uint32_t i = 0; i < count; ++i) scalars.push_back(program.scalar_u32("s" + std::to_string(i), 1));
  // Each of what the one before has just been given, so that no statement is lost, or before its time.
  for (uint32_t i = 1; i < count; ++i) program.assign(scalars[i], scalars[i - 1] + scalars[i]);
  std::vector<uint32_t> expected(count);
  std::iota(expected.begin(), expected.end(), 1u);
  in_every_way(program, device_named("reference"), {}, [&](Executable& executable) {
    succeed(executable.run());
    std::vector<uint32_t> found;
    for (const Scalar scalar : scalars) found.push_back(value_of(executable.read_bits(scalar)));
    EXPECT_EQ(found, expected);
  });
}

}  // namespace
}  // namespace wavegate::conformance
