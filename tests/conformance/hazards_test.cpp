#include "wavegate/device/vulkan/hazards.h"
#include "conformance/ways.h"

// Hazards that other systems of control flow on GPUs have, one after the other. Each is named for what must not happen.
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
using testing::HasSubstr;

class Hazards : public ConformanceTest {
 protected:
  void in_every_way(const Program& program, const Refused& refused, const std::function<void(Executable&)>& check) {
    conformance::in_every_way(program, device(), refused, check);
  }
};

const Refused kNarrow = refused({Strategy::unroll});
const Refused kWide = refused({Strategy::producer, Strategy::unroll});

/// All dispatches of a graph, inside blocks too.
void collect(const std::vector<graph::Command>& commands, std::vector<graph::Dispatch>& found) {
  for (const graph::Command& command : commands)
    std::visit(
        [&](const auto& what) {
          using T = std::decay_t<decltype(what)>;
          if constexpr (std::is_same_v<T, graph::Dispatch>)
            found.push_back(what);
          else if constexpr (!std::is_same_v<T, graph::Copy> && !std::is_same_v<T, graph::Fill>)
            collect(what->body, found);
        },
        command);
}
std::vector<graph::Dispatch> dispatches(const Executable& executable) {
  std::vector<graph::Dispatch> found;
  collect(executable.plan().graph->commands, found);
  return found;
}

// Hazard 1: a predicate that is read again before every command cuts a body in half when the body clears it.
TEST_P(Hazards, Hazard1_ABodyThatClearsItsPredicateMidwayStillRunsWhole) {
  Program program("latched");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1), flag = program.scalar_u32("flag", 1);
  const Scalar choice = program.scalar_u32("choice", 3);
  const auto loop = program.while_(active, {.min = 0, .max = 4}, [&] {
    digit(program, data, 1);
    program.assign(active, literal(0u));
    digit(program, data, 2);
    program.assign(active, literal(0u));
    digit(program, data, 3);
  });
  program.if_(
      flag,
      [&] {
        program.assign(flag, literal(0u));
        digit(program, data, 4);
      },
      [&] { digit(program, data, 8); });
  program.switch_(choice,
                  {{3,
                    [&] {
                      program.assign(choice, literal(5u));
                      digit(program, data, 5);
                    }},
                   {5, [&] { digit(program, data, 9); }}},
                  [&] { digit(program, data, 9); });
  in_every_way(program, kNarrow, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(12345u));
    EXPECT_THAT(report(executable, loop), Reports(1u, ExitReason::converged));
  });
}

TEST_P(Hazards, Hazard1_AKernelThatClearsThePredicateMidwayDoesNotCutTheBody) {
  Builder b("clear", {64});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  auto flag = b.scalar("flag", Type::i32, Access::read_write);
  const auto i = b.global_id();
  b.if_(i < data.length(), [&] { data[i] = data[i] + 1; });
  b.if_(i == 0, [&] { flag = b.u32(0); });
  const auto clear = source(b.finish());
  Program program("cleared by a kernel");
  const Buffer buffer = program.buffer("data", Type::i32, 200, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  const auto loop = program.while_(active, {.max = 5}, [&] {
    program.dispatch({.label = "clear", .kernel = clear, .bindings = {buffer, active}, .grid = program::Grid{4, 1, 1}});
    add(program, buffer, 10);
    program.fill({"part", buffer, 0, 7, literal(3u)});
    add(program, buffer, 100);
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    std::vector<uint32_t> expected(200, 111);
    std::fill_n(expected.begin(), 7, 103u);
    EXPECT_EQ(value_of(executable.read<uint32_t>(buffer)), expected);
    EXPECT_THAT(report(executable, loop), Reports(1u, ExitReason::converged));
  });
}

// Hazard 2: a loop that is spelled out without the predicate around it.
TEST_P(Hazards, Hazard2_UnrollingDropsNoPredicate) {
  for (const uint32_t flag : {0u, 1u}) {
    Program program("unrolled");
    const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
    const Scalar outer = program.scalar_u32("outer", flag), n = program.scalar_u32("n", 0);
    program::Loop loop;
    program.if_(outer, [&] {
      loop = program.while_(outer, {.min = 4, .max = 4}, [&] {
        program.if_(program.iteration() < 2, [&] { add(program, data, 1); });
        program.fill({"one", data, 9, 1, literal(50u)});
        program.assign(n, n + 1);
        add(program, data, 10);
      });
    });
    in_every_way(program, {}, [&](Executable& executable) {
      succeed(executable.run());
      std::vector<uint32_t> expected(10, flag * 42);
      expected[9] = flag * 60;
      EXPECT_EQ(value_of(executable.read<uint32_t>(data)), expected);
      EXPECT_EQ(value_of(executable.read_bits(n)), flag * 4);
      EXPECT_THAT(report(executable, loop), Reports(flag * 4, ExitReason::bound));
    });
  }
}

TEST_P(Hazards, Hazard2_ALoopWhosePredicateDecidesIsNotUnrolled) {
  Program program("undecided");
  const Buffer data = program.buffer("data", Type::i32, 10, Initial::zero());
  const Scalar active = program.scalar_u32("active", 1);
  program.while_(active, {.min = 3, .max = 4}, [&] { add(program, data, 1); });
  const auto executable = compile(program, device(), forced(Strategy::unroll));
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(executable.error().kind, ErrorKind::unsupported);
}

/// Adds to every element the grid that its kernel sees.
std::shared_ptr<const program::KernelSource> grid_kernel() {
  static const auto kernel = [] {
    Builder b("grid", {64});
    auto data = b.buffer("data", Type::i32, Access::read_write);
    const auto width = b.grid(0) * 64;
    const auto place = (b.workgroup_id(2) * b.grid(1) + b.workgroup_id(1)) * width + b.global_id();
    b.if_(place < data.length(), [&] { data[place] = data[place] + b.grid(0) * 10000 + b.grid(1) * 100 + b.grid(2); });
    return source(b.finish());
  }();
  return kernel;
}

// Hazard 3: a geometry that is declared and another that is dispatched.
TEST_P(Hazards, Hazard3_TheGeometryThatIsDeclaredIsTheOneThatRuns) {
  Program program("geometry");
  const Buffer data = program.buffer("data", Type::i32, 64 * 12, Initial::zero());
  const Scalar flag = program.scalar_u32("flag", 1);
  const auto run = [&](program::Grid grid) {
    // A workload estimate is never geometry.
    program.dispatch(
        {.label = "grid", .kernel = grid_kernel(), .bindings = {data}, .grid = grid, .maximum_workgroups = 1});
  };
  run({2, 3, 2});
  program.while_(flag, {.max = 2}, [&] {
    run({12, 1, 1});
    program.if_(flag, [&] { run({1, 4, 3}); });
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(20302u + 2 * (120101u + 10403u)));
  });
}

TEST_P(Hazards, Hazard3_AConditionedDispatchWithoutGeometryIsRefusedByName) {
  Program program("no geometry");
  const Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  const Scalar flag = program.scalar_u32("flag", 1);
  program.if_(flag, [&] {
    program.dispatch({.label = "guess", .kernel = grid_kernel(), .bindings = {data}, .maximum_workgroups = 1});
  });
  const auto executable = compile(program, device());
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(executable.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(executable.error().to_string(), HasSubstr("\"guess\""));
}

// Hazard 4: copies and fills that run whatever their predicate says.
TEST_P(Hazards, Hazard4_CopiesAndFillsUnderAFalsePredicateDoNothing) {
  for (const uint32_t condition : {0u, 1u}) {
    Program program("copy and fill");
    const Buffer from = program.buffer("from", Type::i32, 1000, Initial::repeated(5u));
    const Buffer to = program.buffer("to", Type::i32, 1000, Initial::repeated(1u));
    const Buffer filled = program.buffer("filled", Type::i32, 1000, Initial::repeated(2u));
    const Buffer floats = program.buffer("floats", Type::f32, 10, Initial::repeated(1.5f));
    const Scalar predicate = program.scalar_u32("predicate", condition), n = program.scalar_u32("n", 0);
    program.if_(predicate, [&] {
      program.copy({"part", from, to, 10, 20, 300});
      program.fill({"part", filled, 7, 500, literal(9u)});
      program.fill(floats, literal(-2.0f));
    });
    program.while_(n < condition * 2, {.max = 4}, [&] {
      program.assign(n, n + 1);
      program.copy({"one", to, from, 999, 0, 1});
      program.fill({"one", to, 999, 1, literal(77u)});
    });
    in_every_way(program, kWide, [&](Executable& executable) {
      succeed(executable.run());
      std::vector<uint32_t> source(1000, 5), copied(1000, 1), expected(1000, 2);
      if (condition != 0) {
        std::fill_n(copied.begin() + 20, 300, 5u);
        std::fill_n(expected.begin() + 7, 500, 9u);
        source[0] = copied[999] = 77;
      }
      EXPECT_EQ(value_of(executable.read<uint32_t>(to)), copied);
      EXPECT_EQ(value_of(executable.read<uint32_t>(filled)), expected);
      EXPECT_EQ(value_of(executable.read<uint32_t>(from)), source);
      EXPECT_THAT(value_of(executable.read<float>(floats)), Each(condition != 0 ? -2.0f : 1.5f));
    });
  }
}

// Hazard 5: values that are read before anything is written to them.
TEST_P(Hazards, Hazard5_AValueThatIsReadBeforeItIsWrittenIsRefusedBeforeTheDeviceIsTouched) {
  const auto refuses = [&](const std::string& name,
                           const std::function<void(Program&, Buffer, Scalar, Scalar)>& build) {
    Program program("unwritten");
    const Buffer buffer = program.buffer("buffer", Type::i32, 10);
    const Scalar scalar = program.scalar("scalar", program::ScalarType::uint32);
    const Scalar flag = program.scalar_u32("flag", 1);
    build(program, buffer, scalar, flag);
    const device::Counters before = device()->counters();
    const auto executable = compile(program, device());
    ASSERT_FALSE(executable.ok()) << name;
    EXPECT_EQ(executable.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(executable.error().to_string(), HasSubstr(name));
    EXPECT_EQ((device()->counters() - before).submissions, 0u);
  };
  refuses("scalar", [](Program& p, Buffer, Scalar scalar, Scalar flag) { p.assign(flag, scalar); });
  refuses("scalar", [](Program& p, Buffer, Scalar scalar, Scalar flag) {
    p.if_(flag, [&] { p.assign(scalar, literal(1u)); });
    p.assign(flag, scalar);
  });
  refuses("scalar", [](Program& p, Buffer, Scalar scalar, Scalar) {
    p.while_(scalar, {.max = 3}, [&] { p.assign(scalar, literal(0u)); });
  });
  refuses("buffer", [](Program& p, Buffer buffer, Scalar, Scalar) { add(p, buffer, 1); });
  refuses("buffer", [](Program& p, Buffer buffer, Scalar, Scalar flag) {
    p.while_(flag, {.max = 3}, [&] { p.fill(buffer, literal(0u)); });
    add(p, buffer, 1);
  });
}

TEST_P(Hazards, Hazard5_WhatIsWrittenOnEveryWayNeedsNoInitialValue) {
  Program program("written");
  const Buffer data = program.buffer("data", Type::i32, 10), last = program.buffer("last", Type::i32, 10);
  const Scalar active = program.scalar("active", program::ScalarType::uint32);
  const Scalar flag = program.scalar_u32("flag", 0);
  program.if_(
      flag, [&] { program.fill(data, literal(1u)); }, [&] { program.fill(data, literal(2u)); });
  program.while_(active, {.min = 1, .max = 5}, [&] {
    program.assign(active, literal(0u));
    program.copy({"all", data, last, 0, 0, 10});
    add(program, last, 10);
  });
  in_every_way(program, kNarrow, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(last)), Each(12u));
  });
}

// Hazard 6: a conjunction of nested predicates that is computed again for every command.
TEST_P(Hazards, Hazard6_ALatchIsComputedOnceARegionAndReadAloneByWhatStandsUnderIt) {
  const auto program_of = [](int commands, uint32_t inner) {
    Program program("nested");
    const Buffer data = program.buffer("data", Type::i32, 200, Initial::zero());
    const Scalar a = program.scalar_u32("a", 1), b = program.scalar_u32("b", inner), c = program.scalar_u32("c", 1);
    program.if_(a, [&] {
      program.if_(b, [&] {
        program.if_(c, [&] {
          for (int i = 0; i < commands; ++i) add(program, data, 1);
        });
      });
    });
    return program;
  };
  for (const Way& way : every_way(device())) {
    SCOPED_TRACE(way.name);
    const auto count = [&](int commands) {
      const Program program = program_of(commands, 1);
      Executable executable = value_of(compile(program, way.device, way.options));
      size_t latches = 0;
      for (const graph::Dispatch& each : dispatches(executable)) {
        if (each.label == "add") continue;
        uint64_t reads = 0, writes = 0;
        for (const graph::Use& use : each.uses)
          if (use.range.buffer == executable.plan().arena) {
            reads += kir::reads(use.access) ? use.range.bytes / 4 : 0;
            writes += kir::writes(use.access) ? use.range.bytes / 4 : 0;
          }
        latches += writes;
        // A gate that computes no latch reads one word: the conjunction is there.
        EXPECT_TRUE(writes > 0 || reads == 1) << each.label;
      }
      return latches;
    };
    EXPECT_EQ(count(1), count(6));
    for (const uint32_t inner : {0u, 1u}) {
      const Program program = program_of(6, inner);
      Executable executable = value_of(compile(program, way.device, way.options));
      succeed(executable.run());
      EXPECT_THAT(value_of(executable.read<uint32_t>(Buffer{0})), Each(inner * 6));
    }
  }
}

// Hazard 7: a kernel, and with it a pipeline, for every geometry that is gated.
TEST_P(Hazards, Hazard7_ManyGeometriesNeedNoMoreKernelsThanOne) {
  const auto program_of = [](uint32_t geometries) {
    Program program("geometries");
    const Buffer data = program.buffer("data", Type::i32, 64 * 8, Initial::zero());
    const Scalar n = program.scalar_u32("n", 0);
    program.while_(n < 3, {.max = 5}, [&] {
      program.assign(n, n + 1);
      for (uint32_t i = 0; i < geometries; ++i)
        program.dispatch(
            {.label = "grid", .kernel = grid_kernel(), .bindings = {data}, .grid = program::Grid{i + 2, 1, 1}});
    });
    return program;
  };
  const Program one = program_of(1), many = program_of(7);
  std::vector<uint32_t> expected(64 * 8, 0);
  for (uint32_t i = 0; i < 7; ++i)
    for (uint32_t k = 0; k < (i + 2) * 64; ++k) expected[k] += 3 * ((i + 2) * 10000 + 101);
  for (const Way& way : every_way(device(), kWide)) {
    SCOPED_TRACE(way.name);
    if (!way.is_applicable) continue;
    const Executable single = value_of(compile(one, way.device, way.options));
    Executable executable = value_of(compile(many, way.device, way.options));
    EXPECT_EQ(executable.plan().graph->kernels.size(), single.plan().graph->kernels.size());
    succeed(executable.run());
    EXPECT_EQ(value_of(executable.read<uint32_t>(Buffer{0})), expected);
  }
}

// Hazard 8: two handles on one physical buffer, between which no order is kept.
TEST_P(Hazards, Hazard8_TwoNamesForOneBufferAreOrderedAsOne) {
  constexpr uint32_t kCount = 5000;
  Program program("aliases");
  const Buffer a = program.external_buffer("a", Type::i32, kCount), b = program.external_buffer("b", Type::i32, kCount);
  const Buffer result = program.buffer("result", Type::i32, kCount, Initial::zero());
  const Scalar n = program.scalar_u32("n", 0);
  program.fill(a, literal(1u));
  digit(program, b, 2);
  program.while_(n < 2, {.max = 5}, [&] {
    digit(program, a, 3);
    digit(program, b, 4);
    program.assign(n, n + 1);
  });
  program.if_(n, [&] {
    digit(program, a, 5);
    program.copy({"all", b, result, 0, 0, kCount});
    program.fill(b, literal(9u));
  });
  add(program, result, 1);
  for (const Way& way : every_way(device(), kWide)) {
    if (!way.is_applicable) continue;
    SCOPED_TRACE(way.name);
    Executable executable = value_of(compile(program, way.device, way.options));
    const std::shared_ptr<device::Buffer> memory = value_of(device()->allocate(kCount * 4));
    succeed(executable.bind(a, memory));
    succeed(executable.bind(b, memory));
    for (int run = 0; run < 3; ++run) {
      succeed(executable.reset());
      succeed(executable.run());
      EXPECT_THAT(value_of(executable.read<uint32_t>(result)), Each(1234346u));
      EXPECT_THAT(value_of(executable.read<uint32_t>(a)), Each(9u));
    }
  }
}

/// The barriers between all dispatches of a graph without blocks.
size_t barriers(const Executable& executable) {
  using device::vulkan::MemoryUse;
  device::vulkan::HazardTracker tracker(static_cast<uint32_t>(executable.plan().graph->buffers.size()));
  size_t found = 0;
  for (const graph::Command& command : executable.plan().graph->commands) {
    const auto* dispatch = std::get_if<graph::Dispatch>(&command);
    if (dispatch == nullptr) continue;
    std::vector<MemoryUse> uses;
    for (const graph::Use& use : dispatch->uses)
      uses.push_back({static_cast<uint32_t>(use.range.buffer), use.range.offset, use.range.offset + use.range.bytes,
                      device::vulkan::Stage::compute, kir::reads(use.access), kir::writes(use.access)});
    found += tracker.next(uses) ? 1 : 0;
  }
  return found;
}

// Hazard 9: an arena that is one hazard, so that all scalar work waits for each other.
TEST_P(Hazards, Hazard9_IndependentScalarsAreNotSerialised) {
  Builder b("count", {1});
  auto word = b.scalar("word", Type::i32, Access::read_write);
  word = word + 1;
  const auto count = source(b.finish());
  Program program("independent");
  std::vector<Scalar> words;
  for (int i = 0; i < 6; ++i) words.push_back(program.scalar_u32("word" + std::to_string(i), 10));
  const auto run = [&](Scalar scalar) {
    program.dispatch({.label = "count", .kernel = count, .bindings = {scalar}, .grid = program::Grid{1, 1, 1}});
  };
  for (const Scalar scalar : words) run(scalar);
  Executable independent = compiled(program);
  EXPECT_EQ(barriers(independent), 0u);
  succeed(independent.run());
  for (const Scalar scalar : words) EXPECT_EQ(value_of(independent.read_bits(scalar)), 11u);
  // While those that depend on each other do wait.
  run(words[3]);
  Executable dependent = compiled(program);
  EXPECT_EQ(barriers(dependent), 1u);
  succeed(dependent.run());
  EXPECT_EQ(value_of(dependent.read_bits(words[3])), 12u);
}

// Hazard 10: a residual that is looked at before the update it belongs to, and a division by zero once it is zero.
TEST_P(Hazards, Hazard10_TheResidualIsTestedAfterItsUpdateAndNothingIsDividedAfterConvergence) {
  Program program("converging");
  const Buffer x = program.buffer("x", Type::f32, 100, Initial::zero());
  const Scalar residual = program.scalar_f32("residual", 16.0f), step = program.scalar_f32("step", 0.0f);
  Builder b("advance", {64});
  auto data = b.buffer("data", Type::f32, Access::read_write);
  auto amount = b.parameter("amount", Type::f32);
  const auto i = b.global_id();
  b.if_(i < data.length(), [&] { data[i] = data[i] + amount; });
  const auto advance = source(b.finish());
  // The residual is exactly zero after five iterations, and zero by zero is no number.
  const auto loop = program.while_(residual > 0.0f, {.max = 60}, [&] {
    program.assign(step, residual / residual);
    program.dispatch(
        {.label = "advance", .kernel = advance, .bindings = {x}, .parameters = {step}, .grid = program::Grid{2, 1, 1}});
    program.assign(residual, program::select(residual > 1.0f, residual * 0.5f, 0.0f));
  });
  in_every_way(program, kWide, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<float>(x)), Each(5.0f));
    EXPECT_EQ(value_of(executable.read_f32(step)), 1.0f);
    EXPECT_EQ(value_of(executable.read_f32(residual)), 0.0f);
    EXPECT_THAT(report(executable, loop), Reports(5u, ExitReason::converged));
  });
}

WAVEGATE_CONFORMANCE(Hazards);

}  // namespace
}  // namespace wavegate::conformance
