#include "device/webgpu/application.h"
#include "device/webgpu/faults.h"
#include "device/webgpu/test_device.h"

namespace wavegate::device::webgpu {
namespace {

using graph::BufferId;
using testing::Each;
using testing::HasSubstr;

/// Triples an external buffer and adds one, then copies it to an output.
struct Guest {
  TestGraph graph{"guest"};
  BufferId values = graph.external(graph.buffer("values", 4));
  BufferId seen = graph.output(graph.buffer("seen", 4));
  BufferId word = graph.output(graph.buffer<uint32_t>("word", {9}));
  Guest() {
    graph.add(graph.dispatch(graph.kernel(affine_kernel()), {values}, {3, 1}, {1, 1, 1}));
    graph.add(graph.copy(graph.whole(values), graph.whole(seen)));
  }
};

TEST(WebGpuAdopt, AnAdoptedDeviceRunsOverBorrowedMemory) {
  Application application;
  {
    const auto device = application.lend();
    EXPECT_EQ(device->counters().submissions, 0u);
    Guest guest;
    const auto executable = must(device->load(guest.graph.get()));
    const WGPUBuffer values = application.buffer(4);
    application.write(values, {5, 5, 5, 5});
    ASSERT_OK(executable->bind(guest.values, must(borrow(*device, Application::number(values), 16))));
    ASSERT_OK(executable->run());
    EXPECT_THAT(read_all<uint32_t>(*executable, guest.seen, 4), Each(16u));
  }
}

TEST(WebGpuAdopt, ARunIsEncodedBetweenCommandsOfTheApplication) {
  Application application;
  {
    const auto device = application.lend();
    Guest guest;
    const auto executable = must(device->load(guest.graph.get()));
    const WGPUBuffer values = application.buffer(4);
    application.write(values, {5, 5, 5, 5});
    ASSERT_OK(executable->bind(guest.values, must(borrow(*device, Application::number(values), 16))));
    ASSERT_OK(write_all<uint32_t>(*executable, guest.word, {10}));
    const Counters before = device->counters();
    const WGPUCommandEncoder encoder = application.begin();
    Application::clear(encoder, values, 2);
    auto kept = must(encode(*executable, Application::number(encoder)));
    EXPECT_EQ((device->counters() - before).submissions, 0u);
    application.submit(encoder);
    kept.reset();
    EXPECT_EQ(read_all<uint32_t>(*executable, guest.seen, 4), (std::vector<uint32_t>{1, 1, 16, 16}));
    EXPECT_EQ(read_all<uint32_t>(*executable, guest.word, 1), (std::vector<uint32_t>{10}));

    // Again, without the writes of the first time, and then a run of its own.
    const WGPUCommandEncoder next = application.begin();
    kept = must(encode(*executable, Application::number(next)));
    application.submit(next);
    EXPECT_EQ(read_all<uint32_t>(*executable, guest.seen, 4), (std::vector<uint32_t>{4, 4, 49, 49}));
    ASSERT_OK(executable->run());
    EXPECT_EQ(read_all<uint32_t>(*executable, guest.seen, 4), (std::vector<uint32_t>{13, 13, 148, 148}));
  }
}

TEST(WebGpuAdopt, ALoopIsNotEncoded) {
  Application application;
  {
    const auto device = application.lend();
    TestGraph graph("loops");
    const auto done = graph.observed(graph.buffer<uint32_t>("done", {0}));
    graph::Loop loop;
    loop.label = "while";
    loop.done = graph.whole(done);
    loop.body = {graph.fill(graph.whole(done), 1)};
    graph.add(loop);
    const auto executable = must(device->load(graph.get()));
    const WGPUCommandEncoder encoder = application.begin();
    const auto result = encode(*executable, Application::number(encoder));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
    EXPECT_THAT(result.error().message, HasSubstr("loop \"while\""));
    application.submit(encoder);
  }
}

TEST(WebGpuAdopt, TheApplicationFindsTheBuffersOfAnExecutable) {
  Application application;
  {
    const auto device = application.lend();
    Guest guest;
    const auto executable = must(device->load(guest.graph.get()));
    EXPECT_THAT(buffer_of(*executable, guest.values).error().message, HasSubstr("has no memory"));
    const WGPUBuffer values = application.buffer(4);
    ASSERT_OK(executable->bind(guest.values, must(borrow(*device, Application::number(values), 16))));
    EXPECT_EQ(must(buffer_of(*executable, guest.values)).buffer, Application::number(values));
    const BufferPlace place = must(buffer_of(*executable, guest.seen));
    EXPECT_EQ(place.bytes, 16u);
    ASSERT_OK(executable->run());
    const WGPUCommandEncoder encoder = application.begin();
    Application::clear(encoder, reinterpret_cast<WGPUBuffer>(place.buffer), 4);
    application.submit(encoder);
    uint32_t word = 1;
    const auto other = must(device->load(guest.graph.get()));
    ASSERT_OK(other->bind(guest.values, must(borrow(*device, place.buffer, 16))));
    ASSERT_OK(other->read(guest.values, 0, std::as_writable_bytes(std::span(&word, 1))));
    EXPECT_EQ(word, 0u);
  }
}

TEST(WebGpuAdopt, WhatCannotBeBorrowedIsRefusedByName) {
  Application application;
  {
    const auto device = application.lend();
    const auto refusal = [&](WGPUBuffer buffer, uint64_t bytes) {
      const auto result = borrow(*device, Application::number(buffer), bytes);
      EXPECT_FALSE(result.ok());
      if (result.ok()) return std::string();
      EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
      return result.error().message;
    };
    EXPECT_THAT(refusal(application.buffer(4), 20),
                HasSubstr("20 bytes of a WGPUBuffer cannot be borrowed, since it has 16"));
    constexpr WGPUBufferUsage kAll = Application::kUsual;
    EXPECT_THAT(refusal(application.buffer(4, kAll & ~WGPUBufferUsage_Storage), 16), HasSubstr("usage STORAGE "));
    EXPECT_THAT(refusal(application.buffer(4, kAll & ~WGPUBufferUsage_CopySrc), 16), HasSubstr("usage COPY_SRC "));
    EXPECT_THAT(refusal(application.buffer(4, kAll & ~WGPUBufferUsage_CopyDst), 16), HasSubstr("usage COPY_DST "));
  }
}

TEST(WebGpuAdopt, AGridIsReadFromABufferThatWasMadeForIt) {
  Application application;
  {
    const auto device = application.lend();
    TestGraph graph("grid");
    const auto values = graph.output(graph.buffer<uint32_t>("values", {5}));
    const auto grid = graph.external(graph.indirect(graph.buffer("grid", 3)));
    graph::Dispatch dispatch = graph.dispatch(graph.kernel(affine_kernel()), {values}, {3, 1}, {1, 1, 1});
    dispatch.indirect = graph.whole(grid);
    graph.add(dispatch);
    const auto executable = must(device->load(graph.get()));
    const auto unfit = must(borrow(*device, Application::number(application.buffer(3)), 12));
    const auto refused = executable->bind(grid, unfit);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(refused.error().message, testing::AllOf(HasSubstr("buffer \"grid\""), HasSubstr("INDIRECT")));
    const WGPUBuffer fit = application.buffer(3, Application::kUsual | WGPUBufferUsage_Indirect);
    application.write(fit, {1, 1, 1});
    ASSERT_OK(executable->bind(grid, must(borrow(*device, Application::number(fit), 12))));
    ASSERT_OK(executable->run());
    EXPECT_EQ(read_all<uint32_t>(*executable, values, 1), (std::vector<uint32_t>{16}));
  }
}

TEST(WebGpuAdopt, ABorrowedBufferThatIsDestroyedIsTheApplicationsFault) {
  Application application;
  {
    const auto device = application.lend();
    Guest guest;
    const auto executable = must(device->load(guest.graph.get()));
    const WGPUBuffer gone = application.buffer(4), values = application.buffer(4);
    application.write(values, {5, 5, 5, 5});
    ASSERT_OK(executable->bind(guest.values, must(borrow(*device, Application::number(gone), 16))));
    Application::destroy(gone);
    const auto result = executable->run();
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_input) << result.error().message;
    EXPECT_THAT(result.error().message, HasSubstr("neither destroyed nor mapped"));
    ASSERT_OK(executable->reset());
    ASSERT_OK(executable->bind(guest.values, must(borrow(*device, Application::number(values), 16))));
    ASSERT_OK(executable->run());
    EXPECT_THAT(read_all<uint32_t>(*executable, guest.seen, 4), Each(16u));
  }
}

TEST(WebGpuAdopt, AnEncoderThatTakesNoCommandsIsTheApplicationsFault) {
  Application application;
  {
    const auto device = application.lend();
    Guest guest;
    const auto executable = must(device->load(guest.graph.get()));
    const WGPUBuffer values = application.buffer(4);
    application.write(values, {5, 5, 5, 5});
    ASSERT_OK(executable->bind(guest.values, must(borrow(*device, Application::number(values), 16))));
    ASSERT_OK(executable->run());
    ASSERT_OK(write_all<uint32_t>(*executable, guest.word, {10}));
    const WGPUCommandEncoder finished = application.begin();
    WGPUCommandBuffer commands = Application::finish(finished);
    // The application's own listener, which hears of nothing, would fail the test.
    const auto result = encode(*executable, Application::number(finished));
    CALL(CommandBufferRelease)(commands);
    CALL(CommandEncoderRelease)(finished);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_input) << result.error().message;
    EXPECT_THAT(result.error().message, HasSubstr("graph \"guest\": recording it"));
    EXPECT_THAT(read_all<uint32_t>(*executable, guest.seen, 4), Each(16u)) << "the outputs of the run before";
    const WGPUCommandEncoder encoder = application.begin();
    auto kept = must(encode(*executable, Application::number(encoder)));
    application.submit(encoder);
    EXPECT_THAT(read_all<uint32_t>(*executable, guest.seen, 4), Each(49u));
    EXPECT_EQ(read_all<uint32_t>(*executable, guest.word, 1), (std::vector<uint32_t>{10})) << "a write was lost";
  }
}

TEST(WebGpuAdopt, WhatAnEncodingWasRefusedIsMadeAnew) {
  Application application;
  {
    const auto device = application.lend();
    Guest guest;
    const auto executable = must(device->load(guest.graph.get()));
    const WGPUBuffer values = application.buffer(4);
    ASSERT_OK(executable->bind(guest.values, must(borrow(*device, Application::number(values), 16))));
    // A part of a word is written by a kernel, which the first encoding makes.
    const std::byte byte{1};
    ASSERT_OK(executable->write(guest.word, 0, {&byte, 1}));
    for (const bool is_refused : {true, false}) {
      if (is_refused) faults().next_pipeline = WGPUErrorType_Validation;
      const uint32_t before = faults().pipelines;
      const WGPUCommandEncoder encoder = application.begin();
      auto kept = encode(*executable, Application::number(encoder));
      EXPECT_EQ(kept.ok(), !is_refused);
      EXPECT_GT(faults().pipelines, before) << "the pipeline that was refused is kept";
      application.submit(encoder);
    }
    EXPECT_EQ(read_all<uint32_t>(*executable, guest.word, 1), (std::vector<uint32_t>{1}));
  }
}

TEST(WebGpuAdopt, ADeviceWithoutAnInstanceIsRefused) {
  const auto result = adopt(AdoptedDevice{});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
}

}  // namespace
}  // namespace wavegate::device::webgpu
