#include "wavegate/lowering/step_kernel.h"

#include "lowering/support.h"
#include "wavegate/kir/text.h"

namespace wavegate::lowering {
namespace {

struct Sample {
  Program program{"steps"};
  Scalar a = program.scalar_u32("a", 1), b = program.scalar_u32("b", 1), c = program.scalar_u32("c", 1);
  Buffer data = program.buffer("data", Type::i32, 100, Initial::zero());
  Values values{program, {false, false, false}, 64};
  target::Profile device = profile();
  KernelTable kernels{device};
  /// Three blocks of grids: of one, of none, of three.
  GridLayout layout{{0, 3, 3}, {3, 0, 9}};

  graph::Dispatch dispatch(const std::vector<Statement>& statements) {
    return value_of(step_dispatch("step", statements, layout, values, kernels));
  }
};

TEST(StepKernel, StatementsRunInOrderAndBindEachScalarOnce) {
  Sample s;
  const std::vector<Statement> statements = {Set{s.a, ScalarExpr(s.b) + 1u}, Set{s.c, ScalarExpr(s.a) * s.b},
                                             Set{s.b, 0u}};
  const StepKernel made = value_of(step_kernel(s.values, s.layout, statements));
  std::vector<Access> access;
  for (const kir::BindingInfo& binding : made.kernel.interface.bindings) access.push_back(binding.access);
  ASSERT_EQ(made.scalars.size(), 3u);
  EXPECT_EQ(made.scalars, (std::vector<Scalar>{s.a, s.b, s.c}));
  EXPECT_THAT(access, testing::ElementsAre(Access::write, Access::read_write, Access::write));
  EXPECT_EQ(count(made.kernel, kir::Op::load_scalar), 1);
}

// Hazard 7 of the reference: geometry is data of a gate, never part of it.
TEST(StepKernel, StepsOfOneShapeAreOneKernelWhateverTheirSlotsAndGrids) {
  Sample s;
  const graph::Dispatch one = s.dispatch({SetGrids{0, s.a}});
  const graph::Dispatch other = s.dispatch({SetGrids{2, s.b}});
  EXPECT_EQ(one.kernel, other.kernel);
  EXPECT_NE(one.words, other.words);
  EXPECT_NE(one.kernel, s.dispatch({SetGrids{0, !ScalarExpr(s.a)}}).kernel);
}

TEST(StepKernel, GridsOfABlockThatNobodyUsesAreNotWritten) {
  Sample s;
  EXPECT_TRUE(is_void(s.layout, SetGrids{1, s.a}));
  EXPECT_FALSE(is_void(s.layout, SetGrids{0, s.a}));
  EXPECT_FALSE(is_void(s.layout, Set{s.a, 0u}));
  const graph::Dispatch dispatch = s.dispatch({Set{s.a, 0u}, SetGrids{1, s.a}});
  EXPECT_THAT(dispatch.bindings, testing::SizeIs(1));  // the arena alone
}

TEST(StepKernel, LaunchWordsAreCountedBeforeTheKernelIsMade) {
  Sample s;
  const std::vector<Statement> statements = {Set{s.a, ScalarExpr(s.b) + 1u},
                                             SetGrids{0, s.a},
                                             SetGrids{1, s.a},
                                             SetGrids{2, s.b},
                                             SetComputedGrid{{0, 0}, s.a, {s.c, 1u, 2u}, {9, 9, 9}},
                                             Store{s.values.range(s.data).buffer, s.a, s.c, s.b}};
  const graph::Dispatch dispatch = s.dispatch(statements);
  StepFootprint footprint(s.values, s.layout);
  for (const Statement& statement : statements) footprint.add(statement);
  EXPECT_EQ(footprint.launch_words(), dispatch.words.size());
  EXPECT_EQ(dispatch.words.size(), 3u + 2 + 2 + 4);
}

// Hazard 9 of the reference: what a step touches are its own words.
TEST(StepKernel, UsesAreTheWordsThatAreTouched) {
  Sample s;
  const graph::Dispatch dispatch = s.dispatch({Set{s.a, s.c}, SetGrids{2, s.a}});
  const auto use_of = [&](graph::BufferId buffer, uint64_t offset) {
    const auto found = std::ranges::find_if(
        dispatch.uses, [&](const graph::Use& use) { return use.range.buffer == buffer && use.range.offset == offset; });
    return found == dispatch.uses.end() ? graph::Use{} : *found;
  };
  EXPECT_THAT(dispatch.uses, testing::SizeIs(4));
  EXPECT_EQ(use_of(s.values.arena, 0).range.bytes, 4u);
  EXPECT_EQ(use_of(s.values.arena, 0).access, Access::write);
  EXPECT_EQ(use_of(s.values.arena, 8).range.bytes, 4u);
  EXPECT_EQ(use_of(s.values.arena, 8).access, Access::read);
  EXPECT_EQ(use_of(s.values.arguments, 12).range.bytes, 36u);
  EXPECT_EQ(use_of(s.values.grids, 12).range.bytes, 36u);
  EXPECT_EQ(use_of(s.values.grids, 12).access, Access::read);
}

TEST(StepKernel, AStoreAtAFixedIndexTouchesThatWordAndOneAtAComputedIndexAllOfThem) {
  Sample s;
  const graph::BufferId buffer = s.values.range(s.data).buffer;
  const graph::Dispatch fixed = s.dispatch({Store{buffer, 1u, 7u, s.a}});
  EXPECT_EQ(fixed.uses[0].range.offset, 28u);
  EXPECT_EQ(fixed.uses[0].range.bytes, 4u);
  const graph::Dispatch computed = s.dispatch({Store{buffer, 1u, s.b, s.a}});
  EXPECT_EQ(computed.uses[0].range.offset, 0u);
  EXPECT_EQ(computed.uses[0].range.bytes, 400u);
  EXPECT_EQ(computed.uses[0].access, Access::read_write);  // some words stay as they were
}

TEST(StepKernel, AComputedGridIsCutToItsMaximum) {
  Sample s;
  const graph::Dispatch dispatch = s.dispatch({SetComputedGrid{{2, 1}, s.a, {s.b, 1u, 1u}, {5, 6, 7}}});
  EXPECT_EQ(dispatch.words, (std::vector<uint32_t>{0, 1, 6, 5, 6, 7}));
  const auto& kernel = *std::get<std::shared_ptr<const kir::Kernel>>(s.kernels[dispatch.kernel]);
  EXPECT_GE(count(kernel, kir::Op::min_u), 1);
}

}  // namespace
}  // namespace wavegate::lowering
