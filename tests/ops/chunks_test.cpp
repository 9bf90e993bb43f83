#include "wavegate/ops/chunks.h"

#include <gmock/gmock.h>

namespace wavegate::ops {
namespace {

TEST(Chunks, CoverTheElementsWithWholeBlocksAndNoEmptyChunk) {
  for (const uint32_t elements : {1u, 15u, 16u, 255u, 256u, 257u, 1u << 20, (1u << 20) + 1, 16777216u, 2147483647u})
    for (const uint32_t block : {16u, 64u, 256u}) {
      const Chunks chunks = chunks_of(elements, block);
      EXPECT_LE(chunks.count, kMaximumChunks);
      EXPECT_EQ(chunks.elements_per_chunk % block, 0u);
      EXPECT_GE(uint64_t{chunks.count} * chunks.elements_per_chunk, elements);
      EXPECT_LT(uint64_t{chunks.count - 1} * chunks.elements_per_chunk, elements);
    }
}

TEST(Chunks, AreBlocksWhileThereAreFew) {
  EXPECT_EQ(chunks_of(1000, 256).elements_per_chunk, 256u);
  EXPECT_EQ(chunks_of(1000, 256).count, 4u);
  EXPECT_EQ(chunks_of(1000, 256, 3).count, 2u);
}

}  // namespace
}  // namespace wavegate::ops
