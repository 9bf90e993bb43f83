#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/vulkan/context.h"
#include "wavegate/device/vulkan/owned.h"

namespace wavegate::device::vulkan {

/// One VkDeviceMemory, counted against the device's limit.
class Allocation {
 public:
  Allocation() = default;
  Allocation(Context& context, VkDeviceMemory memory) : context_(&context), memory_(context.device, memory) {
    ++context.allocations;
  }
  Allocation(Allocation&& other) noexcept
      : context_(std::exchange(other.context_, nullptr)), memory_(std::move(other.memory_)) {}
  Allocation& operator=(Allocation&& other) noexcept {
    std::swap(context_, other.context_);
    memory_ = std::move(other.memory_);
    return *this;
  }
  ~Allocation() {
    if (context_) --context_->allocations;
  }
  VkDeviceMemory get() const { return memory_.get(); }

 private:
  Context* context_ = nullptr;
  OwnedMemory memory_;
};

/// What a buffer needs of its memory, and where plan_blocks() puts it.
struct Need {
  uint64_t bytes = 0;
  uint64_t alignment = 1;
  uint32_t memory_type = 0;
};
struct Placement {
  uint32_t block = 0;
  uint64_t offset = 0;
};
struct Block {
  uint64_t bytes = 0;
  uint32_t memory_type = 0;
};
struct BlockPlan {
  std::vector<Placement> placements;  ///< one a need
  std::vector<Block> blocks;
};

/// Packs needs in order into blocks of at most `capacity` bytes each, one memory type a block. A need larger than the
/// capacity gets a block of its own.
BlockPlan plan_blocks(std::span<const Need> needs, uint64_t capacity);

/// A device-local buffer to be made, of whole words: usable as storage, by copies and fills, and for indirect
/// arguments.
struct BufferRequest {
  std::string_view name;
  uint64_t bytes = 0;
};

/// Buffers and the few allocations under them.
struct DeviceBuffers {
  std::vector<Allocation> blocks;
  std::vector<OwnedBuffer> buffers;  ///< in the order of the requests; destroyed before their memory
};

/// `owner` is for errors: `graph "cg"`. Errors name the buffer that does not fit.
Result<DeviceBuffers> create_device_buffers(Context& context, std::span<const BufferRequest> requests,
                                            std::string_view owner);

enum class HostUse {
  upload,    ///< copied from
  readback,  ///< copied to
  observed,  ///< a graph's buffer, used like one of DeviceBuffers, that the host looks at now and then
};

/// A buffer that the host sees, mapped for its whole life.
struct HostBuffer {
  Allocation memory;
  OwnedBuffer buffer;
  std::byte* data = nullptr;
  uint64_t bytes = 0;
  bool coherent = false;

  /// Makes the host's writes visible to the device.
  Result<void> flush(const Context& context) const;
  /// Makes the device's writes visible to the host.
  Result<void> invalidate(const Context& context) const;
};

Result<HostBuffer> create_host_buffer(Context& context, uint64_t bytes, HostUse use, std::string_view purpose);

}  // namespace wavegate::device::vulkan
