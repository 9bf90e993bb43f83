#include "wavegate/lowering/work.h"

#include "lowering/support.h"
#include "wavegate/lowering/support_kernels.h"

namespace wavegate::lowering {
namespace {

using graph::Grid;

struct Sample {
  Program program{"work"};
  Buffer a = program.buffer("a", Type::i32, 1000, Initial::zero());
  Buffer b = program.buffer("b", Type::i32, 1000, Initial::zero());
  Scalar x = program.scalar_u32("x", 1), y = program.scalar_u32("y", 2);
  target::Profile device;
  KernelTable kernels{device};
  explicit Sample(target::Profile made = profile()) : device(std::move(made)) {}
  Values values() const { return Values(program, {false, false}, 64); }
  const kir::Interface& interface(const Work& work) const { return kir::interface_of(kernels[work.dispatch.kernel]); }
};

TEST(Work, LaunchWordsAreScalarsThenParametersFromScalarsThenNumbers) {
  Builder b("mixed", {64});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  auto word = b.scalar("word", Type::i32, Access::read_write);
  const auto number = b.parameter("number", Type::i32);
  const auto from = b.parameter("from", Type::i32);
  data[b.global_id()] = word + number * from;
  Sample s;
  const Values values = s.values();
  const Work work = value_of(make_work({.label = "mixed",
                                        .kernel = program::make_kernel_source(value_of(b.finish())),
                                        .bindings = {s.a, s.y},
                                        .parameters = {literal(77u), s.x},
                                        .grid = Grid{2, 1, 1}},
                                       values, s.kernels));
  EXPECT_EQ(work.dispatch.words, (std::vector<uint32_t>{values.word(s.y), values.word(s.x), 77}));
  EXPECT_EQ(work.dispatch.bindings.back().buffer, values.arena);
  EXPECT_THAT(work.dispatch.uses, testing::SizeIs(3));
  EXPECT_EQ(work.dispatch.grid, (Grid{2, 1, 1}));
  EXPECT_FALSE(work.one_workgroup);
}

TEST(Work, OnlyAFixedGridOfOneWorkgroupOfAKernelOfOursIsOne) {
  Sample s;
  const Values values = s.values();
  const auto one = [&](program::Dispatch dispatch) {
    dispatch.bindings = {s.a};
    return value_of(make_work(dispatch, values, s.kernels)).one_workgroup;
  };
  EXPECT_TRUE(one({.kernel = touch_kernel(), .grid = Grid{1, 1, 1}}));
  EXPECT_FALSE(one({.kernel = touch_kernel(), .grid = Grid{1, 2, 1}}));
  EXPECT_FALSE(one({.kernel = touch_kernel(), .computed_grid = program::ComputedGrid{.maximum = {1, 1, 1}}}));
  EXPECT_FALSE(one({.kernel = opaque_kernel(), .grid = Grid{1, 1, 1}}));
}

TEST(Work, ACopyBecomesAKernelOfItsWordsAndTouchesItsRanges) {
  Sample s;
  const Values values = s.values();
  const program::Copy copy{
      .label = "part", .source = s.a, .destination = s.b, .source_offset = 10, .destination_offset = 20, .count = 600};
  const Work work = value_of(make_work(copy, values, s.device, s.kernels));
  EXPECT_EQ(work.dispatch.words, (std::vector<uint32_t>{10, 20, 600}));
  EXPECT_EQ(work.dispatch.grid, (Grid{3, 1, 1}));
  ASSERT_EQ(work.dispatch.uses.size(), 2u);
  EXPECT_EQ(work.dispatch.uses[0].range.offset, 40u);
  EXPECT_EQ(work.dispatch.uses[0].range.bytes, 2400u);
  EXPECT_EQ(work.dispatch.uses[0].access, Access::read);
  EXPECT_EQ(work.dispatch.uses[1].range.offset, 80u);
  EXPECT_EQ(work.dispatch.uses[1].access, Access::write);
  const graph::Copy plain = make_copy(copy, values);
  EXPECT_EQ(plain.source.offset, 40u);
  EXPECT_EQ(plain.destination.offset, 80u);
  EXPECT_EQ(plain.source.bytes, 2400u);
}

TEST(Work, AFillBecomesAKernelOfItsWords) {
  Sample s;
  const Values values = s.values();
  const program::Fill fill{.label = "part", .destination = s.b, .offset = 7, .count = 100, .value = literal(9u)};
  const Work work = value_of(make_work(fill, values, s.device, s.kernels));
  EXPECT_EQ(work.dispatch.words, (std::vector<uint32_t>{7, 100, 9}));
  EXPECT_TRUE(work.one_workgroup);
  EXPECT_EQ(work.dispatch.uses[0].range.offset, 28u);
  EXPECT_EQ(make_fill(fill, values).word, 9u);
}

TEST(Work, AGridOfWordsIsCutToTheDevice) {
  target::Profile small = profile();
  small.limits.grid = {2, 2, 2};
  Sample s(small);
  const program::Fill fill{.label = "all", .destination = s.b, .offset = 0, .count = 1000, .value = literal(0u)};
  EXPECT_EQ(value_of(make_work(fill, s.values(), s.device, s.kernels)).dispatch.grid, (Grid{2, 1, 1}));
}

TEST(Work, ACopyBeyondWhatAKernelIndexesIsRefusedByName) {
  Sample s;
  const uint64_t huge = (uint64_t{1} << 32) + 10;
  const Buffer big = s.program.buffer("big", Type::i32, huge, Initial::zero());
  const auto result = make_work(program::Copy{.label = "far",
                                              .source = big,
                                              .destination = s.b,
                                              .source_offset = huge - 1,
                                              .destination_offset = 0,
                                              .count = 1},
                                s.values(), s.device, s.kernels);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(result.error().message, testing::HasSubstr("copy \"far\""));
}

TEST(Work, AGuardedDispatchReadsItsLatchAndNothingElseMore) {
  for (const target::Profile& device : {profile(), gpu_profile()}) {
    Sample s(device);
    Values values = s.values();
    const Scalar latch = values.control("latch", true);
    Work work = value_of(make_work(
        program::Dispatch{.label = "touch", .kernel = touch_kernel(), .bindings = {s.a}, .grid = Grid{1, 1, 1}}, values,
        s.kernels));
    const size_t uses = work.dispatch.uses.size();
    ASSERT_TRUE(guard(work, latch, values, s.kernels).ok());
    EXPECT_TRUE(work.always_runs);
    ASSERT_EQ(work.dispatch.uses.size(), uses + 1);
    EXPECT_EQ(work.dispatch.uses.back().range.offset, values.range(latch).offset);
    EXPECT_EQ(work.dispatch.uses.back().range.bytes, 4u);
    EXPECT_EQ(work.dispatch.uses.back().access, Access::read);
    EXPECT_EQ(work.dispatch.words.size(), s.interface(work).launch_words());
    ASSERT_EQ(work.dispatch.bindings.size(), 2u);
    EXPECT_EQ(work.dispatch.bindings[1].buffer, values.arena);
  }
}

}  // namespace
}  // namespace wavegate::lowering
