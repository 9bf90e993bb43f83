#include "device/conditionals.h"

#include "wavegate/device/reference/device.h"

namespace wavegate::device {

std::unique_ptr<Device> make_device_under_test() {
  return reference::make_device();
}
uint64_t complaints(const Device&) {
  return 0;  // they are errors
}

namespace {

TEST_F(ControlFlow, TheReferenceDeviceStopsALoopAsSoonAsItIsDone) {
  LoopGraph loops(17);
  loops.add_loop(0);
  const auto executable = load(loops.graph);
  const Counters before = device().counters();
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, loops.runs, 1), (Words{17}));
  const Counters spent = device().counters() - before;
  EXPECT_EQ(spent.submissions, 1u);
  EXPECT_EQ(spent.observations, 17u);
}

TEST_F(ControlFlow, APredicateNeverWrittenIsAnError) {
  TestGraph graph("unwritten");
  const auto predicate = graph.buffer("predicate", 1), values = graph.buffer<uint32_t>("values", {1});
  graph.add(TestGraph::conditional(graph.whole(predicate),
                                   {graph.dispatch(graph.kernel(affine_kernel()), {values}, {1, 1}, {1, 1, 1})}));
  const auto result = load(graph)->run();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(
      result.error().message,
      "the predicate of conditional \"conditional\" in buffer \"predicate\" at byte 0 was never written; write it "
      "first");
}

TEST_F(ControlFlow, ADoneWordNeverWrittenIsAnError) {
  TestGraph graph("unwritten");
  const auto done = graph.observed(graph.buffer("done", 2)), values = graph.buffer("values", 2);
  graph::Loop loop;
  loop.label = "loop";
  loop.done = graph.word(done, 1);
  loop.body = {graph.copy(graph.whole(values), graph.whole(done))};  // of what was never written
  graph.add(loop);
  const auto result = load(graph)->run();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message,
              testing::HasSubstr("the done word of loop \"loop\" in buffer \"done\" at byte 4"));
}

}  // namespace
}  // namespace wavegate::device
