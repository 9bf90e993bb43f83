#include "wavegate/lowering/resident.h"

#include "lowering/support.h"

namespace wavegate::lowering {
namespace {

using testing::HasSubstr;

/// A program of one loop.
struct Sample {
  Program program{"resident"};
  Buffer a = program.buffer("a", Type::i32, 64, Initial::zero());
  Scalar n = program.scalar_u32("n", 0);
  target::Profile device = profile();

  void loop(const std::function<void()>& body) { program.while_(ScalarExpr(n) < 3u, {.max = 9}, body, "loop"); }
  void dispatch(std::shared_ptr<const program::KernelSource> kernel, program::Grid grid = {1, 1, 1}) {
    program.dispatch({.label = "work", .kernel = std::move(kernel), .bindings = {a}, .grid = grid});
  }
  std::string obstacle() const {
    const Values values(program, std::vector<bool>(program.scalars().size()), 64);
    KernelTable kernels(device);
    return resident_fit(std::get<program::While>(program.body().front().what), values, kernels, device).obstacle;
  }
};

TEST(Resident, ALoopNestBecomesOneKernelOfOneWorkgroup) {
  Sample s;
  const Scalar inner = s.program.scalar_u32("inner", 0);
  s.loop([&] {
    touch(s.program, s.a, {3, 1, 1});
    s.program.while_(ScalarExpr(inner) < 2u, {.max = 4}, [&] {
      s.program.fill(s.a, literal(1u));
      s.program.if_(s.n, [&] { touch(s.program, s.a); });
      s.program.assign(inner, inner + 1);
    });
    s.program.assign(s.n, s.n + 1);
  });
  EXPECT_EQ(s.obstacle(), "");
  const Plan plan = value_of(lower(s.program, s.device, forced(Strategy::resident)));
  const auto all = dispatches(plan);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]->label, "loop, resident");
  EXPECT_EQ(all[0]->grid, (graph::Grid{1, 1, 1}));
  EXPECT_FALSE(all[0]->indirect);
  EXPECT_THAT(plan.graph->kernels, testing::SizeIs(1));
  for (const LoopPlaces& places : plan.loops) EXPECT_NE(places.trips, places.converged);
}

TEST(Resident, ALoopWithoutMaxIsPartsThatTheHostRepeats) {
  Sample s;
  s.program.while_(
      s.n, {}, [&] { touch(s.program, s.a); }, "open");
  const Plan plan = value_of(lower(s.program, s.device, forced(Strategy::resident)));
  const graph::Loop* loop = graph::find_loop(*plan.graph);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->label, "open");
  EXPECT_EQ(loop->maximum, std::nullopt);
  ASSERT_EQ(loop->body.size(), 1u);
  const auto& part = std::get<graph::Dispatch>(loop->body[0]);
  EXPECT_TRUE(std::ranges::any_of(part.uses, [&](const graph::Use& use) {
    return use.range.buffer == loop->done.buffer && kir::writes(use.access);
  }));
}

TEST(Resident, AskingWhetherItCanBeDoneChangesNothing) {
  Sample s;
  s.loop([&] { touch(s.program, s.a); });
  const Values values(s.program, {false}, 64);
  const KernelTable kernels(s.device);
  const auto& loop = std::get<program::While>(s.program.body().front().what);
  const uint32_t words = values.arena_words();
  EXPECT_EQ(resident_fit(loop, values, kernels, s.device).obstacle, "");
  EXPECT_EQ(values.arena_words(), words);
}

TEST(Resident, ThePieceOfWorkThatOneWorkgroupCannotDoIsNamed) {
  struct Bad {
    const char* reason;
    std::function<void(Sample&)> body;
  };
  const std::vector<Bad> all = {
      {"the grid of dispatch \"work\" is computed",
       [](Sample& s) {
         s.program.dispatch({.label = "work",
                             .kernel = touch_kernel(),
                             .bindings = {s.a},
                             .computed_grid = program::ComputedGrid{.workgroups = {s.n, 1u, 1u}}});
       }},
      {"the kernel of dispatch \"work\" is an opaque module", [](Sample& s) { s.dispatch(opaque_kernel()); }},
      {"meet at barriers in workgroups of 32 and of 64",
       [](Sample& s) {
         s.dispatch(touch_kernel({32, 1, 1}, true));
         s.dispatch(touch_kernel({64, 1, 1}, true));
       }},
      {"too many for one workgroup",
       [](Sample& s) {
         s.dispatch(touch_kernel(), {1u << 15, 1, 1});
       }},
      {"too many for one workgroup",
       [](Sample& s) {
         s.dispatch(touch_kernel(), {65535, 65535, 65535});
       }},
  };
  for (const Bad& bad : all) {
    Sample s;
    s.loop([&] { bad.body(s); });
    EXPECT_THAT(s.obstacle(), HasSubstr(bad.reason));
  }
}

TEST(Resident, ALoopThatBindsMoreThanTheDeviceTakesIsRefused) {
  Sample s;
  s.device.limits.storage_buffers = 4;
  std::vector<Buffer> buffers;
  for (int i = 0; i < 4; ++i)
    buffers.push_back(s.program.buffer("b" + std::to_string(i), Type::i32, 64, Initial::zero()));
  s.loop([&] {
    for (const Buffer buffer : buffers) touch(s.program, buffer);
  });
  EXPECT_THAT(s.obstacle(), HasSubstr("more buffers or scalars than the device takes"));
}

TEST(Resident, ANestWhoseWordsCannotFitIsRefusedWithoutBuildingIt) {
  Sample s;
  const std::function<void(int)> nest = [&](int depth) {
    if (depth == 0) return touch(s.program, s.a);
    s.program.while_(s.n, {.max = 2}, [&] { nest(depth - 1); });
  };
  nest(60);
  EXPECT_THAT(s.obstacle(), HasSubstr("more buffers or scalars than the device takes"));
  s.device.limits.immediate_words = 3 * 60;
  s.device.limits.storage_buffers = 1;
  EXPECT_THAT(s.obstacle(), HasSubstr("more buffers or scalars than the device takes"));
}

TEST(Resident, ALoopWhoseKernelsMeetHasTheirWidth) {
  Sample s;
  s.loop([&] {
    s.dispatch(touch_kernel({32, 1, 1}, true));
    s.dispatch(touch_kernel({64, 1, 1}, false), {4, 1, 1});
  });
  const Plan plan = value_of(lower(s.program, s.device, forced(Strategy::resident)));
  EXPECT_EQ(kernel_of(plan, *dispatches(plan)[0]).interface.workgroup_size, (std::array<uint32_t, 3>{32, 1, 1}));
}

TEST(Resident, AWorkgroupIsNoWiderThanItsWidestCommandOrTheDevice) {
  Sample narrow;
  narrow.loop([&] { narrow.dispatch(touch_kernel(), {2, 1, 1}); });
  const Plan two = value_of(lower(narrow.program, narrow.device, forced(Strategy::resident)));
  EXPECT_EQ(kernel_of(two, *dispatches(two)[0]).interface.workgroup_size[0], 128u);
  Sample wide;
  wide.device.limits.workgroup_invocations = 256;
  wide.loop([&] { wide.dispatch(touch_kernel(), {100, 1, 1}); });
  const Plan capped = value_of(lower(wide.program, wide.device, forced(Strategy::resident)));
  EXPECT_EQ(kernel_of(capped, *dispatches(capped)[0]).interface.workgroup_size[0], 256u);
}

TEST(Resident, UnderALatchTheWholeLoopIsGatedAsOne) {
  Sample s;
  s.program.if_(s.n, [&] { s.loop([&] { touch(s.program, s.a); }); });
  Options options = forced(Strategy::fused_gate);
  options.region_strategies["loop"] = Strategy::resident;
  const Plan plan = value_of(lower(s.program, s.device, options));
  const auto loops = dispatches(plan, "loop, resident");
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_TRUE(loops[0]->indirect);
}

}  // namespace
}  // namespace wavegate::lowering
