#include "wavegate/device/vulkan/pending_writes.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "wavegate/device/vulkan/hazards.h"
#include "wavegate/device/vulkan/recording.h"

namespace wavegate::device::vulkan {
namespace {

// vkCmdUpdateBuffer takes up to 65,536 bytes, all copied into the command buffer: meant for small data.
constexpr uint64_t kInlineBytes = 4096;

// Few allocations for gigabytes, and little enough to keep from run to run.
constexpr uint64_t kChunkBytes = uint64_t{16} << 20;

}  // namespace

std::vector<StagedPiece> staged_pieces(uint64_t at, uint64_t bytes, uint64_t chunk_bytes) {
  std::vector<StagedPiece> pieces;
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t chunk_offset = (at + done) % chunk_bytes;
    const uint64_t count = std::min(bytes - done, chunk_bytes - chunk_offset);
    pieces.push_back({(at + done) / chunk_bytes, chunk_offset, done, count});
    done += count;
  }
  return pieces;
}

Result<void> Staging::reserve(Context& context, uint64_t bytes) {
  chunk_bytes = std::min<uint64_t>(kChunkBytes, context.physical.vulkan11.maxMemoryAllocationSize);
  if (bytes <= chunk_bytes && !chunks.empty() && bytes <= chunks.front().bytes) return {};
  chunks.clear();
  for (uint64_t at = 0; at < bytes; at += chunk_bytes) {
    WAVEGATE_TRY(HostBuffer chunk, create_host_buffer(context, std::min(bytes - at, chunk_bytes), HostUse::upload,
                                                      "staging the host's writes"));
    chunks.push_back(std::move(chunk));
  }
  return {};
}

void Staging::shrink() {
  if (chunks.size() > 1) chunks.erase(std::next(chunks.begin()), chunks.end());
}

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

Result<void> PendingWrites::stage(Context& context, Staging& staging) {
  uint64_t total = 0;
  for (Write& write : writes_) {
    if (!write.staged()) continue;
    write.staging_offset = total;
    total += (write.bytes + 15) / 16 * 16;
  }
  if (total == 0) return {};
  WAVEGATE_CHECK(staging.reserve(context, total));
  for (const Write& write : writes_) {
    if (!write.staged()) continue;
    for (const StagedPiece& piece : staged_pieces(write.staging_offset, write.bytes, staging.chunk_bytes))
      std::memcpy(staging.chunks[piece.chunk].data + piece.chunk_offset, write.data->data() + piece.offset,
                  piece.bytes);
  }
  for (const HostBuffer& chunk : staging.chunks) WAVEGATE_CHECK(chunk.flush(context));
  return {};
}

void PendingWrites::record(VkCommandBuffer commands, std::span<const VkBuffer> buffers, const Staging& staging) const {
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
      for (const StagedPiece& piece : staged_pieces(write.staging_offset, write.bytes, staging.chunk_bytes)) {
        const VkBufferCopy region{piece.chunk_offset, write.offset + piece.offset, piece.bytes};
        vkCmdCopyBuffer(commands, staging.chunks[piece.chunk].buffer.get(), buffer, 1, &region);
      }
    } else {
      vkCmdUpdateBuffer(commands, buffer, write.offset, write.bytes, write.data->data());
    }
  }
}

}  // namespace wavegate::device::vulkan
