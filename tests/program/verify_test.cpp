#include "wavegate/program/verify.h"

#include <gmock/gmock.h>

#include "wavegate/kir/builder.h"

namespace wavegate::program {
namespace {

using kir::Access;
using kir::Builder;
using kir::Type;
using testing::AllOf;
using testing::HasSubstr;

/// y = x, with a parameter that is not used; buffers of f32.
std::shared_ptr<const KernelSource> copy_kernel(Access to = Access::write) {
  Builder b("copy", {64});
  auto x = b.buffer("x", Type::f32, Access::read);
  auto y = b.buffer("y", Type::f32, to);
  b.parameter("n", Type::i32);
  auto i = b.global_id();
  b.if_(i < y.length(), [&] { y[i] = x[i]; });
  return make_kernel_source(b.finish().value());
}

std::string error_of(const Result<void>& result) {
  return result ? "no error" : result.error().to_string();
}
std::string error_of(const Program& program) {
  return error_of(verify(program));
}

class Verify : public testing::Test {
 protected:
  Dispatch copy(Buffer from, Buffer to) const {
    return {"move", copy_kernel(), {from, to}, {literal(4u)}, Grid{1, 1, 1}, {}};
  }

  Program program{"test"};
  Buffer full = program.buffer("full", Type::f32, 4, Initial::zero());
  Buffer empty = program.buffer("empty", Type::f32, 4);
  Buffer words = program.buffer("words", Type::i32, 4, Initial::zero());
  Scalar flag = program.scalar_u32("flag", 1);
  Scalar number = program.scalar_f32("number", 1.0f);
};

TEST_F(Verify, AcceptsADispatchThatWritesBeforeAnotherReads) {
  program.dispatch(copy(full, empty));
  program.dispatch(copy(empty, full));
  EXPECT_TRUE(verify(program)) << error_of(program);
}

TEST_F(Verify, RefusesAReadBeforeAnyWriteAndNamesBoth) {
  program.dispatch(copy(empty, full));
  EXPECT_THAT(error_of(program),
              AllOf(HasSubstr("dispatch \"move\""), HasSubstr("buffer \"empty\""), HasSubstr("initial value")));
}

TEST_F(Verify, AWriteInOneBranchProvesNothing) {
  program.if_(flag, [&] { program.dispatch(copy(full, empty)); });
  program.dispatch(copy(empty, full));
  EXPECT_THAT(error_of(program), HasSubstr("buffer \"empty\""));
}

TEST_F(Verify, AWriteInBothBranchesIsProof) {
  program.if_(
      flag, [&] { program.dispatch(copy(full, empty)); }, [&] { program.fill(empty, literal(0.0f)); });
  program.dispatch(copy(empty, full));
  EXPECT_TRUE(verify(program)) << error_of(program);
}

TEST_F(Verify, AWriteInALoopIsProofOnlyIfTheLoopSurelyRuns) {
  for (const uint32_t min : {0u, 1u}) {
    Program loop("loop");
    const Buffer from = loop.buffer("from", Type::f32, 4, Initial::zero());
    const Buffer to = loop.buffer("to", Type::f32, 4);
    const Scalar active = loop.scalar_u32("active", 1);
    loop.while_(active, {.min = min, .max = 3}, [&] { loop.dispatch(copy(from, to)); });
    loop.dispatch(copy(to, from));
    EXPECT_EQ(verify(loop).ok(), min == 1);
  }
}

TEST_F(Verify, APartialFillOrCopyProvesNothing) {
  program.fill({"half", empty, 0, 2, literal(0.0f)});
  program.dispatch(copy(empty, full));
  EXPECT_THAT(error_of(program), HasSubstr("buffer \"empty\""));
}

TEST_F(Verify, AnOutputThatMayNeverBeWrittenIsRefused) {
  program.output(empty);
  program.if_(flag, [&] { program.dispatch(copy(full, empty)); });
  EXPECT_THAT(error_of(program), AllOf(HasSubstr("buffer \"empty\" is an output"), HasSubstr("initial value")));
}

TEST_F(Verify, RefusesAScalarReadBeforeItIsWritten) {
  const Scalar late = program.scalar("late", ScalarType::uint32);
  program.assign(flag, late + 1);
  EXPECT_THAT(error_of(program), AllOf(HasSubstr("assign \"flag\""), HasSubstr("scalar \"late\"")));
}

TEST_F(Verify, ADispatchUnderAPredicateNeedsAnExactGrid) {
  Dispatch dispatch = copy(full, empty);
  dispatch.grid.reset();
  dispatch.maximum_workgroups = 100;
  program.if_(flag, [&] { program.dispatch(dispatch); });
  EXPECT_THAT(error_of(program), AllOf(HasSubstr("kernel \"copy\" has no exact grid"), HasSubstr("under a predicate"),
                                       HasSubstr("maximum_workgroups is an estimate")));
}

// The invocations that come first would see one number, and others another.
TEST_F(Verify, AScalarThatADispatchWritesIsNotItsParameter) {
  Builder b("stir", {1});
  auto s = b.scalar("s", Type::i32, Access::read_write);
  s = b.parameter("n", Type::i32);
  const auto stir = make_kernel_source(std::move(b.finish()).value());
  const Scalar one = program.scalar_u32("one", 1), two = program.scalar_u32("two", 2);
  program.dispatch({.label = "good", .kernel = stir, .bindings = {one}, .parameters = {two}, .grid = Grid{1, 1, 1}});
  EXPECT_TRUE(verify(program).ok());
  program.dispatch({.label = "bad", .kernel = stir, .bindings = {one}, .parameters = {one}, .grid = Grid{1, 1, 1}});
  EXPECT_THAT(error_of(program), AllOf(HasSubstr("dispatch \"bad\""), HasSubstr("parameter \"n\""),
                                       HasSubstr("scalar \"one\", which the dispatch writes")));
}

TEST_F(Verify, RefusesWhatTheInterfaceDoesNotTake) {
  struct Case {
    Dispatch dispatch;
    const char* message;
  };
  const auto changed = [&](auto change) {
    Dispatch dispatch = copy(full, empty);
    change(dispatch);
    return dispatch;
  };
  const Case cases[] = {
      {changed([&](Dispatch& d) { d.bindings.pop_back(); }), "takes 2 bindings, not 1"},
      {changed([&](Dispatch& d) { d.parameters.clear(); }), "takes 1 parameters, not 0"},
      {changed([&](Dispatch& d) { d.bindings[0] = words; }), "binding \"x\" is a buffer of f32"},
      {changed([&](Dispatch& d) { d.bindings[0] = number; }), "binding \"x\" is a buffer of f32"},
      {changed([&](Dispatch& d) { d.bindings[0] = Buffer{99}; }), "buffer of another program"},
      {changed([&](Dispatch& d) { d.parameters[0] = literal(1.5f); }), "parameter \"n\" is i32, not float32"},
      {changed([&](Dispatch& d) { d.parameters[0] = number; }), "scalar \"number\" is float32"},
      {changed([&](Dispatch& d) {
         d.grid = Grid{1, 0, 1};
       }),
       "empty grid"},
      {changed([&](Dispatch& d) { d.kernel = nullptr; }), "has no kernel"},
  };
  for (const Case& c : cases) {
    Program one = program;
    one.dispatch(c.dispatch);
    EXPECT_THAT(error_of(one), HasSubstr(c.message));
  }
}

TEST_F(Verify, RefusesCopiesAndFillsOutsideTheirBuffers) {
  struct Case {
    Copy copy;
    const char* message;
  };
  const Case cases[] = {
      {{"c", full, empty, 2, 0, 3}, "elements 2 to 5 lie outside buffer \"full\" of 4 elements"},
      {{"c", full, empty, 0, UINT64_MAX, 1}, "outside buffer \"empty\""},
      {{"c", full, empty, 0, 0, 0}, "covers no elements"},
      {{"c", full, words, 0, 0, 1}, "holds f32 and \"words\" i32"},
      {{"c", full, full, 0, 1, 2}, "overlap"},
  };
  for (const Case& c : cases) {
    Program one = program;
    one.copy(c.copy);
    EXPECT_THAT(error_of(one), HasSubstr(c.message));
  }
  program.fill({"f", full, 3, 2, literal(0.0f)});
  EXPECT_THAT(error_of(program), HasSubstr("fill \"f\": elements 3 to 5 lie outside"));
}

TEST_F(Verify, RefusesACopyThatCouldNotBeGated) {
  const Buffer bytes = program.buffer("bytes", Type::i8, 6, Initial::zero());
  const Buffer more = program.buffer("more", Type::i8, 6, Initial::zero());
  program.copy({"odd", bytes, more, 1, 1, 3});
  EXPECT_THAT(error_of(program),
              AllOf(HasSubstr("unsupported"), HasSubstr("copy \"odd\""), HasSubstr("move whole words")));
}

TEST_F(Verify, APredicateIsAUint32) {
  program.if_(number, [&] { program.dispatch(copy(full, empty)); });
  EXPECT_THAT(error_of(program), HasSubstr("predicate \"number\" is float32"));
}

TEST_F(Verify, ALaunchParameterIsNotAssigned) {
  const Scalar dt = program.parameter("dt", literal(0.1f));
  program.assign(dt, literal(0.2f));
  EXPECT_THAT(error_of(program), AllOf(HasSubstr("\"dt\""), HasSubstr("launch parameter")));
}

TEST_F(Verify, BoundsFit) {
  program.while_(flag, {.min = 5, .max = 4}, [] {});
  EXPECT_THAT(error_of(program), HasSubstr("min 5 is greater than max 4"));
}

TEST_F(Verify, NamesAreUnique) {
  program.buffer("full", Type::f32, 1, Initial::zero());
  EXPECT_THAT(error_of(program), HasSubstr("two values are named \"full\""));
}

TEST_F(Verify, EndlessNestingIsRefused) {
  const std::function<void(int)> nest = [&](int depth) {
    if (depth > 0) program.if_(flag, [&] { nest(depth - 1); });
    program.fill(full, literal(0.0f));
  };
  nest(100);
  EXPECT_THAT(error_of(program), HasSubstr("nests deeper"));
}

TEST_F(Verify, MistakesMadeWhileBuildingAreKept) {
  program.buffer("short", Type::f32, 3, Initial::copy_of(std::vector<float>{1.0f}));
  EXPECT_THAT(error_of(program), HasSubstr("buffer \"short\" holds 12 bytes, but its initial contents have 4"));
}

// ---- switch, break and continue

TEST_F(Verify, AWriteInEveryCaseAndTheDefaultIsProof) {
  const auto write = [&] { program.dispatch(copy(full, empty)); };
  Program without_one = program;
  program.switch_(flag, {{0, write}, {7, write}}, write);
  program.dispatch(copy(empty, full));
  EXPECT_TRUE(verify(program)) << error_of(program);
  for (const int missing : {0, 1, 2}) {
    Program one = without_one;
    const auto writes = [&](int part) {
      return [&one, this, missing, part] {
        if (part != missing) one.dispatch(copy(full, empty));
      };
    };
    one.switch_(flag, {{0, writes(0)}, {7, writes(1)}}, writes(2));
    one.dispatch(copy(empty, full));
    EXPECT_THAT(error_of(one), HasSubstr("buffer \"empty\""));
  }
}

TEST_F(Verify, ASwitchHasEachCaseOnceAndChoosesByAUint32) {
  Program one = program;
  one.switch_(flag, {{3, {}}, {4, {}}, {3, {}}}, {}, "phase");
  EXPECT_THAT(error_of(one), HasSubstr("switch \"phase\": has two cases of 3"));
  program.switch_(ScalarExpr(number) * 2, {}, {}, "phase");
  EXPECT_THAT(error_of(program),
              AllOf(HasSubstr("switch \"phase\": the selector is float32"), HasSubstr("chooses by a uint32")));
}

TEST_F(Verify, WhatIsWrittenAfterABreakIsNotProofBehindTheLoop) {
  for (const bool before : {false, true}) {
    Program one = program;
    one.while_(flag, {.min = 1, .max = 3}, [&] {
      if (before) one.dispatch(copy(full, empty));
      one.if_(flag, [&] { one.break_(); });
      if (!before) one.dispatch(copy(full, empty));
    });
    one.dispatch(copy(empty, full));
    EXPECT_EQ(verify(one).ok(), before);
  }
}

TEST_F(Verify, WhatIsWrittenAfterAContinueIsNotProofForTheNextTest) {
  const Scalar more = program.scalar("more", ScalarType::uint32);
  for (const bool before : {false, true}) {
    Program one = program;
    one.while_(
        more, {.min = 1, .max = 3},
        [&] {
          if (before) one.assign(more, 1);
          one.if_(flag, [&] { one.continue_(); });
          if (!before) one.assign(more, 1);
        },
        "loop");
    const auto named = AllOf(HasSubstr("while \"loop\""), HasSubstr("scalar \"more\" is read here"));
    EXPECT_THAT(error_of(one), before ? testing::Matcher<std::string>("no error") : named);
  }
}

TEST_F(Verify, ThePredicateIsReadAfterABreakTooForTheReport) {
  const Scalar more = program.scalar("more", ScalarType::uint32);
  program.while_(more, {.min = 1, .max = 3}, [&] {
    program.if_(flag, [&] { program.break_(); });
    program.assign(more, 1);
  });
  EXPECT_THAT(error_of(program), HasSubstr("scalar \"more\" is read here"));
}

TEST_F(Verify, ABranchThatLeavesTheLoopNeedsToProveNothing) {
  program.while_(flag, {.min = 1, .max = 3}, [&] {
    program.if_(
        flag, [&] { program.fill(empty, literal(0.0f)); }, [&] { program.continue_(); });
    program.dispatch(copy(empty, full));
  });
  EXPECT_TRUE(verify(program)) << error_of(program);
}

TEST_F(Verify, ABreakEndsTheInnermostLoopAlone) {
  program.while_(flag, {.min = 1, .max = 3}, [&] {
    program.while_(flag, {.min = 0, .max = 3}, [&] { program.break_(); });
    program.dispatch(copy(full, empty));
  });
  program.dispatch(copy(empty, full));
  EXPECT_TRUE(verify(program)) << error_of(program);
}

TEST_F(Verify, ACommandAfterABreakOrContinueIsRefused) {
  for (const bool is_break : {true, false}) {
    Program one = program;
    one.while_(
        flag, {.min = 0, .max = 3},
        [&] {
          is_break ? one.break_() : one.continue_();
          one.assign(flag, 0);
        },
        "search");
    EXPECT_THAT(error_of(one), AllOf(HasSubstr("while \"search\": a command after"),
                                     HasSubstr(is_break ? "break_ last" : "continue_ last"), HasSubstr("never runs")));
  }
}

TEST_F(Verify, ABreakOutsideOfALoopIsRefusedAlsoInAProgramMadeByHand) {
  for (Node node : {Node{Break{}}, Node{Continue{}}}) {
    Body body;
    body.push_back(std::move(node));
    program.set_body(std::move(body));
    EXPECT_THAT(error_of(program), HasSubstr("stands outside of every loop"));
  }
}

// ---- predicates

TEST_F(Verify, APredicateIsAUint32Expression) {
  const auto error = [&](const ScalarExpr& predicate) {
    Program one = program;
    one.if_(predicate, {}, {}, "branch");
    return error_of(one);
  };
  EXPECT_EQ(error(ScalarExpr(number) > 0.5f && !flag), "no error");
  EXPECT_EQ(error(1), "no error");
  EXPECT_THAT(error(ScalarExpr(number) + 1.0f), HasSubstr("if \"branch\": the predicate is float32"));
  EXPECT_THAT(error(-1), HasSubstr("the predicate is sint32"));
  EXPECT_THAT(error(ScalarExpr(number) > flag), HasSubstr("if \"branch\": \"<\" mixes uint32 and float32"));
  EXPECT_THAT(error(Scalar{99}), HasSubstr("scalar of another program"));
}

TEST_F(Verify, EveryScalarOfAPredicateIsWrittenBefore) {
  const Scalar late = program.scalar("late", ScalarType::float32);
  const auto error = [&](uint32_t min, bool writes) {
    Program one = program;
    one.while_((ScalarExpr(number) > late) || flag, {.min = min, .max = 9},
               [&] {
                 if (writes) one.assign(late, 0.5f);
               },
               "loop");
    return error_of(one);
  };
  EXPECT_THAT(error(0, true), AllOf(HasSubstr("while \"loop\""), HasSubstr("scalar \"late\"")));
  EXPECT_THAT(error(1, false), AllOf(HasSubstr("while \"loop\""), HasSubstr("scalar \"late\"")));
  EXPECT_EQ(error(1, true), "no error");
}

// ---- iteration indices and histories

TEST_F(Verify, AnIterationIndexIsReadInItsLoopAlone) {
  Scalar outer, inner;
  program.while_(flag, {.min = 1, .max = 3}, [&] {
    outer = program.iteration();
    program.while_(ScalarExpr(outer) < 2, {.min = 0, .max = 3}, [&] {
      inner = program.iteration();
      program.assign(flag, ScalarExpr(inner) + outer);
    });
  });
  EXPECT_TRUE(verify(program)) << error_of(program);
  program.assign(flag, outer);
  EXPECT_THAT(error_of(program), AllOf(HasSubstr("\"while.iteration\" is the iteration index of a loop"),
                                       HasSubstr("assign it to a scalar there")));
}

TEST_F(Verify, OnlyTheLoopSetsItsIterationIndex) {
  program.while_(flag, {.min = 0, .max = 3}, [&] { program.assign(program.iteration(), 0); });
  EXPECT_THAT(error_of(program), AllOf(HasSubstr("\"while.iteration\" is the iteration index of a loop"),
                                       HasSubstr("copy it to a scalar first")));
}

TEST_F(Verify, AnIterationIndexBelongsToOneLoop) {
  const auto nested = [&](Scalar index) {
    Program one = program;
    While inner{"inner", {0}, flag, {}, {}, index};
    While outer{"outer", {1}, flag, {}, {}, index};
    outer.body.push_back({inner});
    Body body;
    body.push_back({outer});
    one.set_body(std::move(body));
    return error_of(one);
  };
  EXPECT_THAT(nested(flag), HasSubstr("while \"outer\": \"flag\" is no iteration index"));
  Scalar index;
  program.while_(flag, {}, [&] { index = program.iteration(); });
  EXPECT_THAT(nested(index), HasSubstr("while \"inner\": \"while.iteration\" is the iteration index of an enclosing"));
}

TEST_F(Verify, AHistoryFitsWhatItKeeps) {
  const Buffer lent = program.external_buffer("lent", Type::f32, 4);
  const Scalar late = program.scalar("late", ScalarType::float32);
  const auto error = [&](Scalar value, Buffer history, std::optional<Scalar> index) {
    Program one = program;
    one.while_(flag, {.min = 0, .max = 3}, [&] { index = index ? *index : one.iteration(); });
    Body body = one.body();
    std::get<While>(body[0].what).body.push_back({Record{value, history, *index}});
    one.set_body(std::move(body));
    return error_of(one);
  };
  EXPECT_EQ(error(number, full, {}), "no error");
  EXPECT_THAT(error(number, words, {}),
              HasSubstr("record \"number\": the value is float32, but history \"words\" holds i32"));
  EXPECT_THAT(error(number, lent, {}), HasSubstr("history \"lent\" is external"));
  EXPECT_THAT(error(number, full, flag), HasSubstr("\"flag\" is no iteration index"));
  EXPECT_THAT(error(late, full, {}), HasSubstr("scalar \"late\" is read here"));
  EXPECT_THAT(error(Scalar{99}, full, {}), HasSubstr("scalar of another program"));
  EXPECT_THAT(error(number, Buffer{99}, {}), HasSubstr("buffer of another program"));
}

// ---- computed grids

TEST_F(Verify, AComputedGridIsAGrid) {
  Dispatch dispatch = copy(full, full);
  dispatch.kernel = copy_kernel(Access::read_write);
  dispatch.grid.reset();
  dispatch.computed_grid = ComputedGrid{{(ScalarExpr(flag) + 63) / 64, 1, flag}, {4, 1, 1}};
  program.dispatch(dispatch);
  EXPECT_TRUE(verify(program)) << error_of(program);
}

TEST_F(Verify, RefusesAComputedGridThatIsNoNumberOfWorkgroups) {
  const Scalar late = program.scalar("late", ScalarType::uint32);
  const auto error = [&](ComputedGrid computed, std::optional<Grid> grid = {}) {
    Program one = program;
    Dispatch dispatch = copy(full, full);
    dispatch.grid = grid;
    dispatch.computed_grid = std::move(computed);
    one.dispatch(dispatch);
    return error_of(one);
  };
  EXPECT_THAT(error({{flag, 1, 1}, {4, 1, 1}}, Grid{1, 1, 1}), HasSubstr("both a grid and a computed grid"));
  EXPECT_THAT(error({{flag, 1, 1}, {4, 0, 1}}), HasSubstr("kernel \"copy\" has a maximum of 0 workgroups in y"));
  EXPECT_THAT(error({{1, 1, number}, {4, 1, 1}}), HasSubstr("grid in z \"number\" is float32"));
  EXPECT_THAT(error({{ScalarExpr(flag) / number, 1, 1}, {4, 1, 1}}), HasSubstr("mixes uint32 and float32"));
  EXPECT_THAT(error({{late, 1, 1}, {4, 1, 1}}), HasSubstr("scalar \"late\" is read here"));
}

TEST_F(Verify, AWriteUnderAComputedGridIsNoProofForItMayBeZero) {
  Dispatch dispatch = copy(full, empty);
  dispatch.grid.reset();
  dispatch.computed_grid = ComputedGrid{{flag, 1, 1}, {4, 1, 1}};
  program.dispatch(dispatch);
  Program as_output = program;
  program.dispatch(copy(empty, full));
  EXPECT_THAT(error_of(program), AllOf(HasSubstr("buffer \"empty\" is read here"),
                                       HasSubstr("dispatch \"move\" does, but its computed grid may be zero")));
  as_output.output(empty);
  EXPECT_THAT(error_of(as_output), HasSubstr("its computed grid may be zero"));
}

TEST_F(Verify, ManyValuesAndManyBranchesTakeBoundedTime) {
  Program many("many");
  std::vector<Scalar> scalars;
  scalars.reserve(50'000);
  for (int i = 0; i < 50'000; ++i) scalars.push_back(many.temporary("t", ScalarType::uint32));
  many.while_(1u, {.min = 1, .max = 1}, [&] {
    for (const Scalar scalar : scalars) {
      many.if_(1u, [&] { many.break_(); });
      many.switch_(1u, {{0, {}}, {1, {}}});
      many.assign(scalar, 1);
    }
  });
  EXPECT_TRUE(verify(many)) << error_of(many);
}

}  // namespace
}  // namespace wavegate::program
