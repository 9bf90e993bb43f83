#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wavegate/device/webgpu/context.h"
#include "wavegate/device/webgpu/owned.h"
#include "wavegate/device/webgpu/steps.h"
#include "wavegate/graph/graph.h"

namespace wavegate::device::webgpu {

/// Of buffers that the host maps.
constexpr uint32_t kHostUses = gpu::kMapRead | gpu::kCopyDestination;

/// Bytes of a mapped buffer, wherever they begin and end. False if it is mapped no longer.
[[nodiscard]] bool read_bytes(gpu::Buffer mapped, uint64_t offset, std::span<std::byte> bytes);

/// What a run leaves for the host: the outputs, and the time that it took.
class HostCopies {
 public:
  /// Memory that the host maps.
  struct Copy {
    OwnedBuffer host;  ///< none if there is nothing to copy
    uint64_t bytes = 0;
    bool is_mapped = false;
  };

  /// Inside an error scope.
  void allocate(const Context& context, const graph::Graph& graph);

  /// Before copying: copies into mapped buffers are not allowed.
  void unmap_outputs();
  /// Takes the time of a run's begin and of its end, if the device can.
  void take_begin(Player& player) const { take_time(player, 0); }
  void take_end(Player& player) const { take_time(player, 1); }
  /// The end of a run: the outputs, whose memory is `handles`; the times.
  void copy_outputs(gpu::Encoder encoder, std::span<const gpu::Buffer> handles) const;
  void copy_times(gpu::Encoder encoder) const;
  /// All that is to be mapped after a run. Does not move.
  std::vector<Copy*> copies();

  gpu::Buffer output(graph::BufferId buffer) const { return outputs_[static_cast<uint32_t>(buffer)].host.get(); }
  /// The seconds between begin and end, once, if the times are mapped.
  std::optional<double> read_times();

 private:
  void take_time(Player& player, uint32_t index) const;

  std::vector<Copy> outputs_;  ///< by BufferId
  Owned<gpu::QuerySet> timestamps_;
  OwnedBuffer resolved_times_;
  Copy times_;
};

}  // namespace wavegate::device::webgpu
