#include "wavegate/device/vulkan/submissions.h"

#include <chrono>
#include <thread>
#include <utility>

#include "wavegate/device/vulkan/structure.h"
#include "wavegate/device/vulkan/vulkan_error.h"

namespace wavegate::device::vulkan {
namespace {

Result<OwnedFence> make_fence(Context& context) {
  const auto info = structure<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  VkFence fence = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkCreateFence(context.device, &info, nullptr, &fence), "making a fence");
  return OwnedFence(context.device, fence);
}

VkResult wait_for(const Context& context, const std::deque<OwnedFence>& fences) {
  std::vector<VkFence> handles;
  handles.reserve(fences.size());
  for (const OwnedFence& fence : fences) handles.push_back(fence.get());
  return vkWaitForFences(context.device, static_cast<uint32_t>(handles.size()), handles.data(), VK_TRUE, UINT64_MAX);
}

/// Whether a wait that ended so leaves the commands done: a lost device runs nothing any more.
bool is_over(VkResult waited) {
  return waited == VK_SUCCESS || waited == VK_ERROR_DEVICE_LOST;
}

}  // namespace

Result<void> Submissions::submit(std::span<const VkCommandBuffer> commands, std::string_view what) {
  if (spare_.empty()) {
    WAVEGATE_TRY(OwnedFence made, make_fence(context_));
    spare_.push_back(std::move(made));
  } else {
    const VkFence used = spare_.back().get();
    WAVEGATE_VULKAN(vkResetFences(context_.device, 1, &used), what);
  }
  auto info = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.commandBufferCount = static_cast<uint32_t>(commands.size());
  info.pCommandBuffers = commands.data();
  WAVEGATE_VULKAN(vkQueueSubmit(context_.queue, 1, &info, spare_.back().get()), what);
  ++context_.counters.submissions;
  in_flight_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  return {};
}

Result<bool> Submissions::oldest_has_ended(std::string_view what) {
  const VkResult status = vkGetFenceStatus(context_.device, in_flight_.front().get());
  if (status == VK_NOT_READY) return false;
  if (status == VK_ERROR_DEVICE_LOST) forget_all();
  WAVEGATE_VULKAN(status, what);
  spare_.push_back(std::move(in_flight_.front()));
  in_flight_.pop_front();
  return true;
}

Result<void> Submissions::wait(std::string_view what) {
  ++context_.counters.host_waits;
  const VkResult waited = wait_for(context_, in_flight_);
  if (is_over(waited)) forget_all();
  WAVEGATE_VULKAN(waited, what);
  return {};
}

void Submissions::outlast() {
  if (in_flight_.empty()) return;
  while (!is_over(wait_for(context_, in_flight_))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  forget_all();
}

void Submissions::forget_all() {
  for (OwnedFence& fence : in_flight_) spare_.push_back(std::move(fence));
  in_flight_.clear();
}

}  // namespace wavegate::device::vulkan
