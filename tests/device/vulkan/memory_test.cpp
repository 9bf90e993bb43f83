#include "wavegate/device/vulkan/memory.h"

#include <gmock/gmock.h>

namespace wavegate::device::vulkan {
namespace {

using Needs = std::vector<Need>;

TEST(PlanBlocks, PacksBuffersOneAfterTheOther) {
  const BlockPlan plan = plan_blocks(Needs{{100, 64, 0}, {10, 64, 0}}, 1024);
  ASSERT_EQ(plan.blocks.size(), 1u);
  EXPECT_EQ(plan.placements[1].offset, 128u);
  EXPECT_EQ(plan.blocks[0].bytes, 138u);
}

TEST(PlanBlocks, StartsABlockWhenOneIsFull) {
  const BlockPlan plan = plan_blocks(Needs{{600, 64, 0}, {600, 64, 0}}, 1024);
  ASSERT_EQ(plan.blocks.size(), 2u);
  EXPECT_EQ(plan.placements[1].block, 1u);
  EXPECT_EQ(plan.placements[1].offset, 0u);
}

TEST(PlanBlocks, KeepsMemoryTypesApart) {
  const BlockPlan plan = plan_blocks(Needs{{8, 4, 0}, {8, 4, 1}, {8, 4, 0}}, 1024);
  ASSERT_EQ(plan.blocks.size(), 2u);
  EXPECT_EQ(plan.placements[2].block, 0u);
  EXPECT_EQ(plan.placements[2].offset, 8u);
}

TEST(PlanBlocks, GivesALargeBufferABlockOfItsOwn) {
  const BlockPlan plan = plan_blocks(Needs{{8, 4, 0}, {5000, 4, 0}}, 1024);
  ASSERT_EQ(plan.blocks.size(), 2u);
  EXPECT_EQ(plan.blocks[1].bytes, 5000u);
}

}  // namespace
}  // namespace wavegate::device::vulkan
