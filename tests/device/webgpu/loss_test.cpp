#include <memory>
#include <ostream>

#include "device/webgpu/application.h"
#include "device/webgpu/faults.h"
#include "device/webgpu/test_device.h"

namespace wavegate::device::webgpu {
namespace {

using graph::BufferId;
using testing::HasSubstr;

/// Whose device, and how it goes.
struct Way {
  const char* name;
  bool is_adopted;
  bool is_destroyed;  ///< by its application; else the driver fails
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

/// A device that can be lost.
class WebGpuLoss : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (GetParam().is_adopted) application_ = std::make_unique<Application>();
    device_ = application_ ? application_->lend() : must(open_for_test());
    handle_ = faults().device;
  }
  Device& device() { return *device_; }
  void lose() const {
    constexpr std::string_view kWhy = "the test pulled the plug";
    if (GetParam().is_destroyed)
      CALL(DeviceDestroy)(handle_);
    else
      CALL(DeviceForceLoss)(handle_, WGPUDeviceLostReason_Unknown, {kWhy.data(), kWhy.size()});
  }

  static void expect_lost(const Result<void>& result, const char* what) {
    ASSERT_FALSE(result.ok()) << what;
    EXPECT_EQ(result.error().kind, ErrorKind::device) << what << ": " << result.error().message;
    EXPECT_THAT(result.error().message, HasSubstr("the device is lost")) << what;
  }
  template <typename T>
  static void expect_lost(Result<T> result, const char* what) {
    expect_lost(result.ok() ? Result<void>() : Result<void>(result.error()), what);
  }

 private:
  std::unique_ptr<Application> application_;
  std::unique_ptr<Device> device_;
  WGPUDevice handle_ = nullptr;
};

struct Counting {
  TestGraph graph{"counting"};
  BufferId out = graph.output(graph.buffer("out", std::vector<uint32_t>(64, 1)));
  BufferId inner = graph.buffer("inner", std::vector<uint32_t>(64, 1));
  Counting() { graph.add(graph.dispatch(graph.kernel(affine_kernel()), {out}, {2, 1}, {1, 1, 1})); }
};

TEST_P(WebGpuLoss, IsToldByWhateverIsAskedForNext) {
  Counting counting;
  const auto executable = must(device().load(counting.graph.get()));
  ASSERT_OK(executable->run());
  lose();
  uint32_t word = 0;
  const auto bytes = std::as_writable_bytes(std::span(&word, 1));
  expect_lost(executable->submit(), "submit");
  expect_lost(executable->read(counting.out, 0, bytes), "read of an output");
  expect_lost(executable->read(counting.inner, 0, bytes), "read of another buffer");
  expect_lost(device().allocate(16), "allocate");
  expect_lost(device().load(counting.graph.get()), "load");
  // Whatever the number is, it is not looked at.
  expect_lost(encode(*executable, 1), "encode");
  expect_lost(executable->run(), "run");
}

TEST_P(WebGpuLoss, EndsARunThatGoesOn) {
  Counting counting;
  const auto executable = must(device().load(counting.graph.get()));
  ASSERT_OK(executable->submit());
  lose();
  expect_lost(executable->wait(), "wait");
  expect_lost(executable->run(), "the next run");
}

TEST_P(WebGpuLoss, EndsALoopThatWouldNotEnd) {
  TestGraph graph("endless");
  const auto done = graph.observed(graph.buffer<uint32_t>("done", {0}));
  graph::Loop loop;
  loop.label = "for ever";
  loop.done = graph.whole(done);
  loop.body = {graph.fill(graph.whole(done), 0)};
  graph.add(loop);
  const auto executable = must(device().load(graph.get()));
  ASSERT_OK(executable->submit());
  lose();
  expect_lost(executable->wait(), "wait");
}

TEST_P(WebGpuLoss, IsToldToWhoeverAskedToBeCalled) {
  Counting counting;
  const auto executable = must(device().load(counting.graph.get()));
  ASSERT_OK(executable->submit());
  lose();
  bool is_told = false;
  ASSERT_OK(when_done(*executable, [&](const Result<void>& result) {
    expect_lost(result, "when_done");
    is_told = true;
  }));
  EXPECT_FALSE(executable->wait().ok());  // which calls back for all
  EXPECT_TRUE(is_told);
}

INSTANTIATE_TEST_SUITE_P(Device, WebGpuLoss,
                         testing::Values(Way{"opened", false, false}, Way{"adopted", true, false},
                                         Way{"adopted_and_destroyed", true, true}),
                         [](const testing::TestParamInfo<Way>& way) { return std::string(way.param.name); });

class WebGpuOutOfMemory : public WebGpuTest {
 protected:
  static void expect_out_of_memory(const Result<void>& result) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::device) << result.error().message;
    EXPECT_THAT(result.error().message, HasSubstr("out of memory"));
  }
};

TEST_F(WebGpuOutOfMemory, IsAnErrorOfWhateverWantedIt) {
  faults().next_buffer = WGPUErrorType_OutOfMemory;
  const auto memory = device().allocate(16);
  expect_out_of_memory(memory.ok() ? Result<void>() : Result<void>(memory.error()));
  ASSERT_TRUE(device().allocate(16).ok());

  Counting counting;
  faults().next_buffer = WGPUErrorType_OutOfMemory;
  const auto refused = device().load(counting.graph.get());
  expect_out_of_memory(refused.ok() ? Result<void>() : Result<void>(refused.error()));

  // The first run makes the buffer of the launch words.
  const auto executable = must(device().load(counting.graph.get()));
  faults().next_buffer = WGPUErrorType_OutOfMemory;
  expect_out_of_memory(executable->run());
  ASSERT_OK(executable->reset());
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, counting.out, 1), (std::vector<uint32_t>{3}));
}

}  // namespace
}  // namespace wavegate::device::webgpu
