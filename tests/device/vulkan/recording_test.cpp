// What barriers reach the driver. A software device runs everything in order, and the validation layer does not follow
// predicates, so that no other test notices one that is missing.

#include "wavegate/device/vulkan/recording.h"

#include <dlfcn.h>

#include "device/vulkan/test_device.h"

namespace wavegate::device::vulkan {
namespace {

struct Recorded {
  VkPipelineStageFlags before = 0;
  VkPipelineStageFlags after = 0;
  VkAccessFlags written = 0;
  VkAccessFlags seen = 0;
};
std::vector<Recorded> recorded_barriers;

}  // namespace
}  // namespace wavegate::device::vulkan

/// Stands before the loader's function of the same name.
extern "C" VKAPI_ATTR void VKAPI_CALL vkCmdPipelineBarrier(VkCommandBuffer commands, VkPipelineStageFlags before,
                                                           VkPipelineStageFlags after, VkDependencyFlags flags,
                                                           uint32_t memory_count, const VkMemoryBarrier* memory,
                                                           uint32_t buffer_count, const VkBufferMemoryBarrier* buffers,
                                                           uint32_t image_count, const VkImageMemoryBarrier* images) {
  static const auto loaders = reinterpret_cast<PFN_vkCmdPipelineBarrier>(dlsym(RTLD_NEXT, "vkCmdPipelineBarrier"));
  wavegate::device::vulkan::recorded_barriers.push_back(
      {before, after, memory_count ? memory->srcAccessMask : 0, memory_count ? memory->dstAccessMask : 0});
  loaders(commands, before, after, flags, memory_count, memory, buffer_count, buffers, image_count, images);
}

namespace wavegate::device::vulkan {
namespace {

using graph::BufferId;

class VulkanRecording : public VulkanTest {
 protected:
  /// The barriers of a first run, with those around what is pending.
  static std::vector<Recorded> barriers_of(const TestGraph& graph) {
    const auto executable = must(device().load(graph.get()));
    recorded_barriers.clear();
    EXPECT_OK(executable->run());
    return recorded_barriers;
  }

  /// Those between commands, which name stages; the others name all.
  static std::vector<Recorded> inner_barriers_of(const TestGraph& graph) {
    std::vector<Recorded> barriers = barriers_of(graph);
    std::erase_if(barriers, [](const Recorded& r) { return r.before & VK_PIPELINE_STAGE_ALL_COMMANDS_BIT; });
    return barriers;
  }
};

/// predicate = 1 by a kernel or a fill; then a conditional of two dependent dispatches on `values`.
struct Predicated {
  TestGraph graph{"predicated"};
  BufferId predicate = graph.buffer<uint32_t>("predicate", {0});
  BufferId values = graph.output(graph.buffer<uint32_t>("values", {1}));
  graph::KernelId affine = graph.kernel(affine_kernel());

  graph::Command on(BufferId buffer) { return graph.dispatch(affine, {buffer}, {1, 1}, {1, 1, 1}); }
  void add_conditional() { graph.add(TestGraph::conditional(graph.whole(predicate), {on(values), on(values)})); }
};

TEST_F(VulkanRecording, APredicateIsReadAfterTheKernelThatWritesIt) {
  Predicated predicated;
  predicated.graph.add(predicated.on(predicated.predicate));
  predicated.add_conditional();
  const auto barriers = inner_barriers_of(predicated.graph);
  ASSERT_EQ(barriers.size(), 2u);  // the other stands between the two dispatches
  EXPECT_EQ(barriers[0].before, VkFlags{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT});
  EXPECT_EQ(barriers[0].after, VkFlags{VK_PIPELINE_STAGE_CONDITIONAL_RENDERING_BIT_EXT});
  EXPECT_EQ(barriers[0].written, VkFlags{VK_ACCESS_SHADER_WRITE_BIT});
  EXPECT_EQ(barriers[0].seen, VkFlags{VK_ACCESS_CONDITIONAL_RENDERING_READ_BIT_EXT});
}

TEST_F(VulkanRecording, APredicateIsReadAfterTheFillThatWritesIt) {
  Predicated predicated;
  predicated.graph.add(predicated.graph.fill(predicated.graph.whole(predicated.predicate), 1));
  predicated.add_conditional();
  const auto barriers = inner_barriers_of(predicated.graph);
  ASSERT_EQ(barriers.size(), 2u);
  EXPECT_EQ(barriers[0].before, VkFlags{VK_PIPELINE_STAGE_TRANSFER_BIT});
  EXPECT_EQ(barriers[0].after, VkFlags{VK_PIPELINE_STAGE_CONDITIONAL_RENDERING_BIT_EXT});
}

TEST_F(VulkanRecording, APredicateIsWrittenAfterTheLastDispatchThatMayReadIt) {
  Predicated predicated;
  predicated.add_conditional();
  predicated.graph.add(predicated.on(predicated.predicate));
  const auto barriers = inner_barriers_of(predicated.graph);
  ASSERT_EQ(barriers.size(), 2u);
  EXPECT_EQ(barriers[1].before & VK_PIPELINE_STAGE_CONDITIONAL_RENDERING_BIT_EXT,
            VkFlags{VK_PIPELINE_STAGE_CONDITIONAL_RENDERING_BIT_EXT});
  EXPECT_EQ(barriers[1].after, VkFlags{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT});
}

/// A loop of `runs` bodies at most that nothing ends before, each a dispatch on the same word.
TestGraph bounded_loop(uint64_t runs) {
  TestGraph graph("bounded");
  const auto done = graph.observed(graph.buffer<uint32_t>("done", {0}));
  graph::Loop loop;
  loop.label = "loop";
  loop.done = graph.whole(done);
  loop.maximum = runs;
  loop.body = {graph.dispatch(graph.kernel(affine_kernel()), {done}, {0, 0}, {1, 1, 1})};
  graph.add(loop);
  return graph;
}

TEST_F(VulkanRecording, RunsOfABodyInAChunkAreOrdered) {
  EXPECT_EQ(inner_barriers_of(bounded_loop(4)).size(), 3u);
}

TEST_F(VulkanRecording, EachChunkCostsOneBarrierAndThatShowsTheHostWhatWasWritten) {
  const auto host_barriers = [](const TestGraph& graph) {
    const auto barriers = barriers_of(graph);
    return std::count_if(barriers.begin(), barriers.end(), [](const Recorded& r) {
      return (r.after & VK_PIPELINE_STAGE_HOST_BIT) && (r.written & VK_ACCESS_MEMORY_WRITE_BIT) &&
             (r.seen & VK_ACCESS_MEMORY_READ_BIT);
    });
  };
  const auto outside = [](const TestGraph& graph) {
    return barriers_of(graph).size() - inner_barriers_of(graph).size();
  };
  const TestGraph none = bounded_loop(0), one = bounded_loop(4), three = bounded_loop(28);
  EXPECT_EQ(host_barriers(one) - host_barriers(none), 1);
  EXPECT_EQ(host_barriers(three) - host_barriers(none), 3);
  EXPECT_EQ(outside(three) - outside(none), 3u);
}

}  // namespace
}  // namespace wavegate::device::vulkan
