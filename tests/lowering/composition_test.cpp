#include "wavegate/lowering/composition.h"

#include "lowering/support.h"
#include "wavegate/lowering/work.h"

namespace wavegate::lowering {
namespace {

struct Sample {
  Program program{"composition"};
  Buffer a = program.buffer("a", Type::i32, 256, Initial::zero());
  Buffer b = program.buffer("b", Type::i32, 256, Initial::zero());
  Scalar x = program.scalar_u32("x", 1), y = program.scalar_u32("y", 1);
  target::Profile device = profile();
  KernelTable kernels{device};
  Values values() const { return Values(program, {false, false}, 64); }

  Composition touch(Buffer buffer) {
    const Work work = value_of(make_work(
        program::Dispatch{
            .label = "touch", .kernel = touch_kernel(), .bindings = {buffer}, .grid = program::Grid{4, 1, 1}},
        values(), kernels));
    return value_of(Composition::of(work.dispatch, kernels));
  }
  Composition step(const std::vector<Statement>& statements) {
    const graph::Dispatch dispatch = value_of(step_dispatch("step", statements, GridLayout{}, values(), kernels));
    Composition made = value_of(Composition::of(dispatch, kernels));
    EXPECT_TRUE(made.spread({1, 1, 1}, 64).ok());
    return made;
  }
  const kir::Kernel& kernel(const graph::Dispatch& dispatch) const {
    return *std::get<std::shared_ptr<const kir::Kernel>>(kernels[dispatch.kernel]);
  }
};

TEST(Composition, PartsThatNameOneBufferBindItOnce) {
  Sample s;
  Composition whole = s.touch(s.a);
  ASSERT_TRUE(whole.spread({4, 1, 1}, 64).ok());
  for (const Buffer buffer : {s.b, s.a}) {
    Composition next = s.touch(buffer);
    ASSERT_TRUE(next.spread({4, 1, 1}, 64).ok());
    ASSERT_TRUE(whole.then(next).ok());
  }
  const graph::Dispatch dispatch = value_of(whole.dispatch("whole", s.kernels));
  EXPECT_THAT(dispatch.bindings, testing::SizeIs(2));
  EXPECT_EQ(dispatch.grid, (graph::Grid{1, 1, 1}));
  EXPECT_GE(count(s.kernel(dispatch), kir::Op::barrier), 2);
  EXPECT_EQ(s.kernel(dispatch).interface.workgroup_size[0], 64u);
}

TEST(Composition, ALatchThatAPartKnowsAlreadyIsNoBindingMore) {
  Sample s;
  Composition step = s.step({Set{s.x, ScalarExpr(s.x) + 1u}});
  ASSERT_TRUE(step.only_if(s.values().range(s.x)).ok());
  EXPECT_EQ(value_of(step.dispatch("step", s.kernels)).words.size(), 1u);
  Composition other = s.step({Set{s.x, ScalarExpr(s.x) + 1u}});
  ASSERT_TRUE(other.only_if(s.values().range(s.y)).ok());
  EXPECT_EQ(value_of(other.dispatch("step", s.kernels)).words.size(), 2u);
}

TEST(Composition, ARepetitionIsALoopAroundTestAndBody) {
  Sample s;
  Composition body = s.touch(s.a);
  ASSERT_TRUE(body.spread({4, 1, 1}, 64).ok());
  const Composition test = s.step({Set{s.x, ScalarExpr(s.y) < 3u}, Set{s.y, ScalarExpr(s.y) + 1u}});
  ASSERT_TRUE(body.repeat_while(test, s.values().range(s.x)).ok());
  const graph::Dispatch dispatch = value_of(body.dispatch("loop", s.kernels));
  EXPECT_GE(count(s.kernel(dispatch), kir::Op::loop), 1);
  EXPECT_EQ(dispatch.words.size(), 2u);
}

TEST(Composition, OneBufferUnderTwoTypesIsRefused) {
  Builder b("floats", {64});
  auto data = b.buffer("data", Type::f32, Access::read_write);
  data[b.global_id()] = 1.0f;
  Sample s;
  Composition whole = s.touch(s.a);
  ASSERT_TRUE(whole.spread({1, 1, 1}, 64).ok());
  graph::Dispatch floats;
  floats.kernel = value_of(s.kernels.add(program::make_kernel_source(value_of(b.finish())), {}));
  floats.bindings = {s.values().range(s.a)};
  Composition next = value_of(Composition::of(floats, s.kernels));
  ASSERT_TRUE(next.spread({1, 1, 1}, 64).ok());
  const auto result = whole.then(next);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
}

TEST(Composition, WhatADeviceCannotBindDoesNotFit) {
  Sample s;
  Composition whole = s.touch(s.a);
  ASSERT_TRUE(whole.spread({4, 1, 1}, 64).ok());
  Composition next = s.step({Set{s.x, s.y}});
  ASSERT_TRUE(whole.then(next).ok());
  target::Profile device = profile();
  EXPECT_TRUE(whole.fits(device));
  device.limits.storage_buffers = 1;  // a and the arena
  EXPECT_FALSE(whole.fits(device));
  device = profile();
  device.limits.immediate_words = 1;
  EXPECT_FALSE(whole.fits(device));
}

}  // namespace
}  // namespace wavegate::lowering
