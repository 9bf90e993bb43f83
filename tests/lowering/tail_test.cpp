#include "wavegate/lowering/tail.h"

#include "lowering/support.h"
#include "wavegate/lowering/work.h"

namespace wavegate::lowering {
namespace {

struct Sample {
  Program program{"tail"};
  Buffer a = program.buffer("a", Type::i32, 64, Initial::zero());
  Scalar x = program.scalar_u32("x", 1), y = program.scalar_u32("y", 1);
  target::Profile device = profile();
  KernelTable kernels{device};
  Values values{program, {false, false}, 64};

  graph::Dispatch body(std::shared_ptr<const program::KernelSource> kernel = touch_kernel()) {
    return value_of(
               make_work(
                   program::Dispatch{
                       .label = "body", .kernel = std::move(kernel), .bindings = {a}, .grid = program::Grid{1, 1, 1}},
                   values, kernels))
        .dispatch;
  }
  graph::Dispatch step() {
    return value_of(
        step_dispatch("test", std::vector<Statement>{Set{x, ScalarExpr(y) < 3u}}, GridLayout{}, values, kernels));
  }
  std::optional<graph::Dispatch> joined(const graph::Dispatch& body) {
    return value_of(with_tail(body, step(), kernels, device));
  }
};

TEST(Tail, TheTwoAreOneKernelWithABarrierAndTouchWhatBothTouch) {
  Sample s;
  graph::Dispatch body = s.body();
  body.indirect = graph::Range{s.values.arguments, 12, 12};
  const auto joined = s.joined(body);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->label, "body, test");
  const auto& kernel = *std::get<std::shared_ptr<const kir::Kernel>>(s.kernels[joined->kernel]);
  EXPECT_EQ(kernel.interface.workgroup_size, (std::array<uint32_t, 3>{64, 1, 1}));
  EXPECT_GE(count(kernel, kir::Op::barrier), 1);
  EXPECT_EQ(joined->bindings.size(), 2u);
  EXPECT_EQ(joined->words.size(), 2u);
  EXPECT_EQ(joined->uses.size(), body.uses.size() + 2);
  ASSERT_TRUE(joined->indirect);
  EXPECT_EQ(joined->indirect->offset, 12u);
}

TEST(Tail, AWorkgroupOfMoreThanOneDimensionTakesNone) {
  Sample s;
  EXPECT_FALSE(s.joined(s.body(touch_kernel({8, 8, 1}))));
  EXPECT_FALSE(s.joined(s.body(touch_kernel({8, 1, 2}))));
}

TEST(Tail, AnOpaqueModuleTakesNone) {
  Sample s;
  EXPECT_FALSE(s.joined(s.body(opaque_kernel())));
}

TEST(Tail, WithoutRoomForItsBuffersOrWordsThereIsNone) {
  Sample buffers;
  buffers.device.limits.storage_buffers = 1;
  EXPECT_FALSE(buffers.joined(buffers.body()));
  Sample words;
  words.device.limits.immediate_words = 1;
  EXPECT_FALSE(words.joined(words.body()));
}

}  // namespace
}  // namespace wavegate::lowering
