#include <gmock/gmock.h>

#include <random>

#include "amdgpu/wave/wave_testing.h"

namespace wavegate::amdgpu::wave::testing {
namespace {

class Twister : public ::testing::TestWithParam<const char*> {};

TEST_P(Twister, Mt19937OfAGroupIsThatOfTheStandardLibrary) {
  auto opened = Loaded::open_kernels("twister", GetParam());
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  constexpr std::uint32_t kGenerations = 17;
  std::vector<std::uint32_t> numbers(624 * kGenerations);
  const std::uint64_t out = (*opened)->map(numbers, "out");
  Options options;
  options.check = true;
  for (const std::uint32_t seed : {5489u, 0u, 20261201u}) {
    const auto report = run_kernel(**opened, {"twister", {256, 1, 1}, {256, 1, 1}}, {seed, kGenerations, out}, options);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_TRUE(report->findings.empty()) << report->findings[0].instruction << report->findings[0].detail;
    std::mt19937 reference(seed);
    for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], reference()) << i;
    // The standard of C++ names this one.
    if (seed == 5489) {
      EXPECT_EQ(numbers[9999], 4123659995u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Twister, kEveryTarget, [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
