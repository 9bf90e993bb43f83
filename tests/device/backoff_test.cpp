#include "wavegate/device/backoff.h"

#include <gmock/gmock.h>

namespace wavegate::device {
namespace {

using std::chrono::microseconds;

TEST(Backoff, NapsGrowWithTheWaitAndAreBounded) {
  EXPECT_EQ(nap_after(microseconds(0)), microseconds(20));
  EXPECT_EQ(nap_after(microseconds(3200)), microseconds(100));
  EXPECT_EQ(nap_after(microseconds(1000000)), microseconds(2000));
}

}  // namespace
}  // namespace wavegate::device
