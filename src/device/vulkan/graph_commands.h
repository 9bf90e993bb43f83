#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/schedule.h"
#include "wavegate/device/vulkan/context.h"
#include "wavegate/device/vulkan/owned.h"
#include "wavegate/device/vulkan/recording.h"

namespace wavegate::device::vulkan {

/// The command buffers of a graph, recorded when a run first needs them and kept for later runs.
///
/// They are submitted in the order of a Schedule. Each ends with a full barrier, and so needs none at its begin; the
/// first one begins with one against whatever ran before. What a chunk wrote is visible to the host once it has ended.
class GraphCommands {
 public:
  /// `owner` is for errors: `graph "cg"`. `record_end` records what a run ends with, a full barrier last.
  GraphCommands(Context& context, size_t loop_count, std::string owner, std::function<void(VkCommandBuffer)> record_end)
      : context_(context),
        owner_(std::move(owner)),
        record_end_(std::move(record_end)),
        parts_(loop_count + 1),
        chunks_(loop_count) {}

  /// Uses another recording of the same graph from now on. Nothing may be in flight.
  void use(std::shared_ptr<const Recording> recording);

  /// The command buffer of a piece; null for a part without commands, where nothing need be submitted.
  Result<VkCommandBuffer> get(const Piece& piece);

  /// Device time from begin to end of the run that has ended, in seconds; negative without timestamps.
  Result<double> seconds() const;

 private:
  struct Buffer {
    VkCommandBuffer handle = VK_NULL_HANDLE;
    bool is_recorded = false;
  };
  Result<void> make_pools();
  Result<void> record(const Piece& piece, VkCommandBuffer commands) const;

  Context& context_;
  std::string owner_;
  std::function<void(VkCommandBuffer)> record_end_;
  std::shared_ptr<const Recording> recording_;
  OwnedCommandPool pool_;
  OwnedQueryPool timestamps_;
  std::vector<Buffer> parts_;
  std::vector<std::map<uint32_t, Buffer>> chunks_;  ///< by loop, then by runs of its body
};

}  // namespace wavegate::device::vulkan
