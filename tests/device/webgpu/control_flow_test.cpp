#include "device/control_flow.h"

#include "device/webgpu/test_device.h"

namespace wavegate::device {

std::unique_ptr<Device> make_device_under_test() {
  return must(webgpu::open_for_test());
}
uint64_t complaints(const Device&) {
  return 0;  // a complaint is the error of its run
}

namespace {

TEST_F(ControlFlow, LoopsThatEndWithTheirFirstChunksAreOneSubmissionAndNoLook) {
  LoopGraph loops(kNever);
  loops.add_loop(0, 4);
  loops.add_loop(1, 8);
  const auto executable = load(loops.graph);
  const Counters before = device().counters();
  ASSERT_OK(executable->run());
  const Counters spent = device().counters() - before;
  EXPECT_EQ(spent.submissions, 1u);
  EXPECT_EQ(spent.host_waits, 1u);
  EXPECT_EQ(spent.observations, 0u);
}

TEST_F(ControlFlow, ALoopOverExternalMemoryIsRecordedAnewForOtherMemory) {
  LoopGraph loops(20);
  const auto copied = loops.graph.external(loops.graph.buffer("copied", 2));
  graph::Loop loop = loops.loop(0);
  loop.body.push_back(loops.graph.copy(loops.graph.whole(loops.iterations), loops.graph.whole(copied)));
  loops.graph.add(loop);
  const auto executable = load(loops.graph);
  for (const uint32_t needed : {20u, 30u, 40u}) {
    ASSERT_OK(executable->reset());
    ASSERT_OK(write_all<uint32_t>(*executable, loops.needed, {needed, 0}));
    ASSERT_OK(executable->bind(copied, must(device().allocate(8))));
    ASSERT_OK(executable->run());
    EXPECT_EQ(read_all<uint32_t>(*executable, copied, 1), (Words{needed}));
  }
}

TEST_F(ControlFlow, AConditionalIsRefusedByName) {
  TestGraph graph("conditional");
  const auto predicate = graph.buffer<uint32_t>("predicate", {1});
  graph.add(TestGraph::conditional(graph.whole(predicate), {}));
  const auto result = device().load(graph.get());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(result.error().message, testing::HasSubstr("conditional \"conditional\""));
}

}  // namespace
}  // namespace wavegate::device
