#include "wavegate/device/webgpu/recordings.h"

#include "device/webgpu/faults.h"
#include "device/webgpu/test_device.h"

namespace wavegate::device::webgpu {
namespace {

using graph::BufferId;

class RecordingsTest : public WebGpuTest {
 protected:
  /// A graph over lent memory.
  struct Lent {
    TestGraph graph{"lent"};
    BufferId values = graph.external(graph.buffer("values", 4));
    Lent() { graph.add(graph.dispatch(graph.kernel(affine_kernel()), {values}, {3, 1}, {1, 1, 1})); }
  };

  /// The bind groups that a run over the memory makes.
  static uint32_t made_by_run(Executable& executable, BufferId buffer, const std::shared_ptr<Buffer>& memory) {
    const uint32_t before = faults().bind_groups;
    EXPECT_OK(executable.bind(buffer, memory));
    EXPECT_OK(executable.run());
    return faults().bind_groups - before;
  }
};

TEST_F(RecordingsTest, OfMemoryThatIsBoundAgainAreFound) {
  Lent lent;
  const auto executable = must(device().load(lent.graph.get()));
  const auto a = must(device().allocate(16)), b = must(device().allocate(16));
  EXPECT_GT(made_by_run(*executable, lent.values, a), 0u);
  EXPECT_GT(made_by_run(*executable, lent.values, b), 0u);
  EXPECT_EQ(made_by_run(*executable, lent.values, a), 0u);
  EXPECT_EQ(made_by_run(*executable, lent.values, b), 0u);
  EXPECT_EQ(read_all<uint32_t>(*executable, lent.values, 1), (std::vector<uint32_t>{4}));
}

TEST_F(RecordingsTest, OfMemoryThatIsGoneAreNotTakenForAnothers) {
  Lent lent;
  const auto executable = must(device().load(lent.graph.get()));
  const auto last = must(device().allocate(16));
  // A handle may come back as another buffer's.
  for (int i = 0; i < 20; ++i) {
    EXPECT_GT(made_by_run(*executable, lent.values, must(device().allocate(16))), 0u);
    EXPECT_EQ(read_all<uint32_t>(*executable, lent.values, 4), (std::vector<uint32_t>(4, 1)));
    ASSERT_OK(executable->bind(lent.values, last));
  }
}

TEST_F(RecordingsTest, AreNotKeptWithoutEnd) {
  Lent lent;
  const auto executable = must(device().load(lent.graph.get()));
  std::vector<std::shared_ptr<Buffer>> all;
  for (int i = 0; i < 9; ++i) {
    all.push_back(must(device().allocate(16)));
    made_by_run(*executable, lent.values, all.back());
  }
  EXPECT_EQ(made_by_run(*executable, lent.values, all.back()), 0u);
  EXPECT_GT(made_by_run(*executable, lent.values, all.front()), 0u);
}

}  // namespace
}  // namespace wavegate::device::webgpu
