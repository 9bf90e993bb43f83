#include "wavegate/device/schedule.h"

#include <gmock/gmock.h>

namespace wavegate::device {
namespace {

using testing::Eq;
using testing::Optional;

graph::Loop loop(std::optional<uint64_t> maximum = std::nullopt) {
  graph::Loop loop;
  loop.maximum = maximum;
  return loop;  // chunks of 4 to 64
}

/// A schedule of loops with nothing around them. Keeps its graph.
struct Loops {
  graph::Graph graph;
  explicit Loops(const std::vector<graph::Loop>& loops) {
    for (const graph::Loop& each : loops) graph.commands.push_back(std::make_shared<const graph::Loop>(each));
  }
  Schedule schedule() const { return Schedule(graph); }
};

Piece part(size_t index) {
  return {Piece::Kind::part, index, 0};
}
Piece chunk(size_t loop, uint32_t runs) {
  return {Piece::Kind::chunk, loop, runs};
}

TEST(Schedule, AGraphWithoutLoopsIsOneBatchThatNobodyLooksAt) {
  const Loops loops({});
  Schedule schedule = loops.schedule();
  EXPECT_THAT(schedule.next(), Optional(Batch{{part(0)}}));
  EXPECT_TRUE(schedule.is_submitted());
  EXPECT_THAT(schedule.next(), Eq(std::nullopt));
}

TEST(Schedule, ALoopStartsWithTwoChunksOfWhichTheFirstGoesWithWhatStandsBeforeIt) {
  const Loops loops({loop()});
  Schedule schedule = loops.schedule();
  EXPECT_THAT(schedule.next(), Optional(Batch{{part(0), chunk(0, 4)}, 0}));
  EXPECT_THAT(schedule.next(), Optional(Batch{{chunk(0, 4)}, 0}));
  EXPECT_THAT(schedule.next(), Eq(std::nullopt));
  EXPECT_FALSE(schedule.is_submitted());
}

TEST(Schedule, EachChunkThatEndsIsFollowedByOneAsLargeAsAllBeforeItUpToTheLargest) {
  const Loops loops({loop()});
  Schedule schedule = loops.schedule();
  schedule.next();
  schedule.next();
  for (const uint32_t runs : {8u, 16u, 32u, 64u, 64u}) {
    schedule.ended(0, false);
    EXPECT_THAT(schedule.next(), Optional(Batch{{chunk(0, runs)}, 0}));
    EXPECT_THAT(schedule.next(), Eq(std::nullopt));
  }
}

TEST(Schedule, ChunksAreLargerOnceTheyAreLittleAgainstWhatWasRun) {
  const Loops loops({loop()});
  Schedule schedule = loops.schedule();
  uint64_t runs = 0;
  uint32_t last = 0;
  for (uint32_t chunks = 0; chunks < 100; ++chunks) {
    const auto batch = schedule.next();
    if (!batch) {
      schedule.ended(0, false);
      continue;
    }
    last = batch->pieces.back().runs;
    EXPECT_EQ(last > 64, runs >= 16 * 128) << runs;
    EXPECT_LE(last, 128u);
    runs += last;
  }
  EXPECT_EQ(last, 128u);
}

TEST(Schedule, WhenALoopIsDoneTheEndFollowsAtOnce) {
  const Loops loops({loop()});
  Schedule schedule = loops.schedule();
  schedule.next();
  schedule.next();
  schedule.ended(0, true);
  EXPECT_THAT(schedule.next(), Optional(Batch{{part(1)}}));
  EXPECT_TRUE(schedule.is_submitted());
}

TEST(Schedule, WhatIsStillInFlightOfADoneLoopChangesNothing) {
  const Loops loops({loop(), loop()});
  Schedule schedule = loops.schedule();
  schedule.next();
  schedule.next();
  schedule.ended(0, true);
  EXPECT_FALSE(schedule.is_open(0));
  schedule.ended(0, true);
  EXPECT_THAT(schedule.next(), Optional(Batch{{part(1), chunk(1, 4)}, 1}));
  EXPECT_THAT(schedule.next(), Optional(Batch{{chunk(1, 4)}, 1}));
  EXPECT_TRUE(schedule.is_open(1));
}

TEST(Schedule, ABoundThatTheFirstTwoChunksReachNeedsNoLook) {
  for (const uint64_t maximum : {5u, 8u}) {
    const Loops loops({loop(maximum)});
    Schedule schedule = loops.schedule();
    const auto rest = static_cast<uint32_t>(maximum - 4);
    EXPECT_THAT(schedule.next(), Optional(Batch{{part(0), chunk(0, 4), chunk(0, rest), part(1)}}));
    EXPECT_TRUE(schedule.is_submitted());
  }
}

TEST(Schedule, ABoundJustBeyondTheFirstTwoChunksNeedsOneLook) {
  const Loops loops({loop(9)});
  Schedule schedule = loops.schedule();
  EXPECT_THAT(schedule.next(), Optional(Batch{{part(0), chunk(0, 4)}, 0}));
  EXPECT_THAT(schedule.next(), Optional(Batch{{chunk(0, 4)}, 0}));
  EXPECT_THAT(schedule.next(), Eq(std::nullopt));
  schedule.ended(0, false);
  EXPECT_THAT(schedule.next(), Optional(Batch{{chunk(0, 1), part(1)}}));
  EXPECT_TRUE(schedule.is_submitted());
  EXPECT_FALSE(schedule.is_open(0));
}

TEST(Schedule, ABoundSmallerThanTheFirstChunkIsKept) {
  const Loops loops({loop(3)});
  EXPECT_THAT(loops.schedule().next(), Optional(Batch{{part(0), chunk(0, 3), part(1)}}));
}

TEST(Schedule, ALoopThatMayNotRunIsLeftOut) {
  const Loops loops({loop(0), loop(2)});
  EXPECT_THAT(loops.schedule().next(), Optional(Batch{{part(0), part(1), chunk(1, 2), part(2)}}));
}

TEST(Schedule, ABoundOfAllTheRunsThereAreDoesNotOverflow) {
  const Loops loops({loop(~uint64_t{0})});
  Schedule schedule = loops.schedule();
  EXPECT_THAT(schedule.next(), Optional(Batch{{part(0), chunk(0, 4)}, 0}));
}

TEST(Schedule, ChunksOfOneRunStayWithinALargestOfOne) {
  graph::Loop small = loop();
  small.first_chunk = small.largest_chunk = 1;
  const Loops loops({small});
  Schedule schedule = loops.schedule();
  EXPECT_THAT(schedule.next(), Optional(Batch{{part(0), chunk(0, 1)}, 0}));
  EXPECT_THAT(schedule.next(), Optional(Batch{{chunk(0, 1)}, 0}));
}

TEST(Schedule, ABoundlessLoopAfterABoundedOneHasItsOwnChunksInFlight) {
  const Loops loops({loop(9), loop()});
  Schedule schedule = loops.schedule();
  schedule.next();
  schedule.next();
  schedule.ended(0, false);
  EXPECT_THAT(schedule.next(), Optional(Batch{{chunk(0, 1), part(1), chunk(1, 4)}, 1}));
  EXPECT_THAT(schedule.next(), Optional(Batch{{chunk(1, 4)}, 1}));
  schedule.ended(0, true);  // the second chunk of the first loop
  EXPECT_THAT(schedule.next(), Eq(std::nullopt));
}

}  // namespace
}  // namespace wavegate::device
