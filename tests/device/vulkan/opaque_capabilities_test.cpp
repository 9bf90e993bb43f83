#include "wavegate/device/vulkan/opaque_capabilities.h"

#include <gmock/gmock.h>

#include <spirv/unified1/spirv.hpp11>
#include <vector>

namespace wavegate::device::vulkan {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A module of no more than its header and capabilities.
std::vector<uint32_t> module_with(const std::vector<spv::Capability>& capabilities, uint32_t version = 0x10500) {
  std::vector<uint32_t> words = {spv::MagicNumber, version, 0, 1, 0};
  for (const spv::Capability capability : capabilities) {
    words.push_back(2u << spv::WordCountShift | static_cast<uint32_t>(spv::Op::OpCapability));
    words.push_back(static_cast<uint32_t>(capability));
  }
  return words;
}

std::string outcome(const Result<void>& result) {
  return result.ok() ? "ok" : result.error().to_string();
}

TEST(OpaqueCapabilities, ThoseOfEveryDeviceAreAccepted) {
  EXPECT_EQ(outcome(check_capabilities(module_with({spv::Capability::Shader, spv::Capability::Matrix}), {}, {}, "k")),
            "ok");
}

TEST(OpaqueCapabilities, OneNeedsItsFeature) {
  const auto words = module_with({spv::Capability::Shader, spv::Capability::Float64});
  const auto refused = check_capabilities(words, {}, {}, "k");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("kernel \"k\""), HasSubstr("Float64")));
  EnabledFeatures enabled;
  enabled.shader_float64 = true;
  EXPECT_EQ(outcome(check_capabilities(words, enabled, {}, "k")), "ok");
}

TEST(OpaqueCapabilities, ASubgroupOperationNeedsToBeSupportedInComputeKernels) {
  const auto words = module_with({spv::Capability::GroupNonUniformClustered});
  PhysicalDevice device;
  device.vulkan11.subgroupSupportedOperations = VK_SUBGROUP_FEATURE_CLUSTERED_BIT;
  EXPECT_THAT(outcome(check_capabilities(words, {}, device, "k")), HasSubstr("GroupNonUniformClustered"));
  device.vulkan11.subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
  EXPECT_EQ(outcome(check_capabilities(words, {}, device, "k")), "ok");
}

TEST(OpaqueCapabilities, AnUnknownOneIsRefusedByItsNumber) {
  EXPECT_THAT(outcome(check_capabilities(module_with({spv::Capability{54321}}), {}, {}, "k")), HasSubstr("54321"));
}

TEST(OpaqueCapabilities, SpirvNewerThanVulkan12IsRefused) {
  EXPECT_THAT(outcome(check_capabilities(module_with({}, 0x10600), {}, {}, "k")), HasSubstr("SPIR-V 1.6"));
}

TEST(OpaqueCapabilities, AWorkgroupSizeByIdsIsRefused) {
  std::vector<uint32_t> words = module_with({spv::Capability::Shader});
  words.insert(words.end(), {6u << spv::WordCountShift | static_cast<uint32_t>(spv::Op::OpExecutionModeId), 1,
                             static_cast<uint32_t>(spv::ExecutionMode::LocalSizeId), 2, 3, 4});
  EXPECT_THAT(outcome(check_capabilities(words, {}, {}, "k")), HasSubstr("LocalSizeId"));
}

}  // namespace
}  // namespace wavegate::device::vulkan
