#include "wavegate/target/typical_costs.h"

#include <gmock/gmock.h>

namespace wavegate::target {
namespace {

Profile profile_of(std::string backend, bool is_cpu) {
  Profile profile;
  profile.backend = std::move(backend);
  profile.is_cpu = is_cpu;
  return profile;
}

TEST(TypicalCosts, AreThoseOfTheKindOfDevice) {
  EXPECT_EQ(typical_costs(profile_of("vulkan", false)).dispatch, Costs{}.dispatch);
  EXPECT_EQ(typical_costs(profile_of("vulkan", true)).dispatch, Costs::of_cpu().dispatch);
  EXPECT_EQ(typical_costs(profile_of("webgpu", true)).dispatch, Costs::of_cpu().dispatch);
}

TEST(TypicalCosts, MakeAGridThatAKernelWroteDearOnAPage) {
  Profile page = profile_of("webgpu", false);
  EXPECT_EQ(typical_costs(page).indirect, Costs{}.indirect);  // an API that checks nothing
  page.features.checks_indirect = true;
  const Costs costs = typical_costs(page);
  // 16,384 workgroups that return at once are cheaper than one dispatch whose grid is checked.
  EXPECT_LT(costs.dispatch + 16383 * costs.workgroup_out, costs.indirect_empty);
}

TEST(TypicalCosts, AreNotSaidToBeMeasured) {
  for (const char* backend : {"vulkan", "webgpu"}) EXPECT_FALSE(typical_costs(profile_of(backend, false)).measured);
}

}  // namespace
}  // namespace wavegate::target
