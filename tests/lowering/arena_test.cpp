#include "wavegate/lowering/arena.h"

#include <gtest/gtest.h>

namespace wavegate::lowering {
namespace {

TEST(ArenaLayout, PacksScalarsThenControlWords) {
  ArenaLayout arena;
  EXPECT_EQ(arena.scalar_word(), 0u);
  EXPECT_EQ(arena.scalar_word(), 1u);
  EXPECT_EQ(arena.control_word(), 2u);
  EXPECT_EQ(arena.control_word(), 3u);
  EXPECT_EQ(arena.scalar_words(), 2u);
  EXPECT_EQ(arena.words(), 4u);
}

TEST(ArenaLayout, AlignsAScalarThatADescriptorBinds) {
  ArenaLayout arena;
  arena.scalar_word();
  EXPECT_EQ(arena.scalar_word(64), 16u);
  EXPECT_EQ(arena.scalar_word(), 17u);
  EXPECT_EQ(arena.scalar_word(4), 18u);
}

TEST(ArenaLayout, AlignsAControlWordInTheArenaNotInItsSection) {
  ArenaLayout arena;
  for (int i = 0; i < 3; ++i) arena.scalar_word();
  EXPECT_EQ(arena.control_word(16), 4u);
  EXPECT_EQ(arena.control_word(16), 8u);
  EXPECT_EQ(arena.control_word(), 9u);
  EXPECT_EQ(arena.scalar_words(), 3u);
  EXPECT_EQ(arena.words(), 10u);
}

}  // namespace
}  // namespace wavegate::lowering
