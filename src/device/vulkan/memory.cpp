#include "wavegate/device/vulkan/memory.h"

#include <algorithm>
#include <optional>

#include "wavegate/base/format.h"
#include "wavegate/device/vulkan/structure.h"
#include "wavegate/device/vulkan/vulkan_error.h"

namespace wavegate::device::vulkan {
namespace {

// Large enough that a graph needs few allocations, small enough that a heap need not have one hole for them all.
constexpr uint64_t kBlockBytes = uint64_t{256} << 20;

/// The first memory type among `bits` with all flags of the first set of `preferences` that any has: drivers list
/// faster types first.
std::optional<uint32_t> choose_type(const Context& context, uint32_t bits,
                                    std::initializer_list<VkMemoryPropertyFlags> preferences) {
  const VkPhysicalDeviceMemoryProperties& memory = context.physical.memory;
  for (VkMemoryPropertyFlags flags : preferences)
    for (uint32_t type = 0; type < memory.memoryTypeCount; ++type)
      if ((bits >> type & 1) && (memory.memoryTypes[type].propertyFlags & flags) == flags) return type;
  return std::nullopt;
}

/// What a graph's buffer may be used for.
VkBufferUsageFlags graph_usage(const Context& context) {
  VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                             VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
  if (context.enabled.buffer_device_address) usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  if (context.enabled.conditional_rendering) usage |= VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT;
  return usage;
}

Result<OwnedBuffer> create_buffer(Context& context, uint64_t bytes, VkBufferUsageFlags usage, std::string_view what) {
  auto info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = bytes;
  info.usage = usage;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  VkBuffer buffer = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkCreateBuffer(context.device, &info, nullptr, &buffer), what);
  return OwnedBuffer(context.device, buffer);
}

Result<Allocation> allocate(Context& context, uint64_t bytes, uint32_t type, bool addressable, std::string_view what) {
  const uint32_t limit = context.physical.properties.limits.maxMemoryAllocationCount;
  if (context.allocations >= limit)
    return device_error(
        format("{}: the device allows {} allocations at a time and all are in use; free executables "
               "or buffers",
               what, limit));
  auto flags = structure<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto info = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  if (addressable) info.pNext = &flags;
  info.allocationSize = bytes;
  info.memoryTypeIndex = type;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkAllocateMemory(context.device, &info, nullptr, &memory), what);
  return Allocation(context, memory);
}

VkMappedMemoryRange whole(const HostBuffer& buffer) {
  auto range = structure<VkMappedMemoryRange>(VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE);
  range.memory = buffer.memory.get();
  range.size = VK_WHOLE_SIZE;
  return range;
}

}  // namespace

BlockPlan plan_blocks(std::span<const Need> needs, uint64_t capacity) {
  BlockPlan plan;
  for (const Need& need : needs) {
    const auto fits = [&](const Block& block) {
      const uint64_t offset = (block.bytes + need.alignment - 1) / need.alignment * need.alignment;
      return block.memory_type == need.memory_type && offset <= capacity && need.bytes <= capacity - offset;
    };
    // Only the newest block of a type has room worth looking for.
    const auto newest = std::find_if(plan.blocks.rbegin(), plan.blocks.rend(),
                                     [&](const Block& block) { return block.memory_type == need.memory_type; });
    if (newest == plan.blocks.rend() || !fits(*newest)) {
      plan.placements.push_back({static_cast<uint32_t>(plan.blocks.size()), 0});
      plan.blocks.push_back({need.bytes, need.memory_type});
      continue;
    }
    const uint64_t offset = (newest->bytes + need.alignment - 1) / need.alignment * need.alignment;
    plan.placements.push_back({static_cast<uint32_t>(std::prev(newest.base()) - plan.blocks.begin()), offset});
    newest->bytes = offset + need.bytes;
  }
  return plan;
}

Result<DeviceBuffers> create_device_buffers(Context& context, std::span<const BufferRequest> requests,
                                            std::string_view owner) {
  const VkBufferUsageFlags usage = graph_usage(context);
  const bool addressable = context.enabled.buffer_device_address;

  DeviceBuffers result;
  std::vector<Need> needs;
  uint64_t total = 0;
  const BufferRequest* largest = nullptr;
  for (const BufferRequest& request : requests) {
    if (request.bytes > context.physical.largest_buffer)
      return device_error(
          format("{}: buffer \"{}\" of {} bytes exceeds the device's largest buffer of {} bytes; split "
                 "it",
                 owner, request.name, request.bytes, context.physical.largest_buffer));
    const std::string what = format("{}: creating buffer \"{}\" of {} bytes", owner, request.name, request.bytes);
    // Fills are of whole words, and new memory is filled to its end.
    const uint64_t bytes = std::max<uint64_t>((request.bytes + 3) / 4 * 4, 4);
    WAVEGATE_TRY(OwnedBuffer buffer, create_buffer(context, bytes, usage, what));
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(context.device, buffer.get(), &requirements);
    const auto type = choose_type(context, requirements.memoryTypeBits,
                                  {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, VkMemoryPropertyFlags{0}});
    if (!type) return device_error(format("{}: the device has no memory for it", what));
    needs.push_back({requirements.size, requirements.alignment, *type});
    result.buffers.push_back(std::move(buffer));
    total += requirements.size;
    if (!largest || request.bytes > largest->bytes) largest = &request;
  }

  const BlockPlan plan =
      plan_blocks(needs, std::min<uint64_t>(kBlockBytes, context.physical.vulkan11.maxMemoryAllocationSize));
  for (const Block& block : plan.blocks) {
    const std::string what = format("{}: allocating {} bytes of device memory (the largest buffer, \"{}\", has {})",
                                    owner, total, largest->name, largest->bytes);
    WAVEGATE_TRY(Allocation memory, allocate(context, block.bytes, block.memory_type, addressable, what));
    result.blocks.push_back(std::move(memory));
  }
  for (size_t i = 0; i < needs.size(); ++i) {
    const Placement& placement = plan.placements[i];
    WAVEGATE_VULKAN(vkBindBufferMemory(context.device, result.buffers[i].get(), result.blocks[placement.block].get(),
                                       placement.offset),
                    format("{}: giving memory to buffer \"{}\"", owner, requests[i].name));
  }
  return result;
}

Result<HostBuffer> create_host_buffer(Context& context, uint64_t bytes, HostUse use, std::string_view purpose) {
  if (bytes > context.physical.vulkan11.maxMemoryAllocationSize)
    return device_error(
        format("{}: {} bytes exceed the device's largest allocation of {} bytes; transfer less at a "
               "time",
               purpose, bytes, context.physical.vulkan11.maxMemoryAllocationSize));
  constexpr VkMemoryPropertyFlags kVisible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
  constexpr VkMemoryPropertyFlags kCoherent = kVisible | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  constexpr VkMemoryPropertyFlags kCached = kVisible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  constexpr VkMemoryPropertyFlags kLocal = kCoherent | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  const std::string what = format("{}: {} bytes that the host sees", purpose, bytes);
  HostBuffer host;
  host.bytes = std::max<uint64_t>(bytes, 4);
  const bool is_observed = use == HostUse::observed;
  const VkBufferUsageFlags usage =
      is_observed ? graph_usage(context) : VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  WAVEGATE_TRY(host.buffer, create_buffer(context, host.bytes, usage, what));
  VkMemoryRequirements requirements;
  vkGetBufferMemoryRequirements(context.device, host.buffer.get(), &requirements);
  // Reading uncached memory is many times slower than reading cached memory; for writing it is the other way round.
  // What kernels use all the time is best near them, since the host reads one word of it now and then.
  const auto choose = [&](std::initializer_list<VkMemoryPropertyFlags> preferences) {
    return choose_type(context, requirements.memoryTypeBits, preferences);
  };
  const auto type = is_observed                ? choose({kLocal, kCoherent, kVisible})
                    : use == HostUse::readback ? choose({kCached | kCoherent, kCached, kVisible})
                                               : choose({kCoherent, kVisible});
  if (!type) return device_error(format("{}: the device has no such memory", what));
  host.coherent = context.physical.memory.memoryTypes[*type].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  WAVEGATE_TRY(host.memory,
               allocate(context, requirements.size, *type, is_observed && context.enabled.buffer_device_address, what));
  WAVEGATE_VULKAN(vkBindBufferMemory(context.device, host.buffer.get(), host.memory.get(), 0), what);
  void* data = nullptr;
  WAVEGATE_VULKAN(vkMapMemory(context.device, host.memory.get(), 0, VK_WHOLE_SIZE, 0, &data), what);
  host.data = static_cast<std::byte*>(data);
  return host;
}

Result<void> HostBuffer::flush(const Context& context) const {
  if (coherent) return {};
  const VkMappedMemoryRange range = whole(*this);
  WAVEGATE_VULKAN(vkFlushMappedMemoryRanges(context.device, 1, &range), "handing written memory to the device");
  return {};
}

Result<void> HostBuffer::invalidate(const Context& context) const {
  if (coherent) return {};
  const VkMappedMemoryRange range = whole(*this);
  WAVEGATE_VULKAN(vkInvalidateMappedMemoryRanges(context.device, 1, &range), "taking written memory from the device");
  return {};
}

}  // namespace wavegate::device::vulkan
