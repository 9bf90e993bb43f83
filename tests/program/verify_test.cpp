#include "wavegate/program/verify.h"

#include <gmock/gmock.h>

#include "wavegate/kir/builder.h"
#include "wavegate/program/operation.h"

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
  EXPECT_THAT(error_of(program), AllOf(HasSubstr("unsupported"), HasSubstr("copy \"odd\""), HasSubstr("gated")));
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

TEST_F(Verify, AnOperationMadeOfItselfIsRefused) {
  OperationParts parts{"endless", {}, [](const Program&, std::span<const Operand>) { return Result<void>(); }, {}};
  static std::shared_ptr<const Operation> endless;
  parts.expand = [](Program& p, std::span<const Operand>, const target::Profile&) {
    p.call(endless, {});
    return Result<void>();
  };
  endless = make_operation(std::move(parts));
  program.call(endless, {});
  const auto expanded = expand(program, {});
  ASSERT_FALSE(expanded);
  EXPECT_THAT(expanded.error().to_string(), AllOf(HasSubstr("endless"), HasSubstr("nested deeper")));
  endless.reset();
}

TEST_F(Verify, AnOperationWithoutACheckHasNothingMoreToCheck) {
  const auto nothing = [](Program&, std::span<const Operand>, const target::Profile&) { return Result<void>(); };
  program.call(make_operation({"plain", {}, {}, nothing}), {});
  EXPECT_TRUE(expand(program, {}));
}

TEST_F(Verify, AnOperationWithoutAnExpansionIsRefusedByName) {
  program.call(make_operation({"hollow", {}, {}, {}}), {});
  const auto expanded = expand(program, {});
  ASSERT_FALSE(expanded);
  EXPECT_THAT(expanded.error().to_string(), HasSubstr("hollow: has no expand"));
}

TEST_F(Verify, AUsersOperationIsCheckedAgainstItsTable) {
  const auto twice = make_operation(
      {"twice",
       {{"x", OperandKind::buffer, Type::f32, Access::read}, {"result", OperandKind::scalar, Type::f32, Access::write}},
       [](const Program&, std::span<const Operand>) { return Result<void>(); },
       [](Program&, std::span<const Operand>, const target::Profile&) { return Result<void>(); }});
  const auto error = [&](std::vector<Operand> operands) {
    Program one = program;
    one.call(twice, std::move(operands));
    const auto expanded = expand(one, {});
    return expanded ? "no error" : expanded.error().to_string();
  };
  EXPECT_EQ(error({full, number}), "no error");
  EXPECT_THAT(error({full}), HasSubstr("twice: takes 2 operands, not 1"));
  EXPECT_THAT(error({words, number}), HasSubstr("operand \"x\" is a buffer of f32, not buffer \"words\" of i32"));
  EXPECT_THAT(error({full, flag}), HasSubstr("operand \"result\" is a scalar of f32, not scalar \"flag\" of uint32"));
  EXPECT_THAT(error({full, literal(1.0f)}), HasSubstr("not a float32 number"));
}

TEST_F(Verify, AMatrixFilledInByHandIsCheckedAgainstItsSizes) {
  const auto nothing =
      make_operation({"nothing",
                      {{"A", OperandKind::matrix, Type::f32, Access::read}},
                      {},
                      [](Program&, std::span<const Operand>, const target::Profile&) { return Result<void>(); }});
  const CsrMatrix good = program.csr_matrix("m", 2, 2, {0, 1, 2}, {0, 1}, {1.0f, 1.0f});
  const auto error = [&](auto change) {
    CsrMatrix matrix = good;
    change(matrix);
    Program one = program;
    one.call(nothing, {matrix});
    const auto expanded = expand(one, {});
    return expanded ? "no error" : expanded.error().to_string();
  };
  EXPECT_EQ(error([](CsrMatrix&) {}), "no error");
  EXPECT_THAT(error([](CsrMatrix& m) { m.values.id = 77; }),
              HasSubstr("nothing: values of matrix \"A\" names a buffer of another program"));
  EXPECT_THAT(error([](CsrMatrix& m) { m.rows = 3; }),
              HasSubstr("row_offsets of matrix \"A\", of 3 rows and 2 nonzeros, holds exactly 4 of i32, but buffer "
                        "\"m.row_offsets\" has 3 of i32"));
  EXPECT_THAT(error([](CsrMatrix& m) { m.nonzeros = 3; }), HasSubstr("column_indices of matrix \"A\""));
  EXPECT_THAT(error([](CsrMatrix& m) { m.column_indices = m.values; }), HasSubstr("at least 2 of i32"));
}

}  // namespace
}  // namespace wavegate::program
