#include <gmock/gmock.h>

#include <bit>
#include <cstring>
#include <numeric>

#include "amdgpu/wave/wave_testing.h"

namespace wavegate::amdgpu::wave::testing {
namespace {

using Words = std::vector<std::uint32_t>;

class Groups : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto opened = Loaded::open_kernels("groups", GetParam());
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    loaded_ = std::move(*opened);
    for (std::size_t i = 0; i < in_.size(); ++i) in_[i] = static_cast<std::uint32_t>(i * 2654435761u);
    x_ = loaded_->map(in_, "in");
    y_ = loaded_->map(out_, "out");
  }
  Report run(Launch launch, std::initializer_list<std::uint64_t> arguments, const Options& options = {}) {
    auto report = run_kernel(*loaded_, std::move(launch), arguments, options);
    EXPECT_TRUE(report.ok()) << report.error().to_string();
    return report.ok() ? *report : Report();
  }

  std::unique_ptr<Loaded> loaded_;
  Words in_ = Words(1024), out_ = Words(1024);
  std::uint64_t x_ = 0, y_ = 0;
};

std::uint32_t bits_of(float value) {
  std::uint32_t word;
  std::memcpy(&word, &value, 4);
  return word;
}

TEST_P(Groups, SaxpyLeavesAloneWhatIsBeyondItsSize) {
  for (std::size_t i = 0; i < 1000; ++i) in_[i] = bits_of(static_cast<float>(i)), out_[i] = bits_of(1.0f);
  const Report report = run({"saxpy", {1000, 1, 1}, {256, 1, 1}}, {900, bits_of(2.0f), x_, y_});
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.workgroups, 4u);
  for (std::size_t i = 0; i < 1000; ++i)
    ASSERT_EQ(out_[i], bits_of(i < 900 ? 2.0f * static_cast<float>(i) + 1.0f : 1.0f)) << i;
}

TEST_P(Groups, WavesExchangeThroughLdsAtBarriers) {
  run({"reverse", {1024, 1, 1}, {256, 1, 1}}, {x_, y_});
  for (std::size_t i = 0; i < 1024; ++i) ASSERT_EQ(out_[i], in_[i / 256 * 256 + 255 - i % 256]) << i;
}

TEST_P(Groups, AGroupAddsUpInATree) {
  run({"group_sum", {1024, 1, 1}, {256, 1, 1}}, {x_, y_});
  for (std::size_t group = 0; group < 4; ++group)
    EXPECT_EQ(out_[group], std::accumulate(in_.begin() + group * 256, in_.begin() + (group + 1) * 256, 0u));
}

TEST_P(Groups, AScanOfAGroupIsThatOfItsPrefixes) {
  run({"scan", {1024, 1, 1}, {256, 1, 1}}, {x_, y_});
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < 1024; ++i) {
    sum = i % 256 == 0 ? in_[i] : sum + in_[i];
    ASSERT_EQ(out_[i], sum) << i;
  }
}

TEST_P(Groups, AtomicsOfAllGroupsAddUp) {
  run({"histogram", {1024, 1, 1}, {128, 1, 1}}, {x_, y_});
  Words expected(16);
  for (const std::uint32_t word : in_) ++expected[word & 15];
  EXPECT_EQ(Words(out_.begin(), out_.begin() + 16), expected);
}

TEST_P(Groups, ACounterThatLanesShareGivesEachItsPlace) {
  Words counter(1);
  const std::uint64_t address = loaded_->map(counter, "counter");
  run({"append", {1024, 1, 1}, {128, 1, 1}}, {x_, address, y_});
  Words expected;
  for (const std::uint32_t word : in_)
    if ((word & 1) != 0) expected.push_back(word);
  ASSERT_EQ(counter[0], expected.size());
  Words got(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(expected.size()));
  EXPECT_THAT(got, ::testing::UnorderedElementsAreArray(expected));
}

TEST_P(Groups, WorkItemsOfTwoAndThreeDimensionsKnowTheirPlace) {
  run({"grid_ids", {10, 6, 3}, {4, 4, 2}}, {y_, 10, 6});
  for (std::uint32_t z = 0; z < 3; ++z)
    for (std::uint32_t y = 0; y < 6; ++y)
      for (std::uint32_t x = 0; x < 10; ++x) ASSERT_EQ(out_[(z * 6 + y) * 10 + x], x + 100 * y + 10000 * z);
}

TEST_P(Groups, ABpermuteReadsTheLaneThatItsAddressNames) {
  run({"permute", {32, 1, 1}, {32, 1, 1}}, {x_, y_});
  for (std::size_t i = 0; i < 32; ++i) ASSERT_EQ(out_[i], in_[(i * 7 + 3) % 32]) << i;
}

TEST_P(Groups, DppInPlaceReadsEveryLaneBeforeAnyIsWritten) {
  in_.assign(in_.size(), 1);
  run({"shift_rows", {64, 1, 1}, {64, 1, 1}}, {x_, y_});
  // Ones become sums of binomial coefficients.
  constexpr std::uint32_t kRow[16] = {1, 5, 11, 15, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16};
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(out_[i], kRow[i % 16]) << i;
}

TEST_P(Groups, MbcntAddsWhatItIsGivenAndFirstLanesAreTheWaves) {
  run({"first_lane", {32, 1, 1}, {32, 1, 1}}, {x_, y_});
  for (std::uint32_t i = 0; i < 32; ++i)
    ASSERT_EQ(out_[i], in_[0] + 5 + static_cast<std::uint32_t>(std::popcount(0x0f0fu & ((1u << i) - 1)))) << i;
}

TEST_P(Groups, ReadsBeyondABufferAreZeroAndReported) {
  out_.assign(out_.size(), 9);
  const Report report = run({"beyond_end", {64, 1, 1}, {64, 1, 1}}, {x_, y_, 1000});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kind, FindingKind::out_of_bounds_read);
  EXPECT_EQ(report.findings[0].address, x_ + 4096);
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(out_[i], i < 24 ? in_[1000 + i] : 0u) << i;
}

TEST_P(Groups, ARaceInLdsIsNamedWithBothInstructions) {
  Options options;
  options.check = true;
  const Report report = run({"race", {256, 1, 1}, {256, 1, 1}}, {y_}, options);
  const bool found = std::ranges::any_of(report.findings, [](const Finding& finding) {
    return finding.kind == FindingKind::lds_race && !finding.detail.empty();
  });
  EXPECT_TRUE(found);
}

TEST_P(Groups, AKernelThatDoesNotEndIsStopped) {
  Options options;
  options.maximum_instructions = 50;
  const auto report = run_kernel(*loaded_, {"mandelbrot", {256, 1, 1}, {256, 1, 1}}, {16, 16, 1000, y_}, options);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message, ::testing::HasSubstr("without an end"));
}

INSTANTIATE_TEST_SUITE_P(Targets, Groups, kEveryTarget, [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
