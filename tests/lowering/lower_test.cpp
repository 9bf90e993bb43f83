#include "wavegate/lowering/lower.h"

#include "lowering/support.h"

namespace wavegate::lowering {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Lower, AProgramIsVerifiedFirst) {
  Program program("unwritten");
  const Buffer data = program.buffer("data", Type::i32, 64);
  touch(program, data);
  const auto plan = lower(program, profile());
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(plan.error().to_string(), HasSubstr("data"));
}

TEST(Lower, HostFreeRefusesAnUnboundedLoopByName) {
  Program program("endless");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  const Scalar n = program.scalar_u32("n", 1);
  program.while_(
      n, {},
      [&] {
        program.dispatch({.label = "work",
                          .kernel = touch_kernel(),
                          .bindings = {data},
                          .computed_grid = program::ComputedGrid{.workgroups = {n, 1u, 1u}}});
      },
      "relax");
  ASSERT_TRUE(lower(program, profile()).ok());
  Options options;
  options.host_free = true;
  const auto plan = lower(program, profile(), options);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(plan.error().message, AllOf(HasSubstr("while \"relax\""), HasSubstr("host-free")));
}

TEST(Lower, MoreCommandsThanMemoryHoldsAreRefusedWithTheirNumberAndTheWayOut) {
  Program program("huge");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  program.while_(active, {.max = 1u << 20}, [&] { touch(program, data, {2, 1, 1}); });
  const auto plan = lower(program, profile(), forced(Strategy::early_out));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(plan.error().message, AllOf(HasSubstr("program \"huge\""), HasSubstr("more than 1048576"),
                                          HasSubstr("lower the max of its loops")));
  EXPECT_TRUE(lower(program, profile(), forced(Strategy::chunked)).ok());
}

TEST(Lower, ANestOfHugeBoundsIsRefusedInBoundedTime) {
  Program program("tower");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  const std::function<void(int)> nest = [&](int depth) {
    if (depth == 0) return touch(program, data);
    program.while_(active, {.max = UINT32_MAX}, [&] { nest(depth - 1); });
  };
  nest(4);
  EXPECT_FALSE(lower(program, profile(), forced(Strategy::gate)).ok());
}

TEST(Lower, DeepNestsStaySmall) {
  for (const Strategy strategy : {Strategy::gate, Strategy::fused_gate, Strategy::early_out, Strategy::unroll}) {
    Program program("nested");
    const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
    const Scalar active = program.scalar_u32("active", 1);
    const std::function<void(int)> nest = [&](int depth) {
      if (depth == 0) return touch(program, data);
      program.while_(active, {.min = 1, .max = 1}, [&] { nest(depth - 1); });
    };
    nest(60);
    const auto plan = lower(program, profile(), forced(strategy));
    ASSERT_TRUE(plan.ok()) << plan.error().to_string();
    EXPECT_THAT(plan->regions, SizeIs(60));
    EXPECT_LE(graph::encoded_size(plan->graph->commands), 1000u) << to_string(strategy);
  }
}

TEST(Lower, ScalarsArePackedAndTheirPlacesExposed) {
  Program program("packed");
  std::vector<Scalar> scalars;
  for (int i = 0; i < 5; ++i) scalars.push_back(program.scalar_u32("s" + std::to_string(i), 7));
  program.assign(scalars[0], scalars[1] + 1);
  const Plan plan = value_of(lower(program, profile()));
  for (size_t i = 0; i < scalars.size(); ++i) {
    EXPECT_EQ(plan.scalars[i].offset, 4 * i);
    EXPECT_EQ(plan.scalars[i].buffer, plan.arena);
  }
}

TEST(Lower, AScalarThatAModuleBindsIsAlignedForItsDescriptor) {
  kir::Interface interface;
  interface.name = "opaque";
  interface.bindings = {{"word", kir::BindingKind::scalar, Type::i32, Access::read_write}};
  Program program("aligned");
  program.scalar_u32("first", 0);
  const Scalar bound = program.scalar_u32("bound", 0);
  program.dispatch({.label = "opaque",
                    .kernel = std::make_shared<OpaqueSource>(interface),
                    .bindings = {bound},
                    .grid = program::Grid{1, 1, 1}});
  const Plan plan = value_of(lower(program, profile()));
  EXPECT_EQ(plan.scalars[bound.id].offset, 64u);
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
  program.dispatch({.label = "scale",
                    .kernel = program::make_kernel_source(value_of(b.finish())),
                    .bindings = {data_buffer},
                    .parameters = {dt, literal(64u)},
                    .grid = program::Grid{1, 1, 1}});
  const Plan plan = value_of(lower(program, profile()));
  const auto all = dispatches(plan);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0]->words, (std::vector<uint32_t>{static_cast<uint32_t>(plan.scalars[dt.id].offset / 4), 64}));
  EXPECT_EQ(all[0]->bindings.back().buffer, plan.arena);
}

TEST(Lower, AssignsOfMoreScalarsThanLaunchWordsAreSplit) {
  Program program("many");
  std::vector<Scalar> scalars;
  for (int i = 0; i < 200; ++i) scalars.push_back(program.scalar_u32("s" + std::to_string(i), 1));
  for (size_t i = 1; i < 200; ++i) program.assign(scalars[i], scalars[i - 1] + 1);
  const Plan plan = value_of(lower(program, profile()));
  std::set<uint32_t> bound;
  for (const graph::Dispatch* dispatch : dispatches(plan)) {
    EXPECT_LE(dispatch->words.size(), profile().limits.immediate_words);
    bound.insert(dispatch->words.begin(), dispatch->words.end());
  }
  // That they also mean the same is shown in tests/conformance/large_programs_test.cpp.
  for (const Scalar scalar : scalars)
    EXPECT_TRUE(bound.contains(static_cast<uint32_t>(plan.scalars[scalar.id].offset / 4))) << scalar.id;
}

TEST(Lower, TheReportSaysHowEachRegionIsLoweredAndWhy) {
  Program program("report");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  program.while_(
      active, {.max = 4},
      [&] {
        program.if_(
            active,
            [&] {
              touch(program, data, {2, 1, 1});
            },
            {}, "inner");
      },
      "outer");
  Options options;
  options.region_strategies = {{"outer", Strategy::gate}, {"inner", Strategy::fused_gate}};
  const Plan plan = value_of(lower(program, profile(), options));
  ASSERT_THAT(plan.regions, SizeIs(2));
  EXPECT_EQ(plan.regions[0].label, "while \"outer\"");
  EXPECT_EQ(plan.regions[0].depth, 0u);
  EXPECT_EQ(plan.regions[0].strategy, Strategy::gate);
  EXPECT_EQ(plan.regions[0].reason, "asked for");
  EXPECT_GT(plan.regions[0].microseconds, plan.regions[0].dead_microseconds);
  EXPECT_EQ(plan.regions[1].label, "if \"inner\"");
  EXPECT_EQ(plan.regions[1].depth, 1u);
  EXPECT_EQ(plan.regions[1].strategy, Strategy::fused_gate);
}

}  // namespace
}  // namespace wavegate::lowering
