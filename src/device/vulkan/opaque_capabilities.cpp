#include "wavegate/device/vulkan/opaque_capabilities.h"

#include <algorithm>
#include <spirv/unified1/spirv.hpp11>

#include "wavegate/base/format.h"

namespace wavegate::device::vulkan {
namespace {

using spv::Capability;

/// What a module may be offered.
struct Offer {
  const EnabledFeatures& enabled;
  const PhysicalDevice& device;

  bool subgroup(VkSubgroupFeatureFlagBits operations) const {
    return (device.vulkan11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
           (device.vulkan11.subgroupSupportedOperations & operations);
  }
};

struct Row {
  Capability capability;
  const char* name;
  bool (*offered)(const Offer&);
};

bool always(const Offer&) {
  return true;
}
template <bool EnabledFeatures::*feature>
bool enabled(const Offer& offer) {
  return offer.enabled.*feature;
}
template <VkSubgroupFeatureFlagBits operations>
bool subgroup(const Offer& offer) {
  return offer.subgroup(operations);
}
template <VkBool32 VkPhysicalDeviceVulkan12Properties::*... widths>
bool float_control(const Offer& offer) {
  return ((offer.device.vulkan12.*widths == VK_TRUE) || ...);
}

using Properties = VkPhysicalDeviceVulkan12Properties;

// Capabilities that need a feature which is never enabled (images, variable pointers and so on) have no row.
constexpr Row kRows[] = {
    {Capability::Matrix, "Matrix", always},
    {Capability::Shader, "Shader", always},
    {Capability::Int8, "Int8", enabled<&EnabledFeatures::shader_int8>},
    {Capability::Int16, "Int16", enabled<&EnabledFeatures::shader_int16>},
    {Capability::Int64, "Int64", enabled<&EnabledFeatures::shader_int64>},
    {Capability::Float16, "Float16", enabled<&EnabledFeatures::shader_float16>},
    {Capability::Float64, "Float64", enabled<&EnabledFeatures::shader_float64>},
    {Capability::Int64Atomics, "Int64Atomics",
     [](const Offer& offer) {
       return offer.enabled.shader_buffer_int64_atomics && offer.enabled.shader_shared_int64_atomics;
     }},
    {Capability::StorageBuffer8BitAccess, "StorageBuffer8BitAccess",
     enabled<&EnabledFeatures::storage_buffer_8bit_access>},
    {Capability::StorageBuffer16BitAccess, "StorageBuffer16BitAccess",
     enabled<&EnabledFeatures::storage_buffer_16bit_access>},
    {Capability::PhysicalStorageBufferAddresses, "PhysicalStorageBufferAddresses",
     enabled<&EnabledFeatures::buffer_device_address>},
    {Capability::VulkanMemoryModel, "VulkanMemoryModel", enabled<&EnabledFeatures::vulkan_memory_model>},
    {Capability::VulkanMemoryModelDeviceScope, "VulkanMemoryModelDeviceScope",
     enabled<&EnabledFeatures::vulkan_memory_model>},
    {Capability::GroupNonUniform, "GroupNonUniform", subgroup<VK_SUBGROUP_FEATURE_BASIC_BIT>},
    {Capability::GroupNonUniformVote, "GroupNonUniformVote", subgroup<VK_SUBGROUP_FEATURE_VOTE_BIT>},
    {Capability::GroupNonUniformArithmetic, "GroupNonUniformArithmetic", subgroup<VK_SUBGROUP_FEATURE_ARITHMETIC_BIT>},
    {Capability::GroupNonUniformBallot, "GroupNonUniformBallot", subgroup<VK_SUBGROUP_FEATURE_BALLOT_BIT>},
    {Capability::GroupNonUniformShuffle, "GroupNonUniformShuffle", subgroup<VK_SUBGROUP_FEATURE_SHUFFLE_BIT>},
    {Capability::GroupNonUniformShuffleRelative, "GroupNonUniformShuffleRelative",
     subgroup<VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT>},
    {Capability::GroupNonUniformClustered, "GroupNonUniformClustered", subgroup<VK_SUBGROUP_FEATURE_CLUSTERED_BIT>},
    {Capability::GroupNonUniformQuad, "GroupNonUniformQuad", subgroup<VK_SUBGROUP_FEATURE_QUAD_BIT>},
    {Capability::DenormPreserve, "DenormPreserve",
     float_control<&Properties::shaderDenormPreserveFloat16, &Properties::shaderDenormPreserveFloat32,
                   &Properties::shaderDenormPreserveFloat64>},
    {Capability::DenormFlushToZero, "DenormFlushToZero",
     float_control<&Properties::shaderDenormFlushToZeroFloat16, &Properties::shaderDenormFlushToZeroFloat32,
                   &Properties::shaderDenormFlushToZeroFloat64>},
    {Capability::SignedZeroInfNanPreserve, "SignedZeroInfNanPreserve",
     float_control<&Properties::shaderSignedZeroInfNanPreserveFloat16,
                   &Properties::shaderSignedZeroInfNanPreserveFloat32,
                   &Properties::shaderSignedZeroInfNanPreserveFloat64>},
    {Capability::RoundingModeRTE, "RoundingModeRTE",
     float_control<&Properties::shaderRoundingModeRTEFloat16, &Properties::shaderRoundingModeRTEFloat32,
                   &Properties::shaderRoundingModeRTEFloat64>},
    {Capability::RoundingModeRTZ, "RoundingModeRTZ",
     float_control<&Properties::shaderRoundingModeRTZFloat16, &Properties::shaderRoundingModeRTZFloat32,
                   &Properties::shaderRoundingModeRTZFloat64>},
};

Result<void> check_capability(Capability capability, const Offer& offer, const std::string& kernel) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const Row& candidate) { return candidate.capability == capability; });
  if (row == std::end(kRows))
    return unsupported(
        format("kernel \"{}\": its module declares the SPIR-V capability {}, which Wavegate never "
               "enables; build the module without it",
               kernel, static_cast<uint32_t>(capability)));
  if (row->offered(offer)) return {};
  return unsupported(
      format("kernel \"{}\": its module declares the SPIR-V capability {}, whose feature \"{}\" lacks or "
             "was opened without; build the module without it or choose another device",
             kernel, row->name, offer.device.properties.deviceName));
}

}  // namespace

Result<void> check_capabilities(std::span<const uint32_t> words, const EnabledFeatures& enabled,
                                const PhysicalDevice& device, const std::string& kernel) {
  constexpr size_t kHeaderWords = 5;
  constexpr uint32_t kNewest = 0x10500;
  if (words.size() < kHeaderWords) return {};
  if (words[1] > kNewest)
    return unsupported(
        format("kernel \"{}\": its module is SPIR-V {}.{}, and Vulkan 1.2 takes up to 1.5; build it for "
               "Vulkan 1.2 (--target-env vulkan1.2)",
               kernel, words[1] >> 16 & 0xff, words[1] >> 8 & 0xff));
  const Offer offer{enabled, device};
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t count = words[at] >> spv::WordCountShift;
    if (count == 0 || count > words.size() - at) return {};
    const auto op = static_cast<spv::Op>(words[at] & spv::OpCodeMask);
    if (op == spv::Op::OpCapability && count == 2)
      WAVEGATE_CHECK(check_capability(static_cast<Capability>(words[at + 1]), offer, kernel));
    if (op == spv::Op::OpExecutionModeId && count > 2 &&
        static_cast<spv::ExecutionMode>(words[at + 2]) == spv::ExecutionMode::LocalSizeId)
      return unsupported(
          format("kernel \"{}\": its module gives the workgroup's size by ids (LocalSizeId), which "
                 "Vulkan 1.2 does not take; build it for Vulkan 1.2 (--target-env vulkan1.2)",
                 kernel));
    at += count;
  }
  return {};
}

}  // namespace wavegate::device::vulkan
