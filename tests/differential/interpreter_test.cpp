#include "differential/interpreter.h"

#include <gmock/gmock.h>

#include <cstring>

#include "differential/kernels.h"
#include "wavegate/device/reference/device.h"
#include "wavegate/program/operation.h"

namespace wavegate::differential {
namespace {

using program::Buffer;
using program::Initial;
using program::literal;
using program::Program;
using program::Scalar;
using program::ScalarExpr;
using program::ScalarOp;
using program::ScalarType;

Result<Interpreter> made(const Program& program, const Interpreter::Options& options = {}) {
  static const auto device = device::reference::make_device();
  return Interpreter::make(program, device->profile(), options);
}

/// What one run leaves.
State after_run(const Program& program) {
  Result<Interpreter> interpreter = made(program);
  if (!interpreter) throw std::runtime_error(interpreter.error().to_string());
  const Result<void> ran = interpreter->run();
  if (!ran) throw std::runtime_error(ran.error().to_string());
  return interpreter->state();
}

std::vector<uint32_t> words(const State& state, Buffer buffer) {
  std::vector<uint32_t> result(state.buffers[buffer.id].size() / 4);
  std::memcpy(result.data(), state.buffers[buffer.id].data(), result.size() * 4);
  return result;
}
uint32_t word(const State& state, Scalar scalar) {
  return state.scalars[scalar.id];
}

void increment(Program& program, Scalar scalar) {
  program.assign(scalar, ScalarExpr(scalar) + 1u);
}

TEST(Interpreter, APredicateIsReadOnceWhenControlReachesIt) {
  Program program("latched");
  const Scalar p = program.scalar_u32("p", 7);
  const Scalar n = program.scalar_u32("n", 0);
  program.if_(
      p,
      [&] {
        program.assign(p, literal(0u));
        program.assign(n, ScalarExpr(n) + 10u);
      },
      [&] { program.assign(n, ScalarExpr(n) + 100u); });
  const auto loop = program.while_(ScalarExpr(n) < 11u, {0, 5}, [&] {
    increment(program, n);
    increment(program, n);
  });
  const State state = after_run(program);
  EXPECT_EQ(word(state, n), 12u);
  EXPECT_EQ(state.loops[loop.id], (LoopState{1, true}));
}

TEST(Interpreter, AWhileTestsBeforeEveryIterationAfterTheFirstMin) {
  Program program("min");
  const Scalar n = program.scalar_u32("n", 0);
  const auto never = program.while_(0u, {3, 9}, [&] { increment(program, n); });
  const auto none = program.while_(0u, {0, 9}, [&] { increment(program, n); });
  const State state = after_run(program);
  EXPECT_EQ(word(state, n), 3u);
  EXPECT_EQ(state.loops[never.id], (LoopState{3, true}));
  EXPECT_EQ(state.loops[none.id], (LoopState{0, true}));
}

TEST(Interpreter, AWhileNeverRunsMoreThanItsMax) {
  Program program("max");
  const Scalar n = program.scalar_u32("n", 0);
  const auto bounded = program.while_(1u, {0, 4}, [&] { increment(program, n); });
  const auto empty = program.while_(1u, {0, 0}, [&] { increment(program, n); });
  const auto last = program.while_(ScalarExpr(n) < 6u, {0, 2}, [&] { increment(program, n); });
  const State state = after_run(program);
  EXPECT_EQ(word(state, n), 6u);
  EXPECT_EQ(state.loops[bounded.id], (LoopState{4, false}));
  EXPECT_EQ(state.loops[empty.id], (LoopState{0, false}));
  EXPECT_EQ(state.loops[last.id], (LoopState{2, true}));
}

TEST(Interpreter, ALoopReportsItsLastEntryAndALoopNeverEnteredReportsZero) {
  Program program("reports");
  const Scalar outer = program.scalar_u32("outer", 0);
  const Scalar inner = program.scalar_u32("inner", 0);
  const Scalar runs = program.scalar_u32("runs", 0);
  program::Loop inside, never;
  increment(program, runs);
  program.while_(ScalarExpr(outer) < 3u, {0, 9}, [&] {
    program.assign(inner, literal(0u));
    // Entered in the first two iterations only: the report of the second one stays.
    program.if_(ScalarExpr(outer) < 2u, [&] {
      inside = program.while_(ScalarExpr(inner) <= ScalarExpr(outer), {0, 9}, [&] { increment(program, inner); });
    });
    increment(program, outer);
  });
  program.if_(equal(runs, 2u), [&] { never = program.while_(1u, {0, 2}, [] {}); });
  Interpreter interpreter = made(program).value();
  ASSERT_TRUE(interpreter.run().ok());
  EXPECT_EQ(interpreter.state().loops[inside.id], (LoopState{2, true}));
  EXPECT_EQ(interpreter.state().loops[never.id], (LoopState{0, false}));
  ASSERT_TRUE(interpreter.run().ok());
  EXPECT_EQ(interpreter.state().loops[inside.id], (LoopState{0, false})) << "reports start fresh at each run";
  EXPECT_EQ(interpreter.state().loops[never.id], (LoopState{2, false}));
}

TEST(Interpreter, BreakEndsTheInnermostLoopAndItsIterationCounts) {
  Program program("break");
  const Scalar n = program.scalar_u32("n", 0);
  const Scalar after = program.scalar_u32("after", 0);
  const Scalar outer = program.scalar_u32("outer", 0);
  program::Loop inner;
  program.while_(ScalarExpr(outer) < 2u, {0, 5}, [&] {
    inner = program.while_(1u, {0, 9}, [&] {
      increment(program, n);
      program.if_(equal(n, 3u), [&] { program.break_(); });
      program.if_(equal(n, 5u), [&] { program.break_(); });
      increment(program, after);
    });
    increment(program, outer);
  });
  const State state = after_run(program);
  EXPECT_EQ(word(state, n), 5u);
  EXPECT_EQ(word(state, after), 3u);
  EXPECT_EQ(word(state, outer), 2u);
  EXPECT_EQ(state.loops[inner.id], (LoopState{2, false})) << "the predicate is not zero after the break";
}

TEST(Interpreter, ABreakWithAPredicateThatIsZeroHasConverged) {
  Program program("break, converged");
  const Scalar active = program.scalar_u32("active", 1);
  const auto loop = program.while_(active, {0, 9}, [&] {
    program.assign(active, literal(0u));
    program.break_();
  });
  EXPECT_EQ(after_run(program).loops[loop.id], (LoopState{1, true}));
}

TEST(Interpreter, ContinueSkipsTheRestOfTheIteration) {
  Program program("continue");
  const Scalar n = program.scalar_u32("n", 0);
  const Scalar late = program.scalar_u32("late", 0);
  const auto loop = program.while_(ScalarExpr(n) < 4u, {0, 9}, [&] {
    increment(program, n);
    program.if_(n < 3u, [&] { program.continue_(); });
    increment(program, late);
  });
  const State state = after_run(program);
  EXPECT_EQ(word(state, late), 2u);
  EXPECT_EQ(state.loops[loop.id], (LoopState{4, true}));
}

TEST(Interpreter, ASwitchRunsItsCaseOrItsDefault) {
  for (const auto& [selector, expected] : {std::pair{0u, 1u}, {7u, 2u}, {3u, 4u}}) {
    Program program("switch");
    const Scalar s = program.scalar_u32("s", selector);
    const Scalar n = program.scalar_u32("n", 0);
    program.switch_(s,
                    {{0u,
                      [&] {
                        program.assign(s, literal(7u));
                        program.assign(n, ScalarExpr(n) + 1u);
                      }},
                     {7u, [&] { program.assign(n, ScalarExpr(n) + 2u); }}},
                    [&] { program.assign(n, ScalarExpr(n) + 4u); });
    EXPECT_EQ(word(after_run(program), n), expected);
  }
}

TEST(Interpreter, TheIterationIndexCountsWhatCameBeforeAndARecordKeepsOneValueAnIteration) {
  Program program("record");
  const Scalar n = program.scalar_u32("n", 100);
  Buffer history;
  Scalar index;
  program.while_(ScalarExpr(n) < 105u, {0, 9}, [&] {
    index = program.iteration();
    program.assign(n, ScalarExpr(n) + 1u);
    program.if_(equal(index, 1u), [&] { program.continue_(); });
    history = program.record(n, 4);
  });
  const State state = after_run(program);
  EXPECT_THAT(words(state, history), testing::ElementsAre(101u, 0u, 103u, 104u));
  EXPECT_EQ(word(state, index), 4u);
}

TEST(Interpreter, AComputedGridIsWhatItIsWhenControlReachesIt) {
  Program program("grid");
  const Buffer data = program.buffer("data", kir::Type::i32, 64, Initial::zero());
  const Scalar n = program.scalar_u32("n", 2);
  const auto touch = [&] {
    program::Dispatch dispatch;
    dispatch.label = "touch";
    dispatch.kernel = kernel(KernelName::touch_groups);
    dispatch.bindings = {data};
    dispatch.parameters = {literal(1u)};
    dispatch.computed_grid = program::ComputedGrid{{ScalarExpr(n), 1u, 1u}, {3, 1, 1}};
    program.dispatch(std::move(dispatch));
  };
  touch();
  program.assign(n, literal(0u));
  touch();
  const std::vector<uint32_t> got = words(after_run(program), data);
  EXPECT_THAT(std::vector(got.begin(), got.begin() + 32), testing::Each(15u));
  EXPECT_THAT(std::vector(got.begin() + 32, got.end()), testing::Each(0u));

  program.assign(n, literal(4u));
  touch();
  Interpreter interpreter = made(program).value();
  const Result<void> ran = interpreter.run();
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().to_string(),
            "invalid input: dispatch \"touch\": the grid 4x1x1 exceeds the declared maximum 3x1x1");
}

TEST(Interpreter, ValuesPersistFromRunToRunAndResetPutsThemBack) {
  Program program("persist");
  const Buffer data = program.buffer("data", kir::Type::i32, 16, Initial::repeated(3u));
  const Scalar n = program.scalar_u32("n", 5);
  const Scalar gain = program.parameter("gain", literal(1u));
  program.assign(n, ScalarExpr(n) + gain);
  program.dispatch({"add", kernel(KernelName::add_scalar), {data, n}, {}, program::Grid{1, 1, 1}, {}});
  Interpreter interpreter = made(program).value();
  ASSERT_TRUE(interpreter.run().ok());
  interpreter.set(gain, 10);
  ASSERT_TRUE(interpreter.run().ok());
  EXPECT_EQ(word(interpreter.state(), n), 16u);
  EXPECT_EQ(words(interpreter.state(), data)[1], 3u + 2 * 6 + 2 * 16);
  interpreter.reset();
  ASSERT_TRUE(interpreter.run().ok());
  EXPECT_EQ(word(interpreter.state(), n), 6u);
  EXPECT_EQ(words(interpreter.state(), data)[1], 3u + 2 * 6);
}

TEST(Interpreter, AProgramThatDoesNotEndIsAnError) {
  Program program("endless");
  const Scalar n = program.scalar_u32("n", 0);
  program.while_(1u, {}, [&] { increment(program, n); });
  Interpreter::Options options;
  options.max_steps = 1000;
  Interpreter interpreter = made(program, options).value();
  const Result<void> ran = interpreter.run();
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().message, "does not end within 1000 steps");
}

TEST(Interpreter, CopiesAndFillsMoveTheElementsThatTheyName) {
  Program program("move");
  const std::vector<uint32_t> contents = {1, 2, 3, 4, 5, 6};
  const Buffer from = program.buffer("from", kir::Type::i32, 6, Initial::copy_of(contents));
  const Buffer to = program.buffer("to", kir::Type::i32, 5, Initial::zero());
  program.copy({"part", from, to, 2, 1, 3});
  program.fill({"part", from, 4, 2, literal(9u)});
  const State state = after_run(program);
  EXPECT_THAT(words(state, to), testing::ElementsAre(0u, 3u, 4u, 5u, 0u));
  EXPECT_THAT(words(state, from), testing::ElementsAre(1u, 2u, 3u, 4u, 9u, 9u));
}

TEST(Interpreter, AKernelWritesScalarsAndReadsParametersFromThem) {
  Program program("scalars");
  const Scalar count = program.scalar_u32("count", 4);
  const Scalar active = program.scalar_u32("active", 9);
  const Scalar limit = program.scalar_u32("limit", 6);
  program.dispatch({"tick", kernel(KernelName::tick), {count, active}, {limit}, program::Grid{1, 1, 1}, {}});
  EXPECT_EQ(word(after_run(program), count), 5u);
  EXPECT_EQ(word(after_run(program), active), 1u);
  program.dispatch({"tick", kernel(KernelName::tick), {count, active}, {literal(6u)}, program::Grid{1, 1, 1}, {}});
  EXPECT_EQ(word(after_run(program), count), 6u);
  EXPECT_EQ(word(after_run(program), active), 0u);
}

TEST(Interpreter, AnOperationIsWhatItExpandsTo) {
  const auto twice = program::make_operation(
      {"twice",
       {{"x", program::OperandKind::scalar, kir::Type::i32, kir::Access::read_write}},
       {},
       [](Program& program, std::span<const program::Operand> operands, const target::Profile&) -> Result<void> {
         const auto x = std::get<Scalar>(operands[0]);
         const Scalar old = program.temporary("old", ScalarType::uint32);
         program.assign(old, x);
         program.assign(x, ScalarExpr(old) + ScalarExpr(old));
         return {};
       }});
  Program program("operation");
  const Scalar x = program.scalar_u32("x", 21);
  program.call(twice, {x});
  const State state = after_run(program);
  EXPECT_EQ(word(state, x), 42u);
  EXPECT_EQ(state.scalars.size(), 1u) << "a temporary is none of the program's values";
}

/// The bits of an expression over u = 7, s = -7 and f = 2.5.
uint32_t value_of(const std::function<ScalarExpr(Scalar, Scalar, Scalar)>& make, ScalarType type) {
  Program program("expression");
  const Scalar u = program.scalar_u32("u", 7);
  const Scalar s = program.scalar("s", ScalarType::sint32, static_cast<uint32_t>(-7));
  const Scalar f = program.scalar_f32("f", 2.5f);
  const Scalar result = program.scalar("result", type, 0u);
  program.assign(result, make(u, s, f));
  return word(after_run(program), result);
}

TEST(Interpreter, ExpressionsAreThoseOfKir) {
  using S = Scalar;
  const auto u32 = [](const std::function<ScalarExpr(S, S, S)>& make) { return value_of(make, ScalarType::uint32); };
  const auto s32 = [](const std::function<ScalarExpr(S, S, S)>& make) {
    return static_cast<int32_t>(value_of(make, ScalarType::sint32));
  };
  const auto f32 = [](const std::function<ScalarExpr(S, S, S)>& make) {
    return std::bit_cast<float>(value_of(make, ScalarType::float32));
  };
  const auto e = [](Scalar scalar) { return ScalarExpr(scalar); };
  EXPECT_EQ(u32([&](S u, S, S) { return e(u) - 8u; }), 0xffffffffu);
  EXPECT_EQ(u32([&](S u, S, S) { return e(u) / 0u; }), 7u);
  EXPECT_EQ(u32([&](S u, S, S) { return e(u) / 2u; }), 3u);
  EXPECT_EQ(u32([&](S u, S, S) { return e(u) * 0x80000001u; }), 0x80000007u);
  EXPECT_EQ(s32([&](S, S s, S) { return e(s) / 2; }), -3);
  EXPECT_EQ(s32([&](S, S s, S) { return e(s) / 0; }), -7);
  EXPECT_EQ(s32([&](S, S s, S) { return minimum(e(s), 3); }), -7);
  EXPECT_EQ(u32([&](S u, S, S) { return minimum(e(u), 0xfffffff0u); }), 7u);
  EXPECT_EQ(s32([&](S, S s, S) { return -e(s); }), 7);
  EXPECT_EQ(f32([&](S, S, S f) { return -e(f); }), -2.5f);
  EXPECT_EQ(f32([&](S, S, S f) { return e(f) * 4u + 1.0f; }), 11.0f);
  EXPECT_EQ(f32([&](S, S, S f) { return square_root(e(f) * 10u); }), 5.0f);
  EXPECT_EQ(u32([&](S, S s, S) { return e(s) < 0; }), 1u);
  EXPECT_EQ(u32([&](S u, S, S) { return e(u) < 7u; }), 0u);
  EXPECT_EQ(u32([&](S u, S, S) { return e(u) <= 7u; }), 1u);
  EXPECT_EQ(u32([&](S u, S, S) { return equal(e(u), 7u); }), 1u);
  EXPECT_EQ(u32([&](S, S, S f) { return not_equal(e(f), 2.5f); }), 0u);
  EXPECT_EQ(u32([&](S u, S, S) { return e(u) && 4u; }), 1u);
  EXPECT_EQ(u32([&](S u, S, S) { return e(u) && 0u; }), 0u);
  EXPECT_EQ(u32([&](S u, S, S) { return 0u || e(u); }), 1u);
  EXPECT_EQ(u32([&](S u, S, S) { return !e(u); }), 0u);
  EXPECT_EQ(s32([&](S u, S s, S) { return select(e(u), e(s), 3); }), -7);
  EXPECT_EQ(s32([&](S, S s, S) { return select(0u, e(s), 3); }), 3);
  EXPECT_EQ(u32([&](S, S, S f) { return ScalarExpr(ScalarOp::to_uint32, {e(f)}); }), 2u);
  EXPECT_EQ(u32([&](S, S, S f) { return ScalarExpr(ScalarOp::to_uint32, {-e(f)}); }), 0u);
  EXPECT_EQ(s32([&](S, S, S f) { return ScalarExpr(ScalarOp::to_sint32, {-e(f)}); }), -2);
  EXPECT_EQ(u32([&](S, S s, S) { return ScalarExpr(ScalarOp::to_uint32, {e(s)}); }), static_cast<uint32_t>(-7));
  EXPECT_EQ(f32([&](S, S s, S) { return ScalarExpr(ScalarOp::to_float32, {e(s)}); }), -7.0f);
  EXPECT_EQ(f32([&](S u, S, S) { return ScalarExpr(ScalarOp::to_float32, {e(u) - 8u}); }), 4294967296.0f);
}

}  // namespace
}  // namespace wavegate::differential
