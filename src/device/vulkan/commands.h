#pragma once

#include <vulkan/vulkan.h>

#include <functional>
#include <string_view>

#include "wavegate/base/result.h"
#include "wavegate/device/vulkan/context.h"
#include "wavegate/device/vulkan/owned.h"

namespace wavegate::device::vulkan {

/// A pool whose command buffers can be recorded again.
Result<OwnedCommandPool> make_command_pool(Context& context);

/// Freed with its pool.
Result<VkCommandBuffer> make_command_buffer(Context& context, VkCommandPool pool);

/// Starts to record, in place of what the command buffer held.
Result<void> begin(VkCommandBuffer commands, VkCommandBufferUsageFlags flags);

/// Records with `record(commands)`, submits, waits. Counts a submission and a wait.
Result<void> run_once(Context& context, std::string_view what, const std::function<void(VkCommandBuffer)>& record);

}  // namespace wavegate::device::vulkan
