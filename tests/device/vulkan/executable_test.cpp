#include "wavegate/device/vulkan/executable.h"

#include "device/executables.h"
#include "device/vulkan/test_device.h"

namespace wavegate::device::vulkan {
namespace {

class VulkanExecutableTest : public VulkanTest {};

TEST_F(VulkanExecutableTest, NewMemoryOfAnOddSizeIsZeroToItsEnd) {
  const auto memory = must(device().allocate(4097));
  EXPECT_EQ(memory->bytes(), 4097u);
  auto& ours = dynamic_cast<MemoryBuffer&>(*memory);
  VkMemoryRequirements requirements;
  vkGetBufferMemoryRequirements(ours.context().device, ours.handle(), &requirements);
  EXPECT_GE(requirements.size, 4100u);
}

TEST_F(VulkanExecutableTest, MemoryThatTheDeviceDoesNotHaveIsAnErrorOfTheDevice) {
  const auto result = device().allocate(uint64_t{1} << 50);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::device);
}

}  // namespace
}  // namespace wavegate::device::vulkan
