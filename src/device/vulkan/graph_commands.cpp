#include "wavegate/device/vulkan/graph_commands.h"

#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/device/vulkan/commands.h"
#include "wavegate/device/vulkan/structure.h"
#include "wavegate/device/vulkan/vulkan_error.h"

namespace wavegate::device::vulkan {

void GraphCommands::use(std::shared_ptr<const Recording> recording) {
  if (recording == recording_) return;
  recording_ = std::move(recording);
  for (Buffer& part : parts_) part.is_recorded = false;
  for (auto& chunks : chunks_)
    for (auto& [runs, chunk] : chunks) chunk.is_recorded = false;
}

Result<void> GraphCommands::make_pools() {
  if (pool_) return {};
  if (context_.profile.features.timestamps) {
    auto info = structure<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = 2;
    VkQueryPool pool = VK_NULL_HANDLE;
    WAVEGATE_VULKAN(vkCreateQueryPool(context_.device, &info, nullptr, &pool), "making timestamps");
    timestamps_ = OwnedQueryPool(context_.device, pool);
  }
  WAVEGATE_TRY(pool_, make_command_pool(context_));
  return {};
}

Result<VkCommandBuffer> GraphCommands::get(const Piece& piece) {
  const bool is_part = piece.kind == Piece::Kind::part;
  const bool is_inner = is_part && piece.index != 0 && piece.index + 1 != parts_.size();
  if (is_inner && recording_->is_empty(piece.index)) return VkCommandBuffer{VK_NULL_HANDLE};
  WAVEGATE_CHECK(make_pools());
  Buffer& buffer = is_part ? parts_[piece.index] : chunks_[piece.index][piece.runs];
  if (buffer.handle == VK_NULL_HANDLE) {
    WAVEGATE_TRY(buffer.handle, make_command_buffer(context_, pool_.get()));
  }
  if (!buffer.is_recorded) WAVEGATE_CHECK(record(piece, buffer.handle));
  buffer.is_recorded = true;
  return buffer.handle;
}

Result<void> GraphCommands::record(const Piece& piece, VkCommandBuffer commands) const {
  if (piece.kind == Piece::Kind::chunk) {
    WAVEGATE_CHECK(begin(commands, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT));
    recording_->record_body(commands, piece.index, piece.runs);
    full_barrier(commands, true);
  } else {
    WAVEGATE_CHECK(begin(commands, 0));
    if (piece.index == 0) {
      full_barrier(commands, false);
      if (timestamps_) {
        vkCmdResetQueryPool(commands, timestamps_.get(), 0, 2);
        vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, timestamps_.get(), 0);
      }
    }
    recording_->record_part(commands, piece.index);
    if (piece.index + 1 == parts_.size()) {
      if (timestamps_) vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, timestamps_.get(), 1);
      record_end_(commands);
    } else if (!recording_->is_empty(piece.index)) {
      full_barrier(commands, false);
    }
  }
  WAVEGATE_VULKAN(vkEndCommandBuffer(commands), format("{}: recording its commands", owner_));
  return {};
}

Result<double> GraphCommands::seconds() const {
  if (!timestamps_) return -1.0;
  uint64_t ticks[2] = {};
  WAVEGATE_VULKAN(vkGetQueryPoolResults(context_.device, timestamps_.get(), 0, 2, sizeof ticks, ticks, sizeof(uint64_t),
                                        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                  format("{}: reading its timestamps", owner_));
  const uint32_t bits = context_.physical.families[context_.queue_family].timestampValidBits;
  const uint64_t elapsed = (ticks[1] - ticks[0]) & (~uint64_t{0} >> (64 - bits));
  return static_cast<double>(elapsed) * context_.physical.properties.limits.timestampPeriod * 1e-9;
}

}  // namespace wavegate::device::vulkan
