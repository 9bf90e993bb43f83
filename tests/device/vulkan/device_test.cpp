#include "wavegate/device/vulkan/device.h"

#include <cstdlib>
#include <fstream>

#include "device/vulkan/test_device.h"
#include "wavegate/device/vulkan/pipelines.h"

namespace wavegate::device::vulkan {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class VulkanDeviceTest : public VulkanTest {};

TEST_F(VulkanDeviceTest, ListsTheDeviceThatItOpens) {
  std::vector<Error> skipped;
  const auto profiles = must(list_devices(test_options().cache, &skipped));
  ASSERT_THAT(profiles, Not(SizeIs(0)));
  EXPECT_THAT(skipped, SizeIs(0));
  EXPECT_EQ(profiles.front().name, device().profile().name);
}

TEST_F(VulkanDeviceTest, AnUnknownNameIsAnErrorThatListsTheNames) {
  Options options = test_options();
  options.name = "no such device";
  const auto result = open(options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::device);
  EXPECT_THAT(result.error().message, AllOf(HasSubstr("no such device"), HasSubstr(device().profile().name)));
}

TEST_F(VulkanDeviceTest, FindsADeviceByPartOfItsNameInAnyCase) {
  Options options = test_options();
  options.name = device().profile().name.substr(0, 4);
  for (char& c : options.name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(must(open(options))->profile().name, device().profile().name);
}

TEST_F(VulkanDeviceTest, TheProfileHoldsWhatVulkanGuarantees) {
  const target::Profile& profile = device().profile();
  EXPECT_EQ(profile.backend, "vulkan");
  EXPECT_GE(profile.limits.grid[0], 65535u);
  EXPECT_GE(profile.limits.workgroup_invocations, 128u);
  EXPECT_GE(profile.limits.storage_buffers, 4u);
  EXPECT_GE(profile.limits.immediate_words, 32u);
  EXPECT_GT(profile.limits.memory_bytes, 0u);
  EXPECT_LE(profile.minimum_subgroup_size, profile.subgroup_size);
  EXPECT_LE(profile.subgroup_size, profile.maximum_subgroup_size);
}

TEST_F(VulkanDeviceTest, AProbeWithoutACacheAgreesWithTheCachedOne) {
  Options options = test_options();
  options.cache.enabled = false;
  EXPECT_EQ(target::feature_names(must(open(options))->profile()), target::feature_names(device().profile()));
}

TEST_F(VulkanDeviceTest, OpeningCountsNothing) {
  Options options = test_options();
  options.cache.enabled = false;
  const auto fresh = must(open(options));
  EXPECT_EQ(fresh->counters().submissions + fresh->counters().host_waits + fresh->counters().readbacks, 0u);
}

/// Loads saxpy with a cache directory of its own.
uint64_t load_with_cache(const std::string& directory) {
  Options options = test_options();
  options.cache.directory = directory;
  const auto device = must(open(options));
  TestGraph graph("saxpy");
  const auto x = graph.buffer<float>("x", {1, 2}), y = graph.output(graph.buffer<float>("y", {1, 1}));
  graph.add(graph.dispatch(graph.kernel(saxpy_kernel()), {x, y}, {2, 0x3f800000}, {1, 1, 1}));
  {
    const auto executable = must(device->load(graph.get()));
    EXPECT_OK(executable->run());
    EXPECT_THAT(read_all<float>(*executable, y, 2), ElementsAre(2, 3));
  }
  return validation_messages(*device);
}

std::vector<std::filesystem::path> files_in(const std::string& directory) {
  std::vector<std::filesystem::path> paths;
  for (const auto& file : std::filesystem::directory_iterator(directory)) paths.push_back(file.path());
  return paths;
}

TEST_F(VulkanDeviceTest, KeepsPipelinesAndProbedFloatsOnDisk) {
  const std::string directory = cache_directory() + "/kept";
  EXPECT_EQ(load_with_cache(directory), 0u);
  EXPECT_THAT(files_in(directory), SizeIs(2));
}

TEST_F(VulkanDeviceTest, SurvivesDamagedCacheFiles) {
  const std::string directory = cache_directory() + "/damaged";
  load_with_cache(directory);
  for (const auto& path : files_in(directory)) std::ofstream(path) << "not a cache";
  EXPECT_EQ(load_with_cache(directory), 0u);
}

TEST(PipelineCacheHeader, OfAnotherDriverIsNotOurs) {
  VkPhysicalDeviceProperties properties{};
  properties.vendorID = 1;
  properties.deviceID = 2;
  VkPipelineCacheHeaderVersionOne header{};
  header.headerSize = sizeof header;
  header.headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE;
  header.vendorID = 1;
  header.deviceID = 2;
  const auto bytes = std::as_bytes(std::span(&header, 1));
  EXPECT_TRUE(is_cache_of(bytes, properties));
  EXPECT_FALSE(is_cache_of(bytes.first(bytes.size() - 1), properties));
  header.pipelineCacheUUID[3] = 1;
  EXPECT_FALSE(is_cache_of(bytes, properties));
}

TEST(CheckModule, RefusesBytesThatAreNotSpirv) {
  const std::vector<uint32_t> words(8, 0);
  EXPECT_FALSE(check_module(words, "main", "k").ok());
}

TEST(CheckModule, RefusesAnInstructionThatOverrunsTheModule) {
  const std::vector<uint32_t> words = {0x07230203, 0x10300, 0, 1, 0, 9u << 16 | 17};
  EXPECT_THAT(check_module(words, "main", "k").error().message, HasSubstr("overruns"));
}

TEST(CheckModule, RefusesAModuleWithoutTheEntryPoint) {
  // OpEntryPoint GLCompute %1 "main"
  const std::vector<uint32_t> words = {0x07230203, 0x10300, 0, 2, 0, 5u << 16 | 15, 5, 1, 0x6e69616d, 0};
  EXPECT_TRUE(check_module(words, "main", "k").ok());
  EXPECT_THAT(check_module(words, "other", "k").error().message, HasSubstr("no compute entry point \"other\""));
}

}  // namespace
}  // namespace wavegate::device::vulkan
