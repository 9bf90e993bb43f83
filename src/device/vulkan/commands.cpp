#include "wavegate/device/vulkan/commands.h"

#include "wavegate/device/vulkan/structure.h"
#include "wavegate/device/vulkan/submissions.h"
#include "wavegate/device/vulkan/vulkan_error.h"

namespace wavegate::device::vulkan {

Result<OwnedCommandPool> make_command_pool(Context& context) {
  auto info = structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  info.queueFamilyIndex = context.queue_family;
  VkCommandPool pool = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkCreateCommandPool(context.device, &info, nullptr, &pool), "making a command pool");
  return OwnedCommandPool(context.device, pool);
}

Result<VkCommandBuffer> make_command_buffer(Context& context, VkCommandPool pool) {
  auto info = structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = pool;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkAllocateCommandBuffers(context.device, &info, &commands), "making a command buffer");
  return commands;
}

Result<void> begin(VkCommandBuffer commands, VkCommandBufferUsageFlags flags) {
  auto info = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  info.flags = flags;
  WAVEGATE_VULKAN(vkBeginCommandBuffer(commands, &info), "beginning a command buffer");
  return {};
}

Result<void> run_once(Context& context, std::string_view what, const std::function<void(VkCommandBuffer)>& record) {
  WAVEGATE_TRY(const OwnedCommandPool pool, make_command_pool(context));
  WAVEGATE_TRY(const VkCommandBuffer commands, make_command_buffer(context, pool.get()));
  WAVEGATE_CHECK(begin(commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT));
  record(commands);
  WAVEGATE_VULKAN(vkEndCommandBuffer(commands), what);
  Submissions submissions(context);  // gone before the pool, so that the commands have ended
  WAVEGATE_CHECK(submissions.submit({&commands, 1}, what));
  return submissions.wait(what);
}

}  // namespace wavegate::device::vulkan
