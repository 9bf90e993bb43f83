#include "wavegate/device/vulkan/pending_writes.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "wavegate/device/vulkan/hazards.h"
#include "wavegate/device/vulkan/recording.h"

namespace wavegate::device::vulkan {
namespace {

// vkCmdUpdateBuffer takes up to 65,536 bytes, all copied into the command buffer: meant for small data.
constexpr uint64_t kInlineBytes = 4096;

}  // namespace

bool PendingWrites::Write::staged() const {
  return data && (bytes > kInlineBytes || bytes % 4 != 0 || offset % 4 != 0);
}

void PendingWrites::write(graph::BufferId buffer, uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  writes_.push_back(
      {buffer, offset, bytes.size(), std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()), 0, 0});
}

void PendingWrites::initialise(const std::shared_ptr<const graph::Graph>& graph) {
  std::erase_if(writes_, [&](const Write& write) {
    return graph->buffers[static_cast<uint32_t>(write.buffer)].initial.has_value();
  });
  for (uint32_t i = 0; i < graph->buffers.size(); ++i) {
    const graph::Buffer& buffer = graph->buffers[i];
    if (buffer.initial && buffer.bytes != 0)
      writes_.push_back({graph::BufferId{i}, 0, buffer.bytes, buffer.initial->bytes, buffer.initial->word, 0});
  }
}

void PendingWrites::clear_memory(const graph::Graph& graph) {
  for (uint32_t i = 0; i < graph.buffers.size(); ++i) {
    const graph::Buffer& buffer = graph.buffers[i];
    if (!buffer.external && !buffer.initial && buffer.bytes != 0)
      writes_.push_back({graph::BufferId{i}, 0, buffer.bytes, nullptr, 0, 0});
  }
}

Result<void> PendingWrites::stage(Context& context, HostBuffer& staging) {
  uint64_t total = 0;
  for (Write& write : writes_) {
    if (!write.staged()) continue;
    write.staging_offset = total;
    total += (write.bytes + 15) / 16 * 16;
  }
  if (total == 0) return {};
  if (total > staging.bytes) {
    staging = {};
    WAVEGATE_TRY(staging, create_host_buffer(context, total, HostUse::upload, "staging the host's writes"));
  }
  for (const Write& write : writes_)
    if (write.staged()) std::memcpy(staging.data + write.staging_offset, write.data->data(), write.bytes);
  return staging.flush(context);
}

void PendingWrites::record(VkCommandBuffer commands, std::span<const VkBuffer> buffers,
                           const HostBuffer& staging) const {
  std::map<VkBuffer, uint32_t> numbers;
  for (VkBuffer buffer : buffers) numbers.emplace(buffer, static_cast<uint32_t>(numbers.size()));
  HazardTracker hazards(static_cast<uint32_t>(numbers.size()), mask(Stage::transfer));
  for (const Write& write : writes_) {
    const VkBuffer buffer = buffers[static_cast<uint32_t>(write.buffer)];
    const MemoryUse use{numbers.at(buffer), write.offset, write.offset + write.bytes, Stage::transfer, false, true};
    if (hazards.next({&use, 1})) full_barrier(commands, false);
    if (!write.data) {
      vkCmdFillBuffer(commands, buffer, write.offset, write.bytes, write.word);
    } else if (write.staged()) {
      const VkBufferCopy region{write.staging_offset, write.offset, write.bytes};
      vkCmdCopyBuffer(commands, staging.buffer.get(), buffer, 1, &region);
    } else {
      vkCmdUpdateBuffer(commands, buffer, write.offset, write.bytes, write.data->data());
    }
  }
}

}  // namespace wavegate::device::vulkan
