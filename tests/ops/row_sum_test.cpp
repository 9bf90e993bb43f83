#include "wavegate/ops/row_sum.h"

#include <gmock/gmock.h>

namespace wavegate::ops {
namespace {

TEST(RowShape, HasMoreTheLongerTheRows) {
  uint32_t parts = 1;
  for (uint32_t average = 0; average < 200; ++average) {
    const RowShape shape = choose_row_shape(1000, 1000 * average);
    EXPECT_GE(shape.parts, parts) << average;
    EXPECT_EQ(shape.parts * shape.rows_per_block(), kSlots);
    parts = shape.parts;
  }
  EXPECT_EQ(choose_row_shape(1000, 7000).parts, 1u);
  EXPECT_EQ(parts, 16u);
}

TEST(RowShape, OfNoRowsIsThatOfShortOnes) {
  EXPECT_EQ(choose_row_shape(0, 0), RowShape{1});
}

}  // namespace
}  // namespace wavegate::ops
