#include "wavegate/device/vulkan/pending_writes.h"

#include "device/vulkan/test_device.h"

namespace wavegate::device::vulkan {
namespace {

using testing::ElementsAre;

TEST(StagedPieces, ARangeInsideAChunkIsOnePiece) {
  EXPECT_THAT(staged_pieces(16, 84, 100), ElementsAre(StagedPiece{0, 16, 0, 84}));
}

TEST(StagedPieces, ARangeOverThreeChunksIsThreePieces) {
  EXPECT_THAT(staged_pieces(190, 120, 100),
              ElementsAre(StagedPiece{1, 90, 0, 10}, StagedPiece{2, 0, 10, 100}, StagedPiece{3, 0, 110, 10}));
}

class PendingWritesTest : public VulkanTest {};

TEST_F(PendingWritesTest, ContentsLargerThanAChunkArriveWhole) {
  TestGraph graph("large");
  const size_t count = (size_t{5} << 20) + 3;  // 20 MiB
  std::vector<uint32_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<uint32_t>(i * 2654435761u);
  graph.buffer<uint32_t>("before", std::vector<uint32_t>(2000, 1));
  const auto out = graph.output(graph.buffer("out", values));
  const auto executable = must(device().load(graph.get()));
  ASSERT_OK(executable->run());
  EXPECT_TRUE(read_all<uint32_t>(*executable, out, count) == values);
}

}  // namespace
}  // namespace wavegate::device::vulkan
