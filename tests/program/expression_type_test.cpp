#include "wavegate/program/expression_type.h"

#include <gmock/gmock.h>

namespace wavegate::program {
namespace {

using testing::HasSubstr;

class ExpressionTypes : public testing::Test {
 protected:
  std::string type(const ScalarExpr& expression) const {
    const auto result = type_of(program, expression.root());
    return result ? std::string(to_string(result->type)) : result.error().message;
  }

  Program program{"types"};
  Scalar u = program.scalar_u32("u", 0);
  Scalar s = program.scalar("s", ScalarType::sint32, 0);
  Scalar f = program.scalar_f32("f", 0.0f);
};

TEST_F(ExpressionTypes, NumbersAdaptToWhatStandsBesideThem) {
  EXPECT_EQ(type(u + 1), "uint32");
  EXPECT_EQ(type(s + 1), "sint32");
  EXPECT_EQ(type(s - -1), "sint32");
  EXPECT_EQ(type(2 * f), "float32");
  EXPECT_EQ(type(f > 0), "uint32");
}

TEST_F(ExpressionTypes, NothingElseConverts) {
  EXPECT_THAT(type(u + s), HasSubstr("\"+\" mixes uint32 and sint32"));
  EXPECT_THAT(type(u + -1), HasSubstr("mixes uint32 and sint32"));
  EXPECT_THAT(type(u + 1.0f), HasSubstr("mixes uint32 and float32"));
  EXPECT_THAT(type(f < u), HasSubstr("mixes float32 and uint32"));
}

TEST_F(ExpressionTypes, ANumberThatWouldTurnNegativeDoesNotAdapt) {
  EXPECT_EQ(type(s + 0x7fffffffu), "sint32");
  EXPECT_THAT(type(s + 0x80000000u), HasSubstr("\"+\" mixes sint32 and uint32"));
  EXPECT_THAT(type(0x80000000u < ScalarExpr(-1)), HasSubstr("mixes uint32 and sint32"));
  EXPECT_THAT(type(-ScalarExpr(0x80000000u)), HasSubstr("takes sint32 or float32, not uint32"));
  EXPECT_EQ(type(f + 0x80000000u), "float32");
}

TEST_F(ExpressionTypes, TruthValuesAreUint32) {
  EXPECT_EQ(type((u > 1) && !u), "uint32");
  EXPECT_THAT(type(f && u), HasSubstr("takes uint32 truth values, not float32"));
  EXPECT_THAT(type(select(f, u, u)), HasSubstr("uint32 condition"));
}

TEST_F(ExpressionTypes, UnsignedNumbersAreNotNegated) {
  EXPECT_THAT(type(-ScalarExpr(u)), HasSubstr("takes sint32 or float32, not uint32"));
  EXPECT_EQ(type(-ScalarExpr(3)), "sint32");
}

TEST_F(ExpressionTypes, OperandsAreCounted) {
  EXPECT_THAT(type({ScalarOp::add, {u}}), HasSubstr("\"+\" takes 2 operands"));
  EXPECT_THAT(type({ScalarOp::logical_not, {u, u}}), HasSubstr("\"not\" takes 1 operands"));
}

TEST_F(ExpressionTypes, APartThatIsUsedTwiceCountsTwice) {
  ScalarExpr doubled = u;
  for (int i = 0; i < 11; ++i) doubled = doubled + doubled;  // 2^12 - 1 nodes
  EXPECT_EQ(type(doubled), "uint32");
  for (int i = 0; i < 100; ++i) doubled = doubled + doubled;
  EXPECT_THAT(type(doubled), HasSubstr("more than 4096 operations"));
}

TEST_F(ExpressionTypes, ALoweringMayPutConditionsAroundTheLargestExpression) {
  ScalarExpr large = u;
  for (int i = 0; i < 11; ++i) large = large + large;
  const ScalarExpr kept = select(!ScalarExpr(u) && u, large, u);
  EXPECT_THAT(type(kept), HasSubstr("more than 4096 operations"));
  const auto lowered = type_of(program, kept.root(), kMaximumLoweredSize);
  ASSERT_TRUE(lowered.ok()) << lowered.error().to_string();
  EXPECT_EQ(lowered->type, ScalarType::uint32);
  EXPECT_EQ(operand_type(program, kept.root()).value(), ScalarType::uint32);
}

TEST_F(ExpressionTypes, WhatIsTooLargeOrLacksAnOperandHasNoOperandType) {
  ScalarExpr sum = s;
  for (uint32_t i = 0; i < kMaximumLoweredSize; ++i) sum = sum + s;
  const auto message = [&](const ScalarExpr& expression) {
    const auto found = operand_type(program, expression.root());
    return found ? std::string(to_string(*found)) : found.error().message;
  };
  EXPECT_THAT(message(sum), HasSubstr("more than 4160 operations"));
  EXPECT_THAT(message({ScalarOp::add, {u}}), HasSubstr("\"+\" takes 2 operands"));
  EXPECT_THAT(message({ScalarOp::select, {u}}), HasSubstr("\"select\" takes 3 operands"));
  EXPECT_THAT(message(u), HasSubstr("takes 0 operands"));
  EXPECT_THAT(message(u + f), HasSubstr("mixes uint32 and float32"));
  EXPECT_EQ(message(s + 1), "sint32");
  EXPECT_EQ(message(-ScalarExpr(3)), "sint32");
}

TEST_F(ExpressionTypes, AChainOfAnyLengthIsRefusedWithoutDeepRecursion) {
  ScalarExpr sum = u;
  for (int i = 0; i < 1'000'000; ++i) sum = sum + u;
  EXPECT_THAT(type(sum), HasSubstr("split it into several assigns"));
}

TEST_F(ExpressionTypes, AScalarOfAnotherProgramIsRefused) {
  EXPECT_THAT(type(Scalar{77} + 1), HasSubstr("another program"));
}

}  // namespace
}  // namespace wavegate::program
