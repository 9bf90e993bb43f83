#include "wavegate/program/defined_values.h"

#include <gtest/gtest.h>

namespace wavegate::program {
namespace {

TEST(DefinedValues, BuffersAndScalarsAreTold) {
  DefinedValues values(70, 70);
  EXPECT_FALSE(values.has(Buffer{69}));
  values.add(Buffer{69});
  values.add(Scalar{3});
  for (uint32_t id = 0; id < 70; ++id) {
    EXPECT_EQ(values.has(Buffer{id}), id == 69);
    EXPECT_EQ(values.has(Scalar{id}), id == 3);
  }
  values.remove(Scalar{3});
  EXPECT_FALSE(values.has(Scalar{3}));
  EXPECT_TRUE(values.has(Buffer{69}));
}

TEST(DefinedValues, AMeetKeepsWhatBothHave) {
  DefinedValues a(2, 2), b(2, 2);
  a.add(Buffer{0});
  a.add(Scalar{1});
  b.add(Scalar{1});
  b.add(Scalar{0});
  a.meet(b);
  EXPECT_FALSE(a.has(Buffer{0}));
  EXPECT_FALSE(a.has(Scalar{0}));
  EXPECT_TRUE(a.has(Scalar{1}));
}

TEST(DefinedValues, WhereControlNeverGetsEverythingIsDefinedAndAMeetChangesNothing) {
  DefinedValues here(1, 1);
  here.add(Buffer{0});
  DefinedValues nowhere = here;
  nowhere.leave();
  EXPECT_FALSE(nowhere.reachable());
  EXPECT_TRUE(nowhere.has(Scalar{0}));
  here.meet(nowhere);
  EXPECT_TRUE(here.has(Buffer{0}));
  EXPECT_FALSE(here.has(Scalar{0}));
  nowhere.meet(here);
  EXPECT_TRUE(nowhere.reachable());
  EXPECT_TRUE(nowhere.has(Buffer{0}));
  EXPECT_FALSE(nowhere.has(Scalar{0}));
}

}  // namespace
}  // namespace wavegate::program
