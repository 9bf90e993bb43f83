#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/vulkan/context.h"
#include "wavegate/device/vulkan/hazards.h"
#include "wavegate/device/vulkan/owned.h"
#include "wavegate/device/vulkan/pipelines.h"
#include "wavegate/graph/graph.h"

namespace wavegate::device::vulkan {

/// A graph made ready for vkCmd calls over particular memory: handles looked up, descriptor sets written, uses
/// numbered by physical buffer. Recording it then allocates nothing, so that repeats of many thousand commands are
/// quick. Command buffers that hold it need it to live.
///
/// Loops cut the graph: part 0 is what stands before the first loop, part 1 what stands between it and the next, and so
/// on. A graph without loops is part 0.
class Recording {
 public:
  /// The most commands that one executable may encode, repeats spelled out.
  static constexpr uint64_t kMaximumCommands = uint64_t{1} << 23;

  /// `pipelines` are those of the graph's kernels, `buffers` the memory of its buffers. Precondition: the graph is
  /// verified and within the device's limits.
  static Result<std::unique_ptr<Recording>> prepare(Context& context, const graph::Graph& graph,
                                                    std::span<const Pipeline* const> pipelines,
                                                    std::span<const VkBuffer> buffers);

  /// Records a part with the barriers between its commands, none before the first or after the last.
  void record_part(VkCommandBuffer commands, size_t part) const;

  /// Does the part hold no commands?
  bool is_empty(size_t part) const { return parts_[part].empty(); }

  /// Records the body of a loop that many times, with the barriers between its commands, none before the first or after
  /// the last.
  void record_body(VkCommandBuffer commands, size_t loop, uint32_t runs) const;

 private:
  struct Step {
    enum class Kind : uint8_t { dispatch, dispatch_indirect, copy, fill, begin_conditional, end_conditional };
    Kind kind = Kind::fill;
    uint32_t first_use = 0;
    uint32_t use_count = 0;
    // Dispatches.
    const Pipeline* pipeline = nullptr;
    uint32_t set = 0;
    uint32_t first_word = 0;
    uint32_t word_count = 0;
    graph::Grid grid = {};
    // Copies, fills; `source` also holds indirect arguments and predicates.
    VkBuffer source = VK_NULL_HANDLE;
    uint64_t source_offset = 0;
    VkBuffer destination = VK_NULL_HANDLE;
    uint64_t destination_offset = 0;
    uint64_t bytes = 0;
    uint32_t word = 0;
  };
  /// A step, or a body to be played `repeat` times.
  struct Item {
    uint32_t step = 0;
    uint32_t repeat = 0;
    std::vector<Item> body;
  };
  struct Preparation;
  class Player;

  const Context* context_ = nullptr;
  OwnedDescriptorPool pool_;
  std::vector<VkDescriptorSet> sets_;
  std::vector<Step> steps_;
  std::vector<std::vector<Item>> parts_;   ///< one more than there are loops
  std::vector<std::vector<Item>> bodies_;  ///< of the loops
  std::vector<uint32_t> words_;
  std::vector<MemoryUse> uses_;
  uint32_t memory_count_ = 0;
  StageMask stages_ = 0;  ///< all that the graph uses
};

/// Orders everything before against everything after, writes visible; with the host too if asked.
void full_barrier(VkCommandBuffer commands, bool with_host);

}  // namespace wavegate::device::vulkan
