#include "wavegate/program/expand.h"

#include <gmock/gmock.h>

#include "wavegate/program/operation.h"

namespace wavegate::program {
namespace {

using kir::Access;
using kir::Type;
using testing::AllOf;
using testing::HasSubstr;

class Expand : public testing::Test {
 protected:
  /// An operation without operands that counts in `scalar`.
  static std::shared_ptr<const Operation> counting(Scalar scalar) {
    return make_operation({"count", {}, {}, [scalar](Program& p, std::span<const Operand>, const target::Profile&) {
                             p.assign(scalar, ScalarExpr(scalar) + 1);
                             return Result<void>();
                           }});
  }

  Program program{"test"};
  Buffer full = program.buffer("full", Type::f32, 4, Initial::zero());
  Buffer words = program.buffer("words", Type::i32, 4, Initial::zero());
  Scalar flag = program.scalar_u32("flag", 1);
  Scalar number = program.scalar_f32("number", 1.0f);
};

/// The commands as a word each, with their bodies.
std::string outline(const Body& body);

struct Word {
  std::string operator()(const Assign&) const { return "assign"; }
  std::string operator()(const Record&) const { return "record"; }
  std::string operator()(const Break&) const { return "break"; }
  std::string operator()(const Continue&) const { return "continue"; }
  std::string operator()(const If& node) const { return "if" + outline(node.then_body) + outline(node.else_body); }
  std::string operator()(const Switch& node) const {
    std::string text = "switch";
    for (const Case& one : node.cases) text += std::to_string(one.value) + outline(one.body);
    return text + outline(node.default_body);
  }
  std::string operator()(const While& node) const { return "while" + outline(node.body); }
  std::string operator()(const auto&) const { return "other"; }
};

std::string outline(const Body& body) {
  std::string text;
  for (const Node& node : body) text += (text.empty() ? "" : " ") + std::visit(Word(), node.what);
  return "{" + text + "}";
}

TEST_F(Expand, ReplacesCallsInEveryBodyAndKeepsTheRest) {
  const auto count = counting(flag);
  const auto call = [&] { program.call(count, {}); };
  const Loop loop = program.while_(
      flag < 9, {.min = 2, .max = 7},
      [&] {
        program.if_(flag, call, call, "branch");
        program.switch_(flag, {{3, call}, {1, [&] { program.continue_(); }}}, call, "choice");
        program.record(flag);
        program.break_();
      },
      "loop");
  const auto expanded = expand(program, {});
  ASSERT_TRUE(expanded) << expanded.error().to_string();
  EXPECT_EQ(outline(expanded->body()), "{while{if{assign}{assign} switch3{assign}1{continue}{assign} record break}}");
  const auto& kept = std::get<While>(expanded->body()[0].what);
  EXPECT_EQ(kept.label, "loop");
  EXPECT_EQ(kept.loop.id, loop.id);
  EXPECT_EQ(kept.bounds.min, 2u);
  EXPECT_EQ(kept.bounds.max, 7u);
  EXPECT_EQ(kept.index, std::get<While>(program.body()[0].what).index);
  EXPECT_EQ(kept.predicate.root().op, ScalarOp::less);
  EXPECT_EQ(std::get<If>(kept.body[0].what).label, "branch");
  EXPECT_EQ(std::get<Switch>(kept.body[1].what).label, "choice");
}

TEST_F(Expand, AnOperationMayHaveLoopsOfItsOwnButNotEndItsCallers) {
  const auto searching =
      make_operation({"search", {}, {}, [](Program& p, std::span<const Operand>, const target::Profile&) {
                        p.while_(1u, {.min = 0, .max = 3}, [&] { p.break_(); });
                        return Result<void>();
                      }});
  const auto ending = make_operation({"end", {}, {}, [](Program& p, std::span<const Operand>, const target::Profile&) {
                                        p.break_();
                                        return Result<void>();
                                      }});
  program.while_(flag, {.min = 0, .max = 3}, [&] { program.call(searching, {}); });
  EXPECT_TRUE(expand(program, {}));
  program.while_(flag, {.min = 0, .max = 3}, [&] { program.call(ending, {}); });
  const auto expanded = expand(program, {});
  ASSERT_FALSE(expanded);
  EXPECT_THAT(expanded.error().to_string(), HasSubstr("break_ stands outside of every loop"));
}

TEST_F(Expand, EndlessNestingIsRefused) {
  Body body;
  for (int i = 0; i < 100; ++i) {
    Body outer;
    outer.push_back({Switch{"s", flag, {}, std::move(body)}});
    body = std::move(outer);
  }
  program.set_body(std::move(body));
  const auto expanded = expand(program, {});
  ASSERT_FALSE(expanded);
  EXPECT_THAT(expanded.error().to_string(), HasSubstr("nests deeper than 64 levels"));
}

TEST_F(Expand, AnOperationMadeOfItselfIsRefused) {
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

TEST_F(Expand, AnOperationWithoutACheckHasNothingMoreToCheck) {
  const auto nothing = [](Program&, std::span<const Operand>, const target::Profile&) { return Result<void>(); };
  program.call(make_operation({"plain", {}, {}, nothing}), {});
  EXPECT_TRUE(expand(program, {}));
}

TEST_F(Expand, AnOperationWithoutAnExpansionIsRefusedByName) {
  program.call(make_operation({"hollow", {}, {}, {}}), {});
  const auto expanded = expand(program, {});
  ASSERT_FALSE(expanded);
  EXPECT_THAT(expanded.error().to_string(), HasSubstr("hollow: has no expand"));
}

TEST_F(Expand, AUsersOperationIsCheckedAgainstItsTable) {
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

TEST_F(Expand, AMatrixFilledInByHandIsCheckedAgainstItsSizes) {
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
