#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "device/device_under_test.h"

/// Executables of a device that runs on a GPU: its test program includes this once.
namespace wavegate::device {

using graph::BufferId;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class Executables : public DeviceTest {};

/// y = a x + y over three elements; outputs y.
struct Saxpy {
  TestGraph graph{"saxpy"};
  BufferId x = graph.buffer<float>("x", {1, 2, 3});
  BufferId y = graph.output(graph.buffer<float>("y", {10, 20, 30}));
  Saxpy() {
    const auto kernel = graph.kernel(saxpy_kernel());
    graph.add(graph.dispatch(kernel, {x, y}, {3, std::bit_cast<uint32_t>(2.0f)}, {1, 1, 1}));
  }
};

TEST_F(Executables, RunsADispatch) {
  Saxpy saxpy;
  const auto executable = load(saxpy.graph);
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<float>(*executable, saxpy.y, 3), ElementsAre(12, 24, 36));
}

TEST_F(Executables, ValuesPersistFromRunToRun) {
  Saxpy saxpy;
  const auto executable = load(saxpy.graph);
  ASSERT_OK(executable->run());
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<float>(*executable, saxpy.y, 3), ElementsAre(14, 28, 42));
}

TEST_F(Executables, ResetPutsInitialContentsBack) {
  Saxpy saxpy;
  const auto executable = load(saxpy.graph);
  ASSERT_OK(executable->run());
  ASSERT_OK(executable->reset());
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<float>(*executable, saxpy.y, 3), ElementsAre(12, 24, 36));
}

TEST_F(Executables, AWriteIsSeenByTheNextRun) {
  Saxpy saxpy;
  const auto executable = load(saxpy.graph);
  ASSERT_OK(write_all<float>(*executable, saxpy.x, {4, 5, 6}));
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<float>(*executable, saxpy.y, 3), ElementsAre(18, 30, 42));
}

TEST_F(Executables, ALaterWriteWinsOverAnEarlierOne) {
  TestGraph graph("writes");
  const auto out = graph.output(graph.buffer("out", 4));
  const auto executable = load(graph);
  ASSERT_OK(write_all<uint32_t>(*executable, out, {1, 2, 3, 4}));
  ASSERT_OK(executable->write(out, 5, std::as_bytes(std::span("\xff\xff\xff", 3))));
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, out, 4), ElementsAre(1, 0xffffff02, 3, 4));
}

TEST_F(Executables, ALargeWriteArrivesWhole) {
  TestGraph graph("large");
  const size_t count = 300000;
  const auto out = graph.output(graph.buffer("out", count));
  const auto executable = load(graph);
  std::vector<uint32_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<uint32_t>(i * 2654435761u);
  ASSERT_OK(write_all(*executable, out, values));
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, out, count), values);
}

TEST_F(Executables, AnInitialWordFillsItsBuffer) {
  TestGraph graph("word");
  const auto out = graph.output(graph.buffer("out", 100));
  graph.at(out).initial = graph::Contents{nullptr, 7};
  const auto executable = load(graph);
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, out, 100), Each(7u));
}

TEST_F(Executables, ARunWithItsOutputsIsOneSubmissionAndOneWait) {
  Saxpy saxpy;
  const auto executable = load(saxpy.graph);
  const Counters before = device().counters();
  ASSERT_OK(executable->run());
  read_all<float>(*executable, saxpy.y, 3);
  const Counters spent = device().counters() - before;
  EXPECT_EQ(spent.submissions, 1u);
  EXPECT_EQ(spent.host_waits, 1u);
  EXPECT_EQ(spent.readbacks, 1u);
  EXPECT_EQ(spent.observations, 0u);
}

TEST_F(Executables, ReadingWhatIsNoOutputCostsASubmissionAWaitAndAReadback) {
  Saxpy saxpy;
  const auto executable = load(saxpy.graph);
  ASSERT_OK(executable->run());
  const Counters before = device().counters();
  EXPECT_THAT(read_all<float>(*executable, saxpy.x, 3), ElementsAre(1, 2, 3));
  const Counters spent = device().counters() - before;
  EXPECT_EQ(spent.submissions, 1u);
  EXPECT_EQ(spent.host_waits, 1u);
  EXPECT_EQ(spent.readbacks, 1u);
}

TEST_F(Executables, ABufferWithoutInitialContentsIsZeroWhateverItsMemoryHeld) {
  // Memory that was just given back and is full of ones is likely to be handed out again.
  constexpr size_t kCount = 1 << 16;
  {
    TestGraph dirty("dirty");
    const auto ones = dirty.buffer("ones", kCount);
    dirty.add(dirty.fill(dirty.whole(ones), 0xffffffff));
    ASSERT_OK(must(device().load(dirty.get()))->run());
  }
  TestGraph graph("clean");
  const auto out = graph.output(graph.buffer("out", kCount));
  const auto executable = load(graph);
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, out, kCount), Each(0u));
}

TEST_F(Executables, BeforeTheFirstRunABufferHoldsItsInitialContents) {
  Saxpy saxpy;
  const auto executable = load(saxpy.graph);
  EXPECT_THAT(read_all<float>(*executable, saxpy.y, 3), ElementsAre(10, 20, 30));
}

TEST_F(Executables, AWriteAfterARunDoesNotChangeWhatTheRunLeft) {
  Saxpy saxpy;
  const auto executable = load(saxpy.graph);
  ASSERT_OK(executable->run());
  ASSERT_OK(write_all<float>(*executable, saxpy.x, {4, 5, 6}));
  EXPECT_THAT(read_all<float>(*executable, saxpy.x, 3), ElementsAre(1, 2, 3));
}

TEST_F(Executables, ARepeatRunsItsBodyThatManyTimes) {
  TestGraph graph("repeat");
  const auto values = graph.output(graph.buffer<uint32_t>("values", {1, 2}));
  const auto kernel = graph.kernel(affine_kernel());
  graph.add_repeat(5, {graph.dispatch(kernel, {values}, {3, 1}, {1, 1, 1})});
  const auto executable = load(graph);
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, values, 2), ElementsAre(364, 607));
}

TEST_F(Executables, ChainsOfDispatchesCopiesAndFillsRunInOrder) {
  TestGraph graph("chain");
  const size_t count = 4096;
  const auto a = graph.buffer("a", count);
  const auto b = graph.output(graph.buffer("b", count));
  const auto kernel = graph.kernel(affine_kernel());
  const graph::Grid grid = {count / 64, 1, 1};
  graph.add(graph.fill(graph.whole(a), 1));
  graph.add_repeat(20, {graph.dispatch(kernel, {a}, {3, 1}, grid), graph.copy(graph.whole(a), graph.whole(b)),
                        graph.dispatch(kernel, {b}, {1, 5}, grid), graph.copy(graph.whole(b), graph.whole(a)),
                        graph.fill({a, 0, 4}, 2)});
  const auto executable = load(graph);
  ASSERT_OK(executable->run());
  uint32_t expected = 1;
  for (int i = 0; i < 20; ++i) expected = expected * 3 + 6;
  std::vector<uint32_t> values(count, expected);
  values[0] = 12;
  EXPECT_EQ(read_all<uint32_t>(*executable, b, count), values);
}

TEST_F(Executables, LaunchWordsOfEqualKernelsAreNotMixedUp) {
  TestGraph graph("words");
  const auto a = graph.output(graph.buffer<uint32_t>("a", {1}));
  const auto b = graph.output(graph.buffer<uint32_t>("b", {1}));
  const auto kernel = graph.kernel(affine_kernel());
  for (uint32_t addend : {1u, 2u, 2u, 3u}) {
    graph.add(graph.dispatch(kernel, {a}, {10, addend}, {1, 1, 1}));
    graph.add(graph.dispatch(kernel, {b}, {10, addend}, {1, 1, 1}));
  }
  const auto executable = load(graph);
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, a, 1), ElementsAre(11223));
  EXPECT_THAT(read_all<uint32_t>(*executable, b, 1), ElementsAre(11223));
}

/// Adds one to `values` once for the grid in `grid`, which `setter` writes before.
struct Indirect {
  TestGraph graph{"indirect"};
  BufferId grid = graph.indirect(graph.buffer<uint32_t>("grid", {7, 7, 7, 7}));
  BufferId values = graph.output(graph.buffer<uint32_t>("values", std::vector<uint32_t>(128, 0)));
  explicit Indirect(uint32_t workgroups) {
    kir::Builder b("setter");
    auto out = b.buffer("grid", kir::Type::i32, kir::Access::read_write);
    auto x = b.parameter("x", kir::Type::i32);
    out[1] = x;
    out[2] = b.u32(1);
    out[3] = b.u32(1);
    const auto setter = graph.kernel(b.finish());
    const auto affine = graph.kernel(affine_kernel());
    graph.add(graph.dispatch(setter, {grid}, {workgroups}, {1, 1, 1}));
    graph::Dispatch dispatch = graph.dispatch(affine, {values}, {1, 1}, {2, 1, 1});
    dispatch.indirect = graph::Range{grid, 4, 12};
    graph.add(dispatch);
  }
};

TEST_F(Executables, AnIndirectDispatchTakesTheGridThatAKernelWrote) {
  Indirect indirect(1);
  const auto executable = load(indirect.graph);
  ASSERT_OK(executable->run());
  const auto values = read_all<uint32_t>(*executable, indirect.values, 128);
  EXPECT_EQ(std::count(values.begin(), values.end(), 1u), 64);
}

TEST_F(Executables, AnIndirectDispatchOfAZeroGridDoesNothing) {
  Indirect indirect(0);
  const auto executable = load(indirect.graph);
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, indirect.values, 128), Each(0u));
}

/// Doubles external `a`, then copies it to external `b`.
struct External {
  TestGraph graph{"external"};
  BufferId a = graph.external(graph.buffer("a", 4));
  BufferId b = graph.output(graph.external(graph.buffer("b", 4)));
  External() {
    const auto kernel = graph.kernel(affine_kernel());
    graph.add(graph.dispatch(kernel, {a}, {2, 1}, {1, 1, 1}));
    graph.add(graph.copy(graph.whole(a), graph.whole(b)));
    graph.add(graph.dispatch(kernel, {b}, {1, 100}, {1, 1, 1}));
  }
};

TEST_F(Executables, NewMemoryIsZero) {
  External external;
  const auto executable = load(external.graph);
  ASSERT_OK(executable->bind(external.a, must(device().allocate(16))));
  ASSERT_OK(executable->bind(external.b, must(device().allocate(16))));
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, external.b, 4), Each(101u));
}

TEST_F(Executables, ExternalMemoryIsSharedByExecutables) {
  External external;
  const auto memory = must(device().allocate(16)), other = must(device().allocate(16));
  for (int i = 0; i < 2; ++i) {
    const auto executable = load(external.graph);
    ASSERT_OK(executable->bind(external.a, memory));
    ASSERT_OK(executable->bind(external.b, other));
    ASSERT_OK(executable->run());
    EXPECT_THAT(read_all<uint32_t>(*executable, external.b, 4), Each(i == 0 ? 101u : 103u));
  }
}

TEST_F(Executables, OtherMemoryCanBeBoundBetweenRuns) {
  External external;
  const auto executable = load(external.graph);
  const auto first = must(device().allocate(16)), second = must(device().allocate(16));
  ASSERT_OK(executable->bind(external.b, must(device().allocate(16))));
  ASSERT_OK(executable->bind(external.a, first));
  ASSERT_OK(write_all<uint32_t>(*executable, external.a, {5, 5, 5, 5}));
  ASSERT_OK(executable->run());
  ASSERT_OK(executable->bind(external.a, second));
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, external.b, 4), Each(101u));
  EXPECT_THAT(read_all<uint32_t>(*executable, external.a, 4), Each(1u));
}

TEST_F(Executables, TwoBuffersOverOneMemoryAreOrdered) {
  TestGraph graph("alias");
  const auto a = graph.external(graph.buffer("a", 64)), b = graph.external(graph.buffer("b", 64));
  const auto out = graph.output(graph.buffer("out", 64));
  graph.add(graph.dispatch(graph.kernel(affine_kernel()), {a}, {1, 1}, {1, 1, 1}));
  graph.add(graph.copy(graph.whole(b), graph.whole(out)));
  const auto executable = load(graph);
  const auto memory = must(device().allocate(256));
  ASSERT_OK(executable->bind(a, memory));
  ASSERT_OK(executable->bind(b, memory));
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, out, 64), Each(1u));
}

TEST_F(Executables, ARunWithoutExternalMemoryIsRefusedByName) {
  External external;
  const auto executable = load(external.graph);
  const auto result = executable->submit();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("external buffer \"a\" has no memory"));
}

TEST_F(Executables, MemoryThatIsTooSmallIsRefused) {
  External external;
  const auto executable = load(external.graph);
  const auto result = executable->bind(external.a, must(device().allocate(8)));
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("buffer \"a\" needs 16 bytes, and the memory bound to it has 8"));
}

TEST_F(Executables, AWriteOutsideABufferIsRefused) {
  Saxpy saxpy;
  const auto executable = load(saxpy.graph);
  const auto result = write_all<float>(*executable, saxpy.x, {1, 2, 3, 4});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("16 bytes at 0 cannot be written in buffer \"x\" of 12 bytes"));
}

TEST_F(Executables, ASecondSubmitDuringARunIsRefused) {
  Saxpy saxpy;
  const auto executable = load(saxpy.graph);
  ASSERT_OK(executable->submit());
  EXPECT_FALSE(executable->submit().ok());
  ASSERT_OK(executable->wait());
  EXPECT_FALSE(executable->wait().ok());
}

TEST_F(Executables, ABufferLargerThanTheDeviceAllowsIsNamed) {
  TestGraph graph("huge");
  graph.buffer("enormous", uint64_t{1} << 50);
  const auto result = device().load(graph.get());
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().to_string(), HasSubstr("\"enormous\""));
}

TEST_F(Executables, AGraphOfTooManyCommandsIsRefusedBeforeItRuns) {
  TestGraph graph("endless");
  const auto a = graph.buffer("a", 1);
  graph.add_repeat(0xffffffff, {graph.fill(graph.whole(a), 1)});
  auto loaded = device().load(graph.get());
  const auto result = loaded.ok() ? (*loaded)->submit() : Result<void>(loaded.error());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(result.error().message, HasSubstr("spell out more than"));
}

TEST_F(Executables, ReportsDeviceTimeAfterARun) {
  Saxpy saxpy;
  const auto executable = load(saxpy.graph);
  EXPECT_LT(executable->device_seconds(), 0);
  ASSERT_OK(executable->run());
  EXPECT_EQ(executable->device_seconds() > 0, device().profile().features.timestamps);
}

TEST_F(Executables, ManyIterationsOfAGatedLoopAreRecordedQuickly) {
  TestGraph graph("loop");
  const auto a = graph.output(graph.buffer<uint32_t>("a", {0}));
  const auto b = graph.buffer("b", 64);
  std::vector<graph::Command> body;
  for (uint64_t i = 0; i < 8; ++i) body.emplace_back(graph.fill({b, i * 8, 4}, 1));
  body.emplace_back(graph.copy({b, 0, 4}, {a, 0, 4}));
  graph.add_repeat(2000, body);
  const auto executable = load(graph);
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, a, 1), ElementsAre(1));
}

}  // namespace wavegate::device
