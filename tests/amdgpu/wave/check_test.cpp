#include <gmock/gmock.h>

#include <numeric>

#include "amdgpu/wave/wave_testing.h"

/// What the checks report of the kernels of checks.cl, and what they do not.
namespace wavegate::amdgpu::wave::testing {
namespace {

using Words = std::vector<std::uint32_t>;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class Check : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto opened = Loaded::open_kernels("checks", GetParam());
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    loaded_ = std::move(*opened);
    std::iota(in_.begin(), in_.end(), 1000u);
    x_ = loaded_->map(in_, "in");
    y_ = loaded_->map(out_, "out");
  }
  std::vector<Finding> findings(Launch launch, std::initializer_list<std::uint64_t> arguments) {
    Options options;
    options.check = true;
    const auto report = run_kernel(*loaded_, std::move(launch), arguments, options);
    EXPECT_TRUE(report.ok()) << report.error().to_string();
    return report.ok() ? report->findings : std::vector<Finding>();
  }
  void expect_none(Launch launch, std::initializer_list<std::uint64_t> arguments) {
    for (const Finding& finding : findings(std::move(launch), arguments)) ADD_FAILURE() << to_string(finding);
  }
  unsigned lanes() const { return std::string(GetParam()).ends_with("w32") ? 32 : 64; }

  std::unique_ptr<Loaded> loaded_;
  Words in_ = Words(1024), out_ = Words(1024);
  std::uint64_t x_ = 0, y_ = 0;
};

// rocSPARSE's bsrxmvn_5x5: what is right in a wave of 64 lanes is a race between two of 32.
TEST_P(Check, SumsByHalvesWithoutBarriersRaceWhereTwoWavesShareThem) {
  const std::vector<Finding> found = findings({"half_sums", {50, 1, 1}, {50, 1, 1}}, {x_, y_});
  if (lanes() == 64) {
    EXPECT_TRUE(found.empty()) << to_string(found[0]);
    for (std::uint32_t i = 0; i < 5; ++i)
      EXPECT_EQ(out_[i], in_[5 * i] + in_[5 * i + 25] + in_[5 * i + 1] + in_[5 * i + 26]);
    return;
  }
  ASSERT_EQ(found.size(), 1u);
  const Finding& race = found[0];
  EXPECT_EQ(race.kind, FindingKind::lds_race);
  EXPECT_EQ(race.wave, 1u);
  // The second wave writes a slot that the first has read, the slots being those of items 32 to 49.
  EXPECT_EQ(race.access, AccessKind::write);
  EXPECT_THAT(race.instruction, MatchesRegex("ds_(write|store)_b32 .*"));
  EXPECT_EQ(race.address, 32u * 4);
  ASSERT_TRUE(race.other);
  EXPECT_EQ(race.other->kind, AccessKind::read);
  EXPECT_EQ(race.other->wave, 0u);
  EXPECT_THAT(race.other->instruction, MatchesRegex("ds_(read2|load_2addr)_b32 .*offset1:25"));
  EXPECT_GT(race.other->offset, race.offset);
  EXPECT_THAT(race.detail, HasSubstr(format("write after the read at {:#x} (", race.other->offset)));
}

TEST_P(Check, AnOffsetComesWithFileAndLineWhereTheObjectHasThem) {
  const std::vector<Finding> found = findings({"same_bytes", {256, 1, 1}, {256, 1, 1}}, {y_});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::global_race);
  EXPECT_THAT(found[0].file, ::testing::EndsWith("checks.cl"));
  // Of which the test's name says what it holds.
  std::ifstream source(WAVEGATE_SOURCE_DIR "/tests/amdgpu/wave/kernels/checks.cl");
  std::string text;
  for (std::uint32_t i = 0; i < found[0].line; ++i) std::getline(source, text);
  EXPECT_THAT(text, HasSubstr("kernel void same_bytes"));
  EXPECT_THAT(to_string(found[0]), HasSubstr(format("; {}:{})", found[0].file, found[0].line)));
}

TEST_P(Check, WavesThatWriteOtherBytesOfAWordDoNotRace) {
  expect_none({"bytes", {256, 1, 1}, {256, 1, 1}}, {y_});
}

TEST_P(Check, ScratchMemoryThatTheNextGroupReusesIsNoRace) {
  expect_none({"scratch_of_groups", {512, 1, 1}, {64, 1, 1}}, {5, y_});
  for (std::uint32_t i = 0; i < 512; ++i) ASSERT_EQ(out_[i], i + 5) << i;
}

TEST_P(Check, ADivisionOfDoublesUsesNoRegisterThatNothingWrote) {
  std::vector<double> values(257);
  std::iota(values.begin(), values.end(), 1.0);
  std::vector<double> quotients(256);
  const std::uint64_t x = loaded_->memory.map(std::as_writable_bytes(std::span(values)), "values");
  const std::uint64_t y = loaded_->memory.map(std::as_writable_bytes(std::span(quotients)), "quotients");
  expect_none({"quotient", {256, 1, 1}, {64, 1, 1}}, {x, y});
  for (std::size_t i = 0; i < 256; ++i) ASSERT_EQ(quotients[i], values[i] / values[i + 1]);
}

TEST_P(Check, WhatAPackedOperationDoesNotSelectIsNotUsed) {
  expect_none({"packed_product", {64, 1, 1}, {64, 1, 1}}, {y_});
}

TEST_P(Check, AFunctionMaySaveRegistersThatItsCallerNeverWrote) {
  expect_none({"calls", {64, 1, 1}, {64, 1, 1}}, {3, y_});
  for (std::uint32_t i = 0; i < 64; ++i) ASSERT_EQ(out_[i], (i ^ 5) + 3) << i;
}

TEST_P(Check, ARegisterThatNothingWroteIsReportedWhereItIsUsed) {
  const std::vector<Finding> found = findings({"undefined_use", {64, 1, 1}, {64, 1, 1}}, {y_});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::uninitialised_register);
  EXPECT_THAT(found[0].instruction, MatchesRegex("v_xor_b32(_e32)? v[0-9]+, v60, v60"));
  EXPECT_EQ(found[0].detail, "v60");
}

TEST_P(Check, ACopyOfWhatNothingWroteIsReportedWhereItIsUsed) {
  const std::vector<Finding> found = findings({"undefined_copy", {64, 1, 1}, {64, 1, 1}}, {y_});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::uninitialised_register);
  EXPECT_THAT(found[0].instruction, HasSubstr("add"));
  EXPECT_THAT(found[0].instruction, HasSubstr("1"));
}

TEST_P(Check, AnOffsetInACalledFunctionIsTheFunctions) {
  const std::vector<Finding> found = findings({"calls_beyond", {64, 1, 1}, {64, 1, 1}}, {2000, y_});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::out_of_bounds_write);
  EXPECT_EQ(found[0].function, "beyond");
  EXPECT_LT(found[0].offset, 64u);
  EXPECT_THAT(to_string(found[0]), HasSubstr(format("out-of-bounds write at beyond+{:#x} (", found[0].offset)));
}

TEST_P(Check, AtomicLoadsDoNotRaceWithAtomics) {
  expect_none({"atomic_counter", {256, 1, 1}, {64, 1, 1}}, {x_, y_});
  EXPECT_EQ(in_[0], 1256u);
}

TEST_P(Check, APlainLoadRacesWithTheAtomicsOfOtherGroups) {
  const std::vector<Finding> found = findings({"plain_counter", {256, 1, 1}, {64, 1, 1}}, {x_, y_});
  ASSERT_FALSE(found.empty());
  for (const Finding& finding : found) {
    EXPECT_EQ(finding.kind, FindingKind::global_race);
    ASSERT_TRUE(finding.other);
    EXPECT_TRUE(finding.access == AccessKind::atomic || finding.other->kind == AccessKind::atomic);
  }
}

TEST_P(Check, AnAtomicOfOnesOwnDoesNotHideAnothersFromAPlainLoad) {
  const std::vector<Finding> found = findings({"count_and_look", {64, 1, 1}, {32, 1, 1}}, {x_, y_});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::global_race);
  EXPECT_EQ(found[0].access, AccessKind::read);
  ASSERT_TRUE(found[0].other);
  EXPECT_EQ(found[0].other->kind, AccessKind::atomic);
  EXPECT_EQ(found[0].other->group, 0u);
}

TEST_P(Check, AccessesForWhichRacesAreNotLookedForAreCountedAndFound) {
  Options options;
  options.check = true;
  for (const bool suffices : {true, false}) {
    if (!suffices) options.maximum_checked_words = 16;
    const auto report = run_kernel(*loaded_, {"calls", {64, 1, 1}, {64, 1, 1}}, {3, y_}, options);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    if (suffices) {
      EXPECT_EQ(report->unwatched_accesses, 0u);
      EXPECT_TRUE(report->findings.empty());
      continue;
    }
    // 64 words are stored, of which at most 16 find room.
    EXPECT_GE(report->unwatched_accesses, 48u);
    ASSERT_EQ(report->findings.size(), 1u);
    EXPECT_EQ(report->findings[0].kind, FindingKind::unwatched_accesses);
    EXPECT_EQ(report->findings[0].occurrences, report->unwatched_accesses);
    EXPECT_THAT(to_string(report->findings[0]), HasSubstr("unwatched accesses at "));
  }
}

TEST_P(Check, AFirstGuessOfACompareAndSwapIsNoRace) {
  expect_none({"guessed_counter", {256, 1, 1}, {128, 1, 1}}, {x_, y_});
  EXPECT_EQ(in_[0], 1000u + 2 * 127 * 64);
}

TEST_P(Check, AStoreRacesWithAtomicsOfOtherWaves) {
  const std::vector<Finding> found = findings({"unset_counter", {256, 1, 1}, {256, 1, 1}}, {y_});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FindingKind::lds_race);
  EXPECT_EQ(found[0].access, AccessKind::atomic);
  EXPECT_EQ(found[0].other->kind, AccessKind::write);
}

// chipStar #1409 and shadPS4: LDS that waves share without barriers was recognised by a list of names, or only in
// groups of one wave.
TEST_P(Check, WaveSynchronousLdsIsExactInGroupsOfSeveralWavesAndNoRace) {
  expect_none({"wave_sums", {512, 1, 1}, {256, 1, 1}}, {lanes(), x_, y_});
  for (std::size_t i = 0; i < 512; ++i) {
    const auto first = in_.begin() + static_cast<std::ptrdiff_t>(i / lanes() * lanes());
    ASSERT_EQ(out_[i], std::accumulate(first, first + lanes(), 0u)) << i;
  }
}
// Across waves it is neither.
TEST_P(Check, WaveSynchronousLdsThatCrossesWavesIsARace) {
  const std::vector<Finding> found = findings({"wave_sums", {512, 1, 1}, {256, 1, 1}}, {2 * lanes(), x_, y_});
  ASSERT_FALSE(found.empty());
  for (const Finding& finding : found) EXPECT_EQ(finding.kind, FindingKind::lds_race) << to_string(finding);
}

INSTANTIATE_TEST_SUITE_P(Targets, Check, kEveryTarget, [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
