#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/webgpu/context.h"
#include "wavegate/device/webgpu/steps.h"
#include "wavegate/device/webgpu/variants.h"
#include "wavegate/graph/graph.h"

namespace wavegate::device::webgpu {

/// A graph made ready to be played into encoders over particular memory: pipelines and bind groups looked up, launch
/// words written. WebGPU has no commands that can be submitted twice, so that a run plays it each time.
///
/// Loops cut the graph: part 0 is what stands before the first loop, part 1 what stands between it and the next, and so
/// on. A graph without loops is part 0.
class Recording {
 public:
  /// The most commands that one encoder may take, repeats spelled out.
  static constexpr uint64_t kMaximumCommands = uint64_t{1} << 21;

  /// `buffers` is the memory of the graph's buffers. Inside an error scope. Precondition: the graph is verified and
  /// within the device's limits.
  static Result<std::unique_ptr<Recording>> prepare(Context& context, const graph::Graph& graph, Variants& variants,
                                                    std::span<const gpu::Buffer> buffers);

  void play_part(Player& player, size_t part) const { play(player, parts_[part]); }
  void play_body(Player& player, size_t loop, uint32_t runs) const;

 private:
  /// A step, or a body to be played `repeat` times.
  struct Item {
    Step step;
    uint32_t repeat = 0;
    std::vector<Item> body;
  };
  struct Preparation;

  explicit Recording(Context& context) : steps_(context) {}
  void play(Player& player, const std::vector<Item>& items) const;

  Steps steps_;
  std::vector<std::vector<Item>> parts_;   ///< one more than there are loops
  std::vector<std::vector<Item>> bodies_;  ///< of the loops
};

}  // namespace wavegate::device::webgpu
