#include "wavegate/lowering/lower.h"

#include <gmock/gmock.h>

#include "wavegate/graph/print.h"
#include "wavegate/kir/builder.h"

namespace wavegate::lowering {
namespace {

using kir::Access;
using kir::Builder;
using kir::Type;
using program::Buffer;
using program::Initial;
using program::literal;
using program::Program;
using program::Scalar;
using testing::AllOf;
using testing::HasSubstr;

std::shared_ptr<const program::KernelSource> touch_kernel() {
  Builder b("touch", {64});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  data[b.global_id()] = data[b.global_id()] + 1;
  return program::make_kernel_source(b.finish().value());
}

void touch(Program& program, Buffer data, program::Grid grid) {
  static const auto kernel = touch_kernel();
  program.dispatch({"touch", kernel, {data}, {}, grid, {}});
}

target::Profile profile() {
  target::Profile made;
  made.limits.binding_alignment = 64;
  return made;
}

std::vector<const graph::Dispatch*> dispatches(const std::vector<graph::Command>& commands) {
  std::vector<const graph::Dispatch*> found;
  for (const graph::Command& command : commands) {
    if (const auto* dispatch = std::get_if<graph::Dispatch>(&command)) found.push_back(dispatch);
    if (const auto* repeat = std::get_if<std::shared_ptr<const graph::Repeat>>(&command))
      for (const graph::Dispatch* inner : dispatches((*repeat)->body)) found.push_back(inner);
  }
  return found;
}

const std::string& kernel_name(const graph::Graph& graph, const graph::Dispatch& dispatch) {
  return graph::interface_of(graph.kernels[static_cast<uint32_t>(dispatch.kernel)]).name;
}

TEST(Lower, ADispatchUnderNoPredicateIsDirect) {
  Program program("direct");
  touch(program, program.buffer("data", Type::i32, 64, Initial::zero()), {1, 2, 3});
  const Plan plan = lower(program, profile()).value();
  const auto all = dispatches(plan.graph->commands);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_FALSE(all[0]->indirect);
  EXPECT_EQ(all[0]->grid, (graph::Grid{1, 2, 3}));
}

TEST(Lower, AConditionedDispatchIsIndirectBehindItsGateAndKeepsItsExactGeometry) {
  Program program("gated");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  const Scalar predicate = program.scalar_u32("predicate", 1);
  program.if_(predicate, [&] { touch(program, data, {5, 6, 7}); });
  const Plan plan = lower(program, profile()).value();
  const auto all = dispatches(plan.graph->commands);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(kernel_name(*plan.graph, *all[0]), "latch");
  EXPECT_EQ(kernel_name(*plan.graph, *all[1]), "gate");
  EXPECT_EQ(kernel_name(*plan.graph, *all[2]), "touch");
  ASSERT_TRUE(all[2]->indirect);
  EXPECT_EQ(all[2]->indirect->bytes, 12u);
  EXPECT_EQ(std::vector(all[1]->words.end() - 3, all[1]->words.end()), (std::vector<uint32_t>{5, 6, 7}));
}

TEST(Lower, AllGeometriesShareOneGateKernel) {
  Program program("gates");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  const Scalar predicate = program.scalar_u32("predicate", 1);
  program.if_(predicate, [&] {
    touch(program, data, {1, 1, 1});
    touch(program, data, {2, 1, 1});
    touch(program, data, {1, 3, 1});
  });
  const Plan plan = lower(program, profile()).value();
  EXPECT_THAT(plan.graph->kernels, testing::SizeIs(3));  // latch, gate, touch
}

// Hazard 6 of the reference: the conjunction of nested predicates is computed once per region.
TEST(Lower, ANestedRegionHasOneLatchHoweverManyCommandsItHolds) {
  Program program("nested");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  const Scalar outer = program.scalar_u32("outer", 1);
  const Scalar inner = program.scalar_u32("inner", 1);
  program.if_(outer, [&] {
    program.if_(inner, [&] {
      for (int i = 0; i < 5; ++i) touch(program, data, {1, 1, 1});
    });
  });
  const Plan plan = lower(program, profile()).value();
  const auto all = dispatches(plan.graph->commands);
  EXPECT_EQ(std::ranges::count_if(all, [&](const auto* d) { return kernel_name(*plan.graph, *d) == "latch"; }), 2);
}

TEST(Lower, ALoopIsItsUntestedAndItsTestedIterations) {
  Program program("loop");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  program.while_(active, {.min = 3, .max = 10}, [&] { touch(program, data, {1, 1, 1}); });
  const Plan plan = lower(program, profile()).value();
  std::vector<std::pair<uint32_t, size_t>> repeats;
  for (const graph::Command& command : plan.graph->commands)
    if (const auto* repeat = std::get_if<std::shared_ptr<const graph::Repeat>>(&command))
      repeats.emplace_back((*repeat)->count, (*repeat)->body.size());
  // Untested: the dispatch alone. Tested: the test, the gate and the dispatch.
  EXPECT_EQ(repeats, (std::vector<std::pair<uint32_t, size_t>>{{3, 1}, {7, 3}}));
}

TEST(Lower, ALoopWithoutABoundIsUnsupportedByName) {
  Program program("endless");
  const Scalar active = program.scalar_u32("active", 1);
  program.while_(
      active, {.min = 0, .max = {}}, [&] { program.assign(active, literal(0u)); }, "relax");
  const auto plan = lower(program, profile());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(plan.error().message, AllOf(HasSubstr("while \"relax\""), HasSubstr("gate"), HasSubstr("max")));
}

TEST(Lower, ABoundThatNoCommandBufferHoldsIsRefused) {
  Program program("huge");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  program.while_(active, {.min = 0, .max = UINT32_MAX}, [&] {
    program.while_(active, {.min = 0, .max = UINT32_MAX}, [&] { touch(program, data, {1, 1, 1}); });
  });
  const auto plan = lower(program, profile());
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("lower the max of its loops"));
}

TEST(Lower, LoopsNestedInTheirUntestedIterationsStaySmall) {
  Program program("nested");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  const std::function<void(int)> nest = [&](int depth) {
    if (depth == 0) return touch(program, data, {1, 1, 1});
    program.while_(active, {.min = 1, .max = 1}, [&] { nest(depth - 1); });
  };
  nest(60);
  const auto plan = lower(program, profile());
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->regions.size(), 60u);
}

TEST(Lower, ALoopInsideOneThatCannotRunIsReportedToo) {
  Program program("never");
  const Scalar active = program.scalar_u32("active", 1);
  program.while_(active, {.min = 0, .max = 0}, [&] {
    program.while_(
        active, {.min = 0, .max = 2}, [&] { program.assign(active, literal(0u)); }, "inner");
  });
  const auto plan = lower(program, profile());
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->loops.size(), 2u);
}

TEST(Lower, AssignsOfMoreScalarsThanLaunchWordsAreSplit) {
  Program program("many");
  std::vector<Scalar> scalars;
  for (int i = 0; i < 200; ++i) scalars.push_back(program.scalar_u32("s" + std::to_string(i), 1));
  for (int i = 1; i < 200; ++i) program.assign(scalars[i], scalars[i - 1] + 1);
  const Plan plan = lower(program, profile()).value();
  for (const graph::Dispatch* dispatch : dispatches(plan.graph->commands))
    EXPECT_LE(dispatch->words.size(), profile().limits.immediate_words);
}

TEST(Lower, KernelsAreSimplified) {
  Builder b("wasteful", {64});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  const auto unused = data[b.u32(3)] + 5;
  static_cast<void>(unused);
  data[b.global_id()] = b.u32(2) + b.u32(3);
  Program program("simplified");
  const Buffer buffer = program.buffer("data", Type::i32, 64, Initial::zero());
  program.dispatch({"w", program::make_kernel_source(b.finish().value()), {buffer}, {}, program::Grid{1, 1, 1}, {}});
  const Plan plan = lower(program, profile()).value();
  int instructions = 0;
  kir::walk(std::get<0>(plan.graph->kernels[0])->body, [&](const kir::Instruction& i) {
    EXPECT_NE(i.op, kir::Op::load);
    EXPECT_NE(i.op, kir::Op::add);
    ++instructions;
  });
  EXPECT_GT(instructions, 0);
}

TEST(Lower, AStraightLineOfAssignsIsOneKernel) {
  Program program("fused");
  const Scalar a = program.scalar_u32("a", 1);
  const Scalar b = program.scalar_u32("b", 2);
  program.assign(a, a + b);
  program.assign(b, a * 2);
  program.assign(a, b - 1);
  const Plan plan = lower(program, profile()).value();
  EXPECT_THAT(dispatches(plan.graph->commands), testing::SizeIs(1));
}

// Hazard 9 of the reference: hazards of scalar work are words of the arena, never all of it.
TEST(Lower, ScalarWorkTouchesItsOwnWordsOnly) {
  Program program("words");
  const Scalar a = program.scalar_u32("a", 1);
  program.scalar_u32("b", 2);
  program.assign(a, a + 1);
  const Plan plan = lower(program, profile()).value();
  const auto all = dispatches(plan.graph->commands);
  ASSERT_EQ(all[0]->uses.size(), 1u);
  EXPECT_EQ(all[0]->uses[0].range.bytes, 4u);
  EXPECT_EQ(all[0]->uses[0].range.offset, plan.scalars[a.id].offset);
}

TEST(Lower, ScalarsArePackedAndTheirPlacesExposed) {
  Program program("packed");
  std::vector<Scalar> scalars;
  for (int i = 0; i < 5; ++i) scalars.push_back(program.scalar_u32("s" + std::to_string(i), 7));
  program.assign(scalars[0], scalars[1] + 1);
  const Plan plan = lower(program, profile()).value();
  for (size_t i = 0; i < scalars.size(); ++i) {
    EXPECT_EQ(plan.scalars[i].offset, 4 * i);
    EXPECT_EQ(plan.scalars[i].buffer, plan.arena);
  }
}

TEST(Lower, AScalarParameterIsReadOnTheDevice) {
  Builder b("scale", {64});
  auto data = b.buffer("data", Type::f32, Access::read_write);
  const auto factor = b.parameter("factor", Type::f32);
  const auto count = b.parameter("count", Type::i32);
  b.if_(b.global_id() < count, [&] { data[b.global_id()] = data[b.global_id()] * factor; });
  Program program("parameter");
  const Buffer data_buffer = program.buffer("data", Type::f32, 64, Initial::zero());
  const Scalar dt = program.parameter("dt", literal(0.5f));
  program.dispatch({"scale",
                    program::make_kernel_source(b.finish().value()),
                    {data_buffer},
                    {dt, literal(64u)},
                    program::Grid{1, 1, 1},
                    {}});
  const Plan plan = lower(program, profile()).value();
  const auto all = dispatches(plan.graph->commands);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]->words, (std::vector<uint32_t>{static_cast<uint32_t>(plan.scalars[dt.id].offset / 4), 64}));
  EXPECT_EQ(all[0]->bindings.back().buffer, plan.arena);
}

TEST(Lower, TheReportSaysHowEachRegionIsLoweredAndWhy) {
  Program program("report");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  program.while_(
      active, {.min = 0, .max = 4},
      [&] {
        program.if_(
            active,
            [&] {
              touch(program, data, {1, 1, 1});
            },
            {}, "inner");
      },
      "outer");
  const Plan plan = lower(program, profile()).value();
  ASSERT_THAT(plan.regions, testing::SizeIs(2));
  EXPECT_EQ(plan.regions[0].label, "while \"outer\"");
  EXPECT_EQ(plan.regions[1].label, "if \"inner\"");
  EXPECT_EQ(plan.regions[1].depth, 1u);
  EXPECT_EQ(plan.regions[0].strategy, "gate");
}

}  // namespace
}  // namespace wavegate::lowering
