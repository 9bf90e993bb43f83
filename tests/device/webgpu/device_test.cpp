#include "wavegate/device/webgpu/device.h"

#include "device/webgpu/test_device.h"

namespace wavegate::device::webgpu {
namespace {

using testing::Each;
using testing::HasSubstr;

class WebGpuDevice : public WebGpuTest {};

TEST_F(WebGpuDevice, DescribesItself) {
  const target::Profile& profile = device().profile();
  EXPECT_EQ(profile.backend, "webgpu");
  EXPECT_FALSE(profile.name.empty());
  EXPECT_GE(profile.limits.storage_buffers, 8u);
  EXPECT_GE(profile.limits.workgroup_invocations, 256u);
  EXPECT_FALSE(profile.features.float64);
  EXPECT_FALSE(profile.features.writes_its_grid_source);
  EXPECT_EQ(device().counters().submissions, 0u) << "what was asked of floats counts";
}

TEST_F(WebGpuDevice, RunsAKernel) {
  TestGraph graph("saxpy");
  const auto x = graph.buffer("x", std::vector<float>(1000, 2.0f));
  const auto y = graph.output(graph.buffer("y", std::vector<float>(1000, 1.0f)));
  graph.add(graph.dispatch(graph.kernel(saxpy_kernel()), {x, y}, {1000, std::bit_cast<uint32_t>(3.0f)}, {16, 1, 1}));
  const auto executable = must(device().load(graph.get()));
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<float>(*executable, y, 1000), Each(7.0f));
}

}  // namespace
}  // namespace wavegate::device::webgpu
