#include "wavegate/device/vulkan/hazards.h"

#include <gmock/gmock.h>

namespace wavegate::device::vulkan {
namespace {

using testing::Eq;
using testing::Optional;
using Uses = std::vector<MemoryUse>;

MemoryUse read(Stage stage, uint32_t memory, uint64_t begin, uint64_t end) {
  return {memory, begin, end, stage, true, false};
}
MemoryUse write(Stage stage, uint32_t memory, uint64_t begin, uint64_t end) {
  return {memory, begin, end, stage, false, true};
}
MemoryUse update(Stage stage, uint32_t memory, uint64_t begin, uint64_t end) {
  return {memory, begin, end, stage, true, true};
}

constexpr Stage kCompute = Stage::compute;
constexpr Stage kTransfer = Stage::transfer;
constexpr Stage kIndirect = Stage::indirect;
constexpr Stage kConditional = Stage::conditional;

TEST(HazardTracker, TwoFillsOfDisjointRangesNeedNoBarrier) {
  HazardTracker tracker(1);
  EXPECT_THAT(tracker.next(Uses{write(kTransfer, 0, 0, 64)}), Eq(std::nullopt));
  EXPECT_THAT(tracker.next(Uses{write(kTransfer, 0, 64, 128)}), Eq(std::nullopt));
}

TEST(HazardTracker, EqualRangesOfTwoBuffersNeedNoBarrier) {
  HazardTracker tracker(2);
  EXPECT_THAT(tracker.next(Uses{write(kCompute, 0, 0, 64)}), Eq(std::nullopt));
  EXPECT_THAT(tracker.next(Uses{write(kCompute, 1, 0, 64)}), Eq(std::nullopt));
}

TEST(HazardTracker, TwoReadsNeedNoBarrier) {
  HazardTracker tracker(1);
  EXPECT_THAT(tracker.next(Uses{read(kCompute, 0, 0, 64)}), Eq(std::nullopt));
  EXPECT_THAT(tracker.next(Uses{read(kTransfer, 0, 0, 64)}), Eq(std::nullopt));
}

TEST(HazardTracker, AReadAfterAWriteNeedsABarrierThatMakesTheWriteVisible) {
  HazardTracker tracker(1);
  tracker.next(Uses{write(kCompute, 0, 0, 64)});
  EXPECT_THAT(tracker.next(Uses{read(kCompute, 0, 60, 68)}),
              Optional(Barrier{mask(kCompute), mask(kCompute), mask(kCompute)}));
}

TEST(HazardTracker, AWriteAfterAWriteNeedsABarrier) {
  HazardTracker tracker(1);
  tracker.next(Uses{write(kTransfer, 0, 0, 64)});
  EXPECT_THAT(tracker.next(Uses{write(kCompute, 0, 0, 4)}),
              Optional(Barrier{mask(kTransfer), mask(kTransfer), mask(kCompute)}));
}

TEST(HazardTracker, AWriteAfterAReadNeedsAnExecutionDependencyOnly) {
  HazardTracker tracker(1);
  tracker.next(Uses{read(kCompute, 0, 0, 64)});
  EXPECT_THAT(tracker.next(Uses{write(kCompute, 0, 0, 4)}), Optional(Barrier{mask(kCompute), 0, mask(kCompute)}));
}

TEST(HazardTracker, AnIndirectReadAfterAShaderWriteNeedsABarrier) {
  HazardTracker tracker(2);
  tracker.next(Uses{write(kCompute, 0, 0, 12)});
  EXPECT_THAT(tracker.next(Uses{write(kCompute, 1, 0, 64), read(kIndirect, 0, 0, 12)}),
              Optional(Barrier{mask(kCompute), mask(kCompute), mask(kIndirect)}));
}

TEST(HazardTracker, AShaderWriteAfterAnIndirectReadWaitsForTheIndirectStage) {
  HazardTracker tracker(1);
  tracker.next(Uses{read(kIndirect, 0, 0, 12)});
  EXPECT_THAT(tracker.next(Uses{write(kCompute, 0, 0, 12)}), Optional(Barrier{mask(kIndirect), 0, mask(kCompute)}));
}

TEST(HazardTracker, APredicateIsReadAfterTheShaderWriteThatComputesIt) {
  HazardTracker tracker(1);
  tracker.next(Uses{write(kCompute, 0, 0, 4)});
  EXPECT_THAT(tracker.next(Uses{read(kConditional, 0, 0, 4)}),
              Optional(Barrier{mask(kCompute), mask(kCompute), mask(kConditional)}));
}

TEST(HazardTracker, APredicateIsReadAfterTheCopyThatBringsIt) {
  HazardTracker tracker(1);
  tracker.next(Uses{write(kTransfer, 0, 0, 4)});
  EXPECT_THAT(tracker.next(Uses{read(kConditional, 0, 0, 4)}),
              Optional(Barrier{mask(kTransfer), mask(kTransfer), mask(kConditional)}));
}

TEST(HazardTracker, AShaderWriteAfterAPredicateWasReadWaitsForTheConditionalStage) {
  HazardTracker tracker(1);
  tracker.next(Uses{read(kConditional, 0, 0, 4)});
  EXPECT_THAT(tracker.next(Uses{write(kCompute, 0, 0, 4)}), Optional(Barrier{mask(kConditional), 0, mask(kCompute)}));
}

TEST(HazardTracker, APredicateReadAgainAtTheEndIsOrderedBeforeItsNextWriteThoughABarrierStoodBetween) {
  HazardTracker tracker(2);
  tracker.next(Uses{read(kConditional, 0, 0, 4)});  // the conditional begins
  tracker.next(Uses{write(kCompute, 1, 0, 64)});
  tracker.next(Uses{update(kCompute, 1, 0, 64)});  // a barrier between two dispatches of the body
  EXPECT_THAT(tracker.next(Uses{read(kConditional, 0, 0, 4)}), Eq(std::nullopt));  // it ends
  EXPECT_THAT(tracker.next(Uses{write(kCompute, 0, 0, 4)}),
              Optional(Barrier{StageMask(mask(kCompute) | mask(kConditional)), mask(kCompute), mask(kCompute)}));
}

TEST(HazardTracker, AnUpdateInPlaceDoesNotConflictWithItself) {
  HazardTracker tracker(1);
  EXPECT_THAT(tracker.next(Uses{update(kCompute, 0, 0, 64), read(kCompute, 0, 0, 64)}), Eq(std::nullopt));
}

TEST(HazardTracker, ABarrierCoversEverythingBeforeIt) {
  HazardTracker tracker(2);
  tracker.next(Uses{write(kCompute, 0, 0, 64)});
  tracker.next(Uses{write(kTransfer, 1, 0, 64)});
  const StageMask both = mask(kCompute) | mask(kTransfer);
  EXPECT_THAT(tracker.next(Uses{read(kCompute, 0, 0, 64)}), Optional(Barrier{both, both, mask(kCompute)}));
  EXPECT_THAT(tracker.next(Uses{read(kCompute, 1, 0, 64)}), Eq(std::nullopt));
}

TEST(HazardTracker, ABarrierForOneStageOrdersNoOther) {
  HazardTracker tracker(1);
  tracker.next(Uses{write(kCompute, 0, 0, 64)});
  EXPECT_THAT(tracker.next(Uses{read(kCompute, 0, 0, 64)}),
              Optional(Barrier{mask(kCompute), mask(kCompute), mask(kCompute)}));
  EXPECT_THAT(tracker.next(Uses{read(kIndirect, 0, 0, 12)}),
              Optional(Barrier{mask(kCompute), mask(kCompute), mask(kIndirect)}));
}

TEST(HazardTracker, AStageNeedsNoSecondBarrierForWhatItHasSeen) {
  HazardTracker tracker(1);
  tracker.next(Uses{write(kCompute, 0, 0, 64)});
  tracker.next(Uses{read(kCompute, 0, 0, 64)});
  tracker.next(Uses{read(kIndirect, 0, 0, 12)});
  EXPECT_THAT(tracker.next(Uses{read(kCompute, 0, 0, 64)}), Eq(std::nullopt));
  EXPECT_THAT(tracker.next(Uses{read(kIndirect, 0, 12, 24)}), Eq(std::nullopt));
}

TEST(HazardTracker, ACommandThatConflictsInTwoStagesTakesOneBarrierForBoth) {
  HazardTracker tracker(1);
  tracker.next(Uses{write(kCompute, 0, 0, 64)});
  EXPECT_THAT(tracker.next(Uses{update(kCompute, 0, 12, 64), read(kIndirect, 0, 0, 12)}),
              Optional(Barrier{mask(kCompute), mask(kCompute), StageMask(mask(kCompute) | mask(kIndirect))}));
}

TEST(HazardTracker, AWriteOrderedBehindAnotherStageIsStillOrderedBeforeItsOwn) {
  HazardTracker tracker(1);
  tracker.next(Uses{write(kCompute, 0, 0, 64)});
  tracker.next(Uses{read(kTransfer, 0, 0, 64)});
  EXPECT_THAT(tracker.next(Uses{write(kCompute, 0, 0, 64)}),
              Optional(Barrier{StageMask(mask(kCompute) | mask(kTransfer)), mask(kCompute), mask(kCompute)}));
}

TEST(HazardTracker, ACommandAfterABarrierIsTrackedItself) {
  HazardTracker tracker(1);
  tracker.next(Uses{write(kCompute, 0, 0, 64)});
  tracker.next(Uses{update(kCompute, 0, 0, 64)});
  EXPECT_THAT(tracker.next(Uses{read(kTransfer, 0, 0, 64)}),
              Optional(Barrier{mask(kCompute), mask(kCompute), mask(kTransfer)}));
}

TEST(HazardTracker, AnEmptyRangeConflictsWithNothing) {
  HazardTracker tracker(1);
  tracker.next(Uses{write(kTransfer, 0, 0, 64)});
  EXPECT_THAT(tracker.next(Uses{write(kTransfer, 0, 8, 8)}), Eq(std::nullopt));
}

TEST(RangeSet, MergesRangesThatTouch) {
  RangeSet set;
  set.insert(0, 4);
  set.insert(8, 12);
  EXPECT_FALSE(set.overlaps(4, 8));
  set.insert(4, 8);
  EXPECT_TRUE(set.overlaps(5, 6));
  EXPECT_FALSE(set.overlaps(12, 16));
}

TEST(RangeSet, AgreesWithABitmapOnRandomRanges) {
  RangeSet set;
  std::vector<bool> bitmap(512, false);
  uint32_t state = 1;
  const auto random = [&](uint32_t bound) { return (state = state * 1664525u + 1013904223u) >> 16 & (bound - 1); };
  for (int step = 0; step < 400; ++step) {
    const uint32_t begin = random(256), end = begin + random(8);
    const bool expected = std::find(bitmap.begin() + begin, bitmap.begin() + end, true) != bitmap.begin() + end;
    ASSERT_EQ(set.overlaps(begin, end), expected) << "step " << step;
    if (step % 4 != 0) continue;
    set.insert(begin, end);
    std::fill(bitmap.begin() + begin, bitmap.begin() + end, true);
  }
}

TEST(RangeSet, RoundsUpToTheHullWhenThereAreTooManyRanges) {
  RangeSet set;
  for (uint64_t i = 0; i <= RangeSet::kMaximum; ++i) set.insert(8 * i, 8 * i + 4);
  EXPECT_TRUE(set.overlaps(4, 8));
  EXPECT_FALSE(set.overlaps(8 * RangeSet::kMaximum + 4, 8 * RangeSet::kMaximum + 8));
}

}  // namespace
}  // namespace wavegate::device::vulkan
