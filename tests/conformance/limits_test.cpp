#include "conformance/ways.h"
#include "wavegate/device/reference/device.h"

/// Programs that come to the limits of a device, or of 32 bits: what a lowering makes of them is cut to what fits.
namespace wavegate::conformance {
namespace {

using kir::Access;
using kir::Builder;
using kir::Type;
using program::Buffer;
using program::Initial;
using program::literal;
using program::Program;
using program::Scalar;
using program::ScalarExpr;
using testing::Each;
using testing::ElementsAre;

const std::shared_ptr<device::Device>& reference() {
  static const std::shared_ptr<device::Device> device = device::reference::make_device();
  return device;
}

const Refused kScalars = refused({Strategy::producer, Strategy::unroll});

// Its test is split where it names more words than the device launches, and all of its parts run.
TEST(Limits, AGatedLoopOfManyRegionsForgetsAllOfThem) {
  Program program("regions");
  const Buffer data = program.buffer("data", Type::i32, 32, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  const auto loop = program.while_(n < 3u, {.max = 6}, [&] {
    for (uint32_t i = 0; i < 30; ++i) program.if_(n < i + 100u, [&] { add(program, data, 1); });
    program.assign(n, n + 1u);
  });
  Refused refused = kScalars;
  refused.strategies.insert(Strategy::resident);  // more words than it has
  in_every_way(program, reference(), refused, [&](Executable& executable, const Way&) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(90u));
    EXPECT_THAT(report(executable, loop), Reports(3u, ExitReason::converged));
  });
}

TEST(Limits, AGatedLoopOfManyAssignmentsRunsThemNoMoreOftenThanItRuns) {
  Program program("assignments");
  const Scalar n = program.scalar_u32("n", 0);
  std::vector<Scalar> counts;
  for (uint32_t i = 0; i < 60; ++i) counts.push_back(program.scalar_u32("c" + std::to_string(i), 0));
  program.while_(n < 3u, {.max = 10}, [&] {
    program.assign(n, n + 1u);
    for (const Scalar count : counts) program.assign(count, count + 1u);
  });
  Refused refused = kScalars;
  refused.strategies.insert(Strategy::resident);
  in_every_way(program, reference(), refused, [&](Executable& executable, const Way&) {
    succeed(executable.run());
    for (const Scalar count : counts) EXPECT_EQ(value_of(executable.read_bits(count)), 3u);
  });
}

TEST(Limits, AnExpressionOfMoreScalarsThanLaunchWordsIsComputedInParts) {
  Program program("sum");
  std::vector<Scalar> terms;
  ScalarExpr sum = 0.0f;
  for (uint32_t i = 0; i < 150; ++i) {
    terms.push_back(program.scalar_f32("s" + std::to_string(i), static_cast<float>(i)));
    sum = sum + terms.back();
  }
  const Scalar total = program.scalar_f32("total", 0.0f), n = program.scalar_u32("n", 0);
  program.assign(total, sum);
  program.while_(sum > 0.0f && n < 2u, {.max = 4}, [&] { program.assign(n, n + 1u); });
  Refused refused = kScalars;
  refused.strategies.insert(Strategy::resident);
  in_every_way(program, reference(), refused, [&](Executable& executable, const Way&) {
    succeed(executable.run());
    EXPECT_EQ(value_of(executable.read_f32(total)), 149.0f * 75.0f);
    EXPECT_EQ(value_of(executable.read_bits(n)), 2u);
  });
}

TEST(Limits, ALoopRecordsMoreValuesThanAKernelBindsBuffers) {
  Program program("histories");
  const Scalar n = program.scalar_u32("n", 0);
  std::vector<Buffer> histories;
  program.while_(n < 3u, {.max = 4}, [&] {
    program.assign(n, n + 1u);
    for (int i = 0; i < 70; ++i) histories.push_back(program.record(n));
  });
  Refused refused = kScalars;
  refused.strategies.insert(Strategy::resident);
  in_every_way(program, reference(), refused, [&](Executable& executable, const Way&) {
    succeed(executable.run());
    for (const Buffer history : histories)
      EXPECT_THAT(value_of(executable.read<uint32_t>(history)), ElementsAre(1, 2, 3, 0));
  });
}

TEST(Limits, TheLargestBoundDoesNotWrap) {
  Program program("largest");
  const Scalar n = program.scalar_u32("n", 0);
  const Buffer data = program.buffer("data", Type::i32, 32, Initial::zero());
  const auto loop = program.while_(n < 5u, {.max = UINT32_MAX}, [&] {
    add(program, data, 1);
    program.assign(n, n + 1u);
  });
  for (const lowering::StrategyInfo& row : lowering::strategies()) {
    SCOPED_TRACE(row.name);
    CompileOptions options = forced(row.strategy);
    options.costs = target::Costs{.resident_step = 1e9};  // one iteration a dispatch
    auto executable = compile(program, reference(), options);
    const bool ends = row.strategy == Strategy::chunked || row.strategy == Strategy::resident;
    EXPECT_EQ(executable.ok(), ends);
    if (!executable) {
      EXPECT_EQ(executable.error().kind, ErrorKind::unsupported);
      continue;
    }
    succeed(executable->run());
    EXPECT_THAT(value_of(executable->read<uint32_t>(data)), Each(5u));
    EXPECT_THAT(report(*executable, loop), Reports(5u, ExitReason::converged));
  }
}

/// copy[0] = history[index], by one workgroup.
std::shared_ptr<const program::KernelSource> look_kernel() {
  Builder b("look", {32});
  auto history = b.buffer("history", Type::f32, Access::read);
  auto seen = b.buffer("seen", Type::f32, Access::read_write);
  const auto index = b.scalar("index", Type::i32, Access::read);
  b.if_(b.global_id() == 0u, [&] { seen[b.u32(0)] = history[index] + 0.5f; });
  return program::make_kernel_source(value_of(b.finish()));
}

TEST(Limits, AKernelReadsTheHistoryThatIsRecordedAfterIt) {
  Program program("looks back");
  const Scalar n = program.scalar_u32("n", 0), i = program.scalar_u32("i", 0);
  const Scalar x = program.scalar_f32("x", 4.0f);
  const Buffer seen = program.buffer("seen", Type::f32, 1, Initial::zero());
  Buffer history;
  program.while_(n < 3u, {.max = 4}, [&] {
    program.assign(x, x * 0.5f);
    history = program.record(x, 4);
    program.assign(i, n);
    program.assign(n, n + 1u);
    program.dispatch(
        {.label = "look", .kernel = look_kernel(), .bindings = {history, seen, i}, .grid = program::Grid{1, 1, 1}});
  });
  in_every_way(program, reference(), refused({Strategy::unroll}), [&](Executable& executable, const Way&) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<float>(history)), ElementsAre(2, 1, 0.5f, 0));
    EXPECT_THAT(value_of(executable.read<float>(seen)), ElementsAre(1.0f));
  });
}

/// A kernel that takes all the workgroup memory that the reference device has.
std::shared_ptr<const program::KernelSource> roomy_kernel() {
  Builder b("roomy", {32});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  auto room = b.workgroup_array("room", Type::i32, (1u << 16) / 4);
  room[b.local_id()] = data[b.local_id()] + 1u;
  b.barrier();
  data[b.local_id()] = room[b.local_id()];
  return program::make_kernel_source(value_of(b.finish()));
}

TEST(Limits, AResidentLoopLeavesItsScalarsWhereTheyAreIfNoWorkgroupMemoryIsLeft) {
  Program program("roomy");
  const Scalar n = program.scalar_u32("n", 0);
  const Buffer data = program.buffer("data", Type::i32, 32, Initial::zero());
  program.while_(n < 3u, {.max = 4}, [&] {
    program.dispatch({.label = "roomy", .kernel = roomy_kernel(), .bindings = {data}, .grid = program::Grid{1, 1, 1}});
    program.assign(n, n + 1u);
  });
  auto executable = compile(program, reference(), forced(Strategy::resident));
  ASSERT_TRUE(executable.ok()) << executable.error().to_string();
  succeed(executable->run());
  EXPECT_THAT(value_of(executable->read<uint32_t>(data)), Each(3u));
}

/// v[i] = v[31 - i] behind a barrier: a kernel whose workgroups are of four.
std::shared_ptr<const program::KernelSource> narrow_kernel() {
  Builder b("narrow", {4});
  auto data = b.buffer("narrow", Type::i32, Access::read_write);
  b.barrier();
  data[b.global_id()] = data[b.global_id()] + 1u;
  return program::make_kernel_source(value_of(b.finish()));
}

// However a driver counts the loops that a resident loop is made of, it comes to its end.
TEST(Limits, AResidentLoopIsCutWhereTheDriverWouldEndIt) {
  Program program("cut");
  const Scalar n = program.scalar_u32("n", 0);
  const Buffer narrow = program.buffer("narrow", Type::i32, 4, Initial::zero());
  const Buffer data = program.buffer("data", Type::i32, 512, Initial::zero());
  const Buffer filled = program.buffer("filled", Type::i32, 512, Initial::zero());
  const auto loop = program.while_(n < 40u, {.max = 50}, [&] {
    program.dispatch({.label = "narrow", .kernel = narrow_kernel(), .bindings = {narrow}, .grid = {{1, 1, 1}}});
    add(program, data, 1);
    program.fill(filled, literal(1u));
    program.copy({.label = "copy", .source = filled, .destination = data, .count = 512});
    add(program, data, 1);
    program.assign(n, n + 1u);
  });
  const std::shared_ptr<device::Device> device = device::reference::make_device({.kernel_loop_iterations = 4000});
  auto executable = compile(program, device, forced(Strategy::resident));
  ASSERT_TRUE(executable.ok()) << executable.error().to_string();
  succeed(executable->run());
  EXPECT_THAT(value_of(executable->read<uint32_t>(narrow)), Each(40u));
  EXPECT_THAT(value_of(executable->read<uint32_t>(data)), Each(2u));
  EXPECT_THAT(report(*executable, loop), Reports(40u, ExitReason::converged));
}

}  // namespace
}  // namespace wavegate::conformance
