#include "wavegate/kir/float16.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace wavegate::kir {
namespace {

TEST(Float16, every_number_survives_the_way_through_double) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double value = float16_to_double(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(double_to_float16(value), bits);
  }
}

struct Rounding {
  double value;
  uint16_t bits;
};

class Roundings : public testing::TestWithParam<Rounding> {};

TEST_P(Roundings, go_to_nearest_with_ties_to_even) {
  EXPECT_EQ(double_to_float16(GetParam().value), GetParam().bits);
}

INSTANTIATE_TEST_SUITE_P(
    Float16, Roundings,
    testing::Values(Rounding{1.0, 0x3c00}, Rounding{-2.0, 0xc000}, Rounding{0.1, 0x2e66}, Rounding{-0.0, 0x8000},
                    Rounding{1.0 + 0x1p-11, 0x3c00}, Rounding{1.0 + 0x1p-11 + 0x1p-40, 0x3c01},
                    Rounding{1.0 + 0x3p-11, 0x3c02}, Rounding{2.0 - 0x1p-12, 0x4000}, Rounding{65504, 0x7bff},
                    Rounding{65519.99, 0x7bff}, Rounding{65520, 0x7c00}, Rounding{-1e300, 0xfc00},
                    Rounding{0x1p-14, 0x0400}, Rounding{0x1p-24, 0x0001}, Rounding{0x1p-25, 0x0000},
                    Rounding{0x1.000001p-25, 0x0001}, Rounding{0x1.8p-24, 0x0002}, Rounding{0x1p-14 - 0x1p-26, 0x0400},
                    Rounding{5e-324, 0x0000}, Rounding{std::numeric_limits<double>::infinity(), 0x7c00}));

TEST(Float16, a_nan_stays_a_nan) {
  EXPECT_TRUE(std::isnan(float16_to_double(double_to_float16(std::numeric_limits<double>::quiet_NaN()))));
}

}  // namespace
}  // namespace wavegate::kir
