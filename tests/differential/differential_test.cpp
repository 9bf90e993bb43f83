#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <ostream>
#include <string_view>

#include "device/small_devices.h"
#include "differential/compare.h"
#include "differential/print.h"
#include "differential/seeds.h"
#include "wavegate/api/engine.h"
#include "wavegate/device/vulkan/device.h"
#ifdef WAVEGATE_WEBGPU
#include "device/webgpu/open_for_test.h"
#endif

namespace wavegate::differential {
namespace {

constexpr uint32_t kShards = 10;

std::map<std::string, std::shared_ptr<device::Device>>& devices() {
  static std::map<std::string, std::shared_ptr<device::Device>> opened;
  return opened;
}

#ifdef WAVEGATE_WEBGPU
std::shared_ptr<device::Device> open_webgpu(bool validation) {
  auto device = device::webgpu::open_for_test(validation);
  if (device) return std::move(device).value();
  std::fprintf(stderr, "%s\n", device.error().to_string().c_str());
  return nullptr;
}
#endif

/// A device under test, opened once a process: the reference device, a small one, Vulkan with validation layers, or
/// WebGPU with its own validation or, as its users have it, without.
std::shared_ptr<device::Device> device_named(const std::string& name) {
  auto [place, is_new] = devices().try_emplace(name);
  if (!is_new) return place->second;
  if (auto small = device::small_device(name)) return place->second = std::move(small);
  if (name == "reference") return place->second = open_device(name).value();
#ifdef WAVEGATE_WEBGPU
  if (name.starts_with("webgpu")) return place->second = open_webgpu(name == "webgpu");
#endif
  device::vulkan::Options options;
  // A machine with a GPU may lack the layers; it says so itself with WAVEGATE_VALIDATION=0.
  const char* validation = std::getenv("WAVEGATE_VALIDATION");
  options.validation = validation == nullptr || std::string_view(validation) != "0";
  if (auto device = device::vulkan::open(options))
    place->second = std::move(device).value();
  else
    ADD_FAILURE() << device.error().to_string();
  return place->second;
}

struct Shard {
  std::string device;
  uint32_t index = 0;
};
void PrintTo(const Shard& shard, std::ostream* out) {
  *out << shard.device << " " << shard.index;
}

class Differential : public testing::TestWithParam<Shard> {
 protected:
  void SetUp() override {
    device_ = device_named(GetParam().device);
    if (device_ == nullptr && GetParam().device.starts_with("webgpu"))
      GTEST_SKIP() << "there is no WebGPU here, so that this is not tested; run tools/install_webgpu.sh";
    ASSERT_NE(device_, nullptr) << "device \"" << GetParam().device << "\" cannot be opened";
  }

  /// Calls `visit` with each case of this shard and what should come of it.
  template <typename Visit>
  void for_each_case(Visit&& visit) {
    for (uint64_t seed = kFirstSeed + GetParam().index; seed < kFirstSeed + kSeeds; seed += kShards) {
      const Case one = generate(seed);
      const Result<Expectation> expected = expect(one, device_->profile());
      ASSERT_TRUE(expected.ok()) << "seed " << seed << ": " << expected.error().to_string();
      visit(one, *expected);
      if (HasFatalFailure()) return;
    }
  }

  /// Notes that the subject ran, if the strategy that it forces took part.
  void judge(const Case& one, const Subject& subject, const Verdict& verdict) {
    ASSERT_NE(verdict.kind, Verdict::Kind::different)
        << "seed " << one.seed << ", " << subject.name << ": " << verdict.text << "\n"
        << print(one.program);
    const auto forced = subject.options.strategy;
    const bool took_part = !forced || verdict.strategies.contains(*forced);
    if (verdict.kind == Verdict::Kind::same && took_part) ++ran_[subject.name];
  }

  std::shared_ptr<device::Device> device_;
  Uses ran_;
};

using EveryStrategy = Differential;
using EveryStrategyWithLittle = Differential;
using AStrategyInTurn = Differential;

TEST_P(EveryStrategy, LeavesWhatTheProgramMeans) {
  for_each_case([&](const Case& one, const Expectation& expected) {
    for (const Subject& subject : subjects_of(one, device_)) {
      judge(one, subject, compare(one, expected, subject));
      if (HasFatalFailure()) return;
    }
  });
  // Each strategy meets its share of programs, or the tests of it say little: over all shards 15 % at least, here less.
  constexpr uint32_t programs = kSeeds / kShards;
  for (const lowering::StrategyInfo& row : lowering::strategies())
    EXPECT_GE(ran_[std::string(row.name)] * 100, programs * 4) << row.name;
  EXPECT_EQ(ran_["default"], programs);
  EXPECT_EQ(ran_["mixed"], programs);
}

// What does not fit a device is done in another way or refused by name: of each strategy some programs must be left,
// and of the default choice all.
TEST_P(EveryStrategyWithLittle, LeavesWhatTheProgramMeansOrIsRefused) {
  for_each_case([&](const Case& one, const Expectation& expected) {
    for (const Subject& subject : subjects_of(one, device_)) {
      judge(one, subject, compare(one, expected, subject));
      if (HasFatalFailure()) return;
    }
  });
  constexpr uint32_t programs = kSeeds / kShards;
  for (const lowering::StrategyInfo& row : lowering::strategies())
    EXPECT_GE(ran_[std::string(row.name)], 1u) << row.name;
  EXPECT_EQ(ran_["default"], programs);
}

// Building the pipelines of one program takes a software driver longer than all else here.
TEST_P(AStrategyInTurn, LeavesWhatTheProgramMeans) {
  Uses uses;
  for_each_case([&](const Case& one, const Expectation& expected) {
    const std::vector<Subject> subjects = subjects_of(one, device_);
    const auto [subject, verdict] = compare_one(one, expected, subjects, uses);
    judge(one, *subject, verdict);
  });
  uint64_t all = 0;
  for (const auto& [name, times] : ran_) all += times;
  EXPECT_GE(all * 100, uint64_t{kSeeds} / kShards * 90);
  const bool has_predication = device_->profile().features.conditional_rendering;
  for (const lowering::StrategyInfo& row : lowering::strategies()) {
    if (row.strategy == lowering::Strategy::predication && !has_predication) continue;
    EXPECT_GE(ran_[std::string(row.name)], 1u) << row.name;
  }
}

std::vector<Shard> shards(const std::string& device, uint32_t count = kShards) {
  std::vector<Shard> all;
  for (uint32_t i = 0; i < count; ++i) all.push_back({device, i});
  return all;
}
std::vector<Shard> small_shards() {
  std::vector<Shard> all;
  for (const device::SmallDevice& each : device::kSmallDevices)
    for (uint32_t i = 0; i < 2; ++i) all.push_back({std::string(each.name), i});
  return all;
}
std::string name_of(const testing::TestParamInfo<Shard>& shard) {
  return shard.param.device + "_" + std::to_string(shard.param.index);
}

INSTANTIATE_TEST_SUITE_P(Shards, EveryStrategy, testing::ValuesIn(shards("reference")), name_of);
// A shard of the seeds each: what is little is not where the programs differ.
INSTANTIATE_TEST_SUITE_P(Shards, EveryStrategyWithLittle, testing::ValuesIn(small_shards()), name_of);
INSTANTIATE_TEST_SUITE_P(Shards, AStrategyInTurn, testing::ValuesIn(shards("vulkan")), name_of);
#ifdef WAVEGATE_WEBGPU
INSTANTIATE_TEST_SUITE_P(WebGpu, AStrategyInTurn, testing::ValuesIn(shards("webgpu", 3)), name_of);
INSTANTIATE_TEST_SUITE_P(WebGpuWithoutValidation, AStrategyInTurn, testing::ValuesIn(shards("webgpu_unchecked", 1)),
                         name_of);
#endif

/// Runs after all tests: what the validation layers said of them.
class NoValidationMessages : public testing::Environment {
 public:
  void TearDown() override {
    if (const auto found = devices().find("vulkan"); found != devices().end() && found->second != nullptr) {
      EXPECT_EQ(device::vulkan::validation_messages(*found->second), 0u);
    }
    devices().clear();
  }
};
const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new NoValidationMessages);

}  // namespace
}  // namespace wavegate::differential
