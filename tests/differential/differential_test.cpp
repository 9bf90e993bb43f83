#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <string_view>

#include "differential/compare.h"
#include "differential/print.h"
#include "differential/seeds.h"
#include "wavegate/api/engine.h"
#include "wavegate/device/vulkan/device.h"

namespace wavegate::differential {
namespace {

constexpr uint32_t kShards = 10;

std::map<std::string, std::shared_ptr<device::Device>>& devices() {
  static std::map<std::string, std::shared_ptr<device::Device>> opened;
  return opened;
}

/// A device under test, opened once a process: the reference device, or Vulkan with validation layers.
std::shared_ptr<device::Device> device_named(const std::string& name) {
  auto [place, is_new] = devices().try_emplace(name);
  if (!is_new) return place->second;
  if (name == "reference") return place->second = open_device(name).value();
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

class Differential : public testing::TestWithParam<Shard> {};

TEST_P(Differential, EveryStrategyLeavesWhatTheProgramMeans) {
  const std::shared_ptr<device::Device> device = device_named(GetParam().device);
  ASSERT_NE(device, nullptr) << "device \"" << GetParam().device << "\" cannot be opened";
  std::map<std::string, uint32_t> ran;
  uint32_t programs = 0;
  for (uint64_t seed = kFirstSeed + GetParam().index; seed < kFirstSeed + kSeeds; seed += kShards) {
    const Case one = generate(seed);
    const Result<Expectation> expected = expect(one, device->profile());
    ASSERT_TRUE(expected.ok()) << "seed " << seed << ": " << expected.error().to_string();
    ++programs;
    for (const Subject& subject : subjects_of(one, device)) {
      const Verdict verdict = compare(one, *expected, subject);
      ASSERT_NE(verdict.kind, Verdict::Kind::different)
          << "seed " << seed << ", " << subject.name << ": " << verdict.text << "\n"
          << print(one.program);
      const auto forced = subject.options.strategy;
      const bool took_part = !forced || verdict.strategies.contains(*forced);
      if (verdict.kind == Verdict::Kind::same && took_part) ++ran[subject.name];
    }
  }
  EXPECT_EQ(programs, kSeeds / kShards);
  // Each strategy meets its share of programs, or the tests of it say little.
  for (const lowering::StrategyInfo& row : lowering::strategies())
    EXPECT_GE(ran[std::string(row.name)] * 100, programs * 15) << row.name;
  EXPECT_EQ(ran["default"], programs);
  EXPECT_EQ(ran["mixed"], programs);
}

std::vector<Shard> shards() {
  std::vector<Shard> all;
  for (const char* device : {"reference", "vulkan"})
    for (uint32_t i = 0; i < kShards; ++i) all.push_back({device, i});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shards, Differential, testing::ValuesIn(shards()), [](const auto& shard) {
  return shard.param.device + "_" + std::to_string(shard.param.index);
});

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
