#include "wavegate/device/webgpu/executable.h"

#include <array>
#include <numeric>

#include "device/executables.h"
#include "device/webgpu/test_device.h"

namespace wavegate::device::webgpu {
namespace {

class WebGpuExecutableTest : public WebGpuTest {};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST_F(WebGpuExecutableTest, AWriteAfterAFillStaysAfterIt) {
  TestGraph graph("order");
  const auto out = graph.output(graph.buffer("out", 4));
  graph.at(out).initial = graph::Contents{nullptr, 7};
  const auto executable = must(device().load(graph.get()));
  ASSERT_OK(write_all<uint32_t>(*executable, out, {1, 2}));
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, out, 4), ElementsAre(1, 2, 7, 7));
}

TEST_F(WebGpuExecutableTest, BytesAreWrittenWhereverTheyBeginAndEnd) {
  for (uint64_t offset = 0; offset < 5; ++offset)
    for (size_t count = 1; count < 8; ++count) {
      TestGraph graph("bytes");
      const auto out = graph.output(graph.buffer("out", std::vector<uint32_t>(3, 0x2e2e2e2e)));
      const auto executable = must(device().load(graph.get()));
      ASSERT_OK(executable->write(out, offset, bytes_of(std::string_view("abcdefg").substr(0, count))));
      ASSERT_OK(executable->run());
      std::string expected(12, '.');
      expected.replace(offset, count, std::string_view("abcdefg").substr(0, count));
      const std::vector<char> read = read_all<char>(*executable, out, 12);
      EXPECT_EQ(std::string(read.begin(), read.end()), expected);
    }
}

TEST_F(WebGpuExecutableTest, BytesAreReadWhereverTheyBeginAndEnd) {
  TestGraph graph("bytes");
  const std::string text = "abcdefghijkl";
  const std::vector<char> contents(text.begin(), text.end());
  const auto out = graph.output(graph.buffer("out", 3)), inner = graph.buffer("inner", 3);
  const auto bytes = std::as_bytes(std::span(contents));
  for (const auto buffer : {out, inner})
    graph.at(buffer).initial = graph::Contents{std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end()), 0};
  const auto executable = must(device().load(graph.get()));
  ASSERT_OK(executable->run());
  for (const auto buffer : {out, inner})
    for (uint64_t offset = 0; offset < 9; ++offset) {
      std::string read(3, ' ');
      ASSERT_OK(executable->read(buffer, offset, std::as_writable_bytes(std::span(read))));
      EXPECT_EQ(read, text.substr(offset, 3));
    }
}

TEST_F(WebGpuExecutableTest, AFillOfAPartOfABufferLeavesTheRest) {
  TestGraph graph("fill");
  const auto out = graph.output(graph.buffer("out", std::vector<uint32_t>(400, 1)));
  graph.add(graph.fill({out, 4, 1200}, 5));
  graph.add(graph.fill({out, 1212, 8}, 0));
  const auto executable = must(device().load(graph.get()));
  ASSERT_OK(executable->run());
  std::vector<uint32_t> expected(400, 1);
  std::fill_n(expected.begin() + 1, 300, 5u);
  std::fill_n(expected.begin() + 303, 2, 0u);
  EXPECT_EQ(read_all<uint32_t>(*executable, out, 400), expected);
}

TEST_F(WebGpuExecutableTest, ACopyWithinABufferGoesThrough) {
  TestGraph graph("copy");
  const auto out = graph.output(graph.buffer<uint32_t>("out", {1, 2, 3, 4}));
  graph.add(graph.copy({out, 0, 8}, {out, 8, 8}));
  const auto executable = must(device().load(graph.get()));
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, out, 4), ElementsAre(1, 2, 1, 2));
}

/// y[i] = a x[i] + y[i] over ranges of one buffer.
struct OneBuffer {
  TestGraph graph{"one buffer"};
  BufferId values = graph.output(graph.buffer("values", std::vector<float>(256, 1.0f)));
  OneBuffer(const graph::Range& x, const graph::Range& y) {
    graph::Dispatch dispatch =
        graph.dispatch(graph.kernel(saxpy_kernel()), {values, values}, {4, std::bit_cast<uint32_t>(2.0f)}, {1, 1, 1});
    dispatch.bindings = {x, y};
    dispatch.uses = {{x, kir::Access::read}, {y, kir::Access::read_write}};
    graph.add(dispatch);
  }
};

TEST_F(WebGpuExecutableTest, AKernelMayReadOnePartOfABufferAndWriteAnother) {
  OneBuffer one({BufferId{0}, 0, 16}, {BufferId{0}, 512, 16});
  const auto executable = must(device().load(one.graph.get()));
  ASSERT_OK(executable->run());
  const auto values = read_all<float>(*executable, one.values, 256);
  EXPECT_EQ(values[127], 1.0f);
  EXPECT_EQ(values[128], 3.0f);
  EXPECT_EQ(values[132], 1.0f);
}

TEST_F(WebGpuExecutableTest, AKernelMayGetOneRangeTwiceAndWriteIt) {
  OneBuffer one({BufferId{0}, 256, 16}, {BufferId{0}, 256, 16});
  const auto executable = must(device().load(one.graph.get()));
  ASSERT_OK(executable->run());
  const auto values = read_all<float>(*executable, one.values, 256);
  EXPECT_EQ(values[63], 1.0f);
  EXPECT_EQ(values[64], 3.0f);
}

/// c[i] = a[i] + b[i] over ranges of one buffer of 256 words, each its own index.
std::vector<uint32_t> sum_within(Device& device, const std::array<uint64_t, 3>& offsets) {
  kir::Builder b("sum", {64});
  auto x = b.buffer("x", kir::Type::i32, kir::Access::read);
  auto y = b.buffer("y", kir::Type::i32, kir::Access::read);
  auto z = b.buffer("z", kir::Type::i32, kir::Access::read_write);
  const auto i = b.global_id();
  b.if_(i < z.length(), [&] { z[i] = x[i] + y[i]; });
  TestGraph graph("sum");
  std::vector<uint32_t> numbers(256);
  std::iota(numbers.begin(), numbers.end(), 0u);
  const BufferId values = graph.output(graph.buffer("values", numbers));
  graph::Dispatch dispatch = graph.dispatch(graph.kernel(b.finish()), {values, values, values}, {}, {1, 1, 1});
  for (size_t k = 0; k < 3; ++k) {
    dispatch.bindings[k] = {values, offsets[k], 16};
    dispatch.uses[k].range = dispatch.bindings[k];
  }
  graph.add(dispatch);
  const auto executable = must(device.load(graph.get()));
  const Result<void> ran = executable->run();
  EXPECT_TRUE(ran.ok()) << ran.error().to_string();
  const auto all = read_all<uint32_t>(*executable, values, 256);
  return {all.begin() + static_cast<std::ptrdiff_t>(offsets[2] / 4),
          all.begin() + static_cast<std::ptrdiff_t>(offsets[2] / 4) + 4};
}

TEST_F(WebGpuExecutableTest, TwoReadersOfOneRangeMayStandBesideAWriterOfItsBuffer) {
  EXPECT_THAT(sum_within(device(), {256, 256, 256}), ElementsAre(128, 130, 132, 134));
  EXPECT_THAT(sum_within(device(), {256, 256, 512}), ElementsAre(128, 130, 132, 134));
  EXPECT_THAT(sum_within(device(), {256, 512, 256}), ElementsAre(192, 194, 196, 198));
  EXPECT_THAT(sum_within(device(), {0, 256, 512}), ElementsAre(64, 66, 68, 70));
}

TEST_F(WebGpuExecutableTest, RangesThatOverlapAreRefusedByName) {
  OneBuffer one({BufferId{0}, 0, 1024}, {BufferId{0}, 512, 16});
  const auto result = device().load(one.graph.get());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(result.error().message, HasSubstr("dispatch \"saxpy\""));
  EXPECT_THAT(result.error().message, HasSubstr("bindings 0 and 1 that overlap"));
}

TEST_F(WebGpuExecutableTest, OneMemoryBoundToTwoBuffersIsFoundOut) {
  TestGraph graph("alias");
  const auto x = graph.external(graph.buffer("x", 4)), y = graph.external(graph.buffer("y", 4));
  const auto kernel = graph.kernel(saxpy_kernel());
  graph.add(graph.dispatch(kernel, {x, y}, {4, std::bit_cast<uint32_t>(2.0f)}, {1, 1, 1}));
  const auto executable = must(device().load(graph.get()));
  const auto memory = must(device().allocate(16));
  ASSERT_OK(executable->bind(x, memory));
  ASSERT_OK(executable->bind(y, memory));
  ASSERT_OK(write_all<float>(*executable, x, {1, 2, 3, 4}));
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<float>(*executable, y, 4), ElementsAre(3, 6, 9, 12));
}

TEST_F(WebGpuExecutableTest, AGridInABufferThatItsDispatchBindsIsRefused) {
  TestGraph graph("grid");
  const auto grid = graph.indirect(graph.buffer<uint32_t>("grid", {1, 1, 1}));
  graph::Dispatch dispatch = graph.dispatch(graph.kernel(affine_kernel()), {grid}, {1, 1}, {1, 1, 1});
  dispatch.indirect = graph.whole(grid);
  graph.add(dispatch);
  const auto result = device().load(graph.get());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::internal);
  EXPECT_THAT(result.error().message, HasSubstr("reads its grid from buffer \"grid\""));
}

TEST_F(WebGpuExecutableTest, ADispatchOfNothingIsLeftOut) {
  TestGraph graph("nothing");
  const auto out = graph.output(graph.buffer<uint32_t>("out", {5}));
  graph.add(graph.dispatch(graph.kernel(affine_kernel()), {out}, {1, 1}, {0, 1, 1}));
  const auto executable = must(device().load(graph.get()));
  ASSERT_OK(executable->run());
  EXPECT_THAT(read_all<uint32_t>(*executable, out, 1), ElementsAre(5));
}

/// A finished module that doubles its first binding into its second.
std::shared_ptr<const kir::OpaqueKernel> doubling(std::string text) {
  kir::OpaqueKernel kernel;
  kernel.interface.name = "double";
  kernel.interface.bindings = {{"from", kir::BindingKind::buffer, kir::Type::i32, kir::Access::read},
                               {"to", kir::BindingKind::buffer, kir::Type::i32, kir::Access::read_write}};
  kernel.wgsl = std::move(text);
  return std::make_shared<const kir::OpaqueKernel>(std::move(kernel));
}
constexpr const char* kDoubling = R"(
@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> doubled: array<u32>;
@compute @workgroup_size(1) fn main() { doubled[0] = source[0] * 2u; })";

TestGraph doubling_graph(const std::string& text) {
  TestGraph graph("module");
  const auto values = graph.output(graph.buffer("values", std::vector<uint32_t>(128, 21)));
  const_cast<graph::Graph&>(*graph.get()).kernels.emplace_back(doubling(text));
  graph::Dispatch dispatch;
  dispatch.label = "double";
  dispatch.bindings = {{values, 0, 4}, {values, 256, 4}};
  dispatch.uses = {{dispatch.bindings[0], kir::Access::read}, {dispatch.bindings[1], kir::Access::read_write}};
  graph.add(dispatch);
  return graph;
}

TEST_F(WebGpuExecutableTest, AModuleMayReadOnePartOfABufferAndWriteAnother) {
  const TestGraph graph = doubling_graph(kDoubling);
  const auto executable = must(device().load(graph.get()));
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, BufferId{0}, 128)[64], 42u);
}

TEST_F(WebGpuExecutableTest, AModuleThatIsNotValidIsAnErrorOfLoadingEachTime) {
  const TestGraph graph = doubling_graph("@compute @workgroup_size(1) fn main() { undeclared(); }");
  for (int i = 0; i < 2; ++i) {
    const auto result = device().load(graph.get());
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(result.error().message, HasSubstr("undeclared"));
  }
}

TEST_F(WebGpuExecutableTest, AModuleThatIsNotValidIsFoundOutWithoutValidation) {
  const auto unchecked = must(open_for_test(false));
  const TestGraph graph = doubling_graph("@compute @workgroup_size(1) fn main() { undeclared(); }");
  for (int i = 0; i < 2; ++i) {
    const auto result = unchecked->load(graph.get());
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(result.error().message, AllOf(HasSubstr("undeclared"), HasSubstr("kernel \"double\"")));
  }
  const TestGraph good = doubling_graph(kDoubling);
  const auto executable = must(unchecked->load(good.get()));
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, BufferId{0}, 128)[64], 42u);
}

TEST_F(WebGpuExecutableTest, AModuleIsShownAsManyBytesAsItsVariablesHave) {
  std::string text = kDoubling;
  text.replace(text.find("array<u32>"), 10, "array<u32, 3>");
  const TestGraph graph = doubling_graph(text);
  const auto unchecked = must(open_for_test(false));
  for (Device* each : {&device(), unchecked.get()}) {
    const auto result = each->load(graph.get());
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(result.error().message,
                AllOf(HasSubstr("kernel \"double\""), HasSubstr("binding \"from\" the 4 bytes of buffer \"values\""),
                      HasSubstr("at least 12")));
  }
}

TEST_F(WebGpuExecutableTest, MemoryBeyondTheLargestBufferIsRefused) {
  const auto result = device().allocate(uint64_t{1} << 50);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("largest buffer"));
}

TEST_F(WebGpuExecutableTest, ARunThatIsOverTellsSoAtOnce) {
  TestGraph graph("late");
  const auto out = graph.output(graph.buffer<uint32_t>("out", {1}));
  graph.add(graph.dispatch(graph.kernel(affine_kernel()), {out}, {2, 1}, {1, 1, 1}));
  const auto executable = must(device().load(graph.get())), other = must(device().load(graph.get()));
  ASSERT_OK(executable->submit());
  for (int i = 0; i < 20; ++i) ASSERT_OK(other->run());  // which calls back for all
  bool is_done = false;
  ASSERT_OK(when_done(*executable, [&](const Result<void>& result) { is_done = result.ok(); }));
  while (!is_done) ASSERT_OK(other->run());
  ASSERT_OK(executable->run());
}

TEST_F(WebGpuExecutableTest, ARunCanTellWhenItIsDone) {
  TestGraph graph("callback");
  const auto out = graph.output(graph.buffer<uint32_t>("out", {1}));
  graph.add(graph.dispatch(graph.kernel(affine_kernel()), {out}, {2, 1}, {1, 1, 1}));
  const auto executable = must(device().load(graph.get())), other = must(device().load(graph.get()));
  ASSERT_OK(executable->submit());
  bool is_done = false;
  ASSERT_OK(when_done(*executable, [&](const Result<void>& result) { is_done = result.ok(); }));
  while (!is_done) ASSERT_OK(other->run());  // which calls back for all
  EXPECT_THAT(read_all<uint32_t>(*executable, out, 1), ElementsAre(3));
  ASSERT_OK(executable->run());
}

}  // namespace
}  // namespace wavegate::device::webgpu
