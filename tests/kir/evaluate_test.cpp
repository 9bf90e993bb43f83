#include "wavegate/kir/evaluate.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace wavegate::kir {
namespace {

constexpr uint64_t kNan32 = 0x7fc00000;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

uint64_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}
uint64_t bits(double value) {
  return std::bit_cast<uint64_t>(value);
}

uint64_t run(Op op, Type type, std::vector<uint64_t> operands) {
  return evaluate(op, type, type, operands);
}
uint64_t convert(Op op, Type to, Type from, uint64_t value) {
  return evaluate(op, to, from, std::vector<uint64_t>{value});
}
uint64_t compare(Op op, Type operand_type, uint64_t a, uint64_t b) {
  return evaluate(op, Type::boolean, operand_type, std::vector<uint64_t>{a, b});
}

struct Row {
  Op op;
  Type type;
  std::vector<uint64_t> operands;
  uint64_t expected;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(run(row.op, row.type, row.operands), row.expected)
        << info(row.op).name << " " << to_string(row.type) << " " << testing::PrintToString(row.operands);
  }
}

TEST(Evaluate, IntegersWrapAtTheWidthOfTheirType) {
  check({{Op::add, Type::i8, {0xff, 2}, 1},
         {Op::add, Type::i32, {0xffffffff, 1}, 0},
         {Op::sub, Type::i16, {0, 1}, 0xffff},
         {Op::sub, Type::i64, {0, 1}, ~uint64_t{0}},
         {Op::mul, Type::i32, {0x10001, 0x10001}, 0x20001},
         {Op::not_, Type::i16, {0}, 0xffff}});
}

TEST(Evaluate, TheHighHalfOfAProductHasAllBits) {
  check({{Op::mul_high_u, Type::i32, {0xffffffff, 0xffffffff}, 0xfffffffe},
         {Op::mul_high_s, Type::i32, {0xffffffff, 0xffffffff}, 0},
         {Op::mul_high_s, Type::i32, {0x80000000, 2}, 0xffffffff},
         {Op::mul_high_u, Type::i64, {~uint64_t{0}, ~uint64_t{0}}, ~uint64_t{0} - 1},
         {Op::mul_high_s, Type::i64, {~uint64_t{0}, 5}, ~uint64_t{0}},
         {Op::mul_high_u, Type::i8, {0xff, 0xff}, 0xfe}});
}

TEST(Evaluate, DivisionByZeroGivesTheDividendAndNoRemainder) {
  check({{Op::div_u, Type::i32, {7, 0}, 7},
         {Op::div_s, Type::i32, {0xfffffff9, 0}, 0xfffffff9},
         {Op::rem_u, Type::i32, {7, 0}, 0},
         {Op::rem_s, Type::i32, {7, 0}, 0}});
}

TEST(Evaluate, TheSmallestIntegerDividedByMinusOneGivesItself) {
  check({{Op::div_s, Type::i8, {0x80, 0xff}, 0x80},
         {Op::div_s, Type::i32, {0x80000000, 0xffffffff}, 0x80000000},
         {Op::div_s, Type::i64, {uint64_t{1} << 63, ~uint64_t{0}}, uint64_t{1} << 63},
         {Op::rem_s, Type::i64, {uint64_t{1} << 63, ~uint64_t{0}}, 0}});
}

TEST(Evaluate, SignedDivisionTruncatesAndTheRemainderHasTheSignOfTheDividend) {
  check({{Op::div_s, Type::i32, {0xfffffff9, 2}, 0xfffffffd}, {Op::rem_s, Type::i32, {0xfffffff9, 2}, 0xffffffff}});
}

TEST(Evaluate, SignednessDecidesMinimumAndMaximum) {
  check({{Op::min_u, Type::i16, {0xffff, 1}, 1},
         {Op::min_s, Type::i16, {0xffff, 1}, 0xffff},
         {Op::max_u, Type::i16, {0xffff, 1}, 0xffff},
         {Op::max_s, Type::i16, {0xffff, 1}, 1}});
}

TEST(Evaluate, ShiftAmountsAreTakenModuloTheWidth) {
  check({{Op::shift_left, Type::i32, {1, 33}, 2},
         {Op::shift_left, Type::i8, {0xff, 9}, 0xfe},
         {Op::shift_right_u, Type::i64, {4, 65}, 2},
         {Op::shift_right_s, Type::i16, {0x8000, 15}, 0xffff},
         {Op::shift_right_s, Type::i16, {0x8000, 16}, 0x8000}});
}

TEST(Evaluate, CountsOfZeroGiveTheWidth) {
  check({{Op::count_leading_zeros, Type::i8, {0}, 8},
         {Op::count_leading_zeros, Type::i32, {1}, 31},
         {Op::count_trailing_zeros, Type::i16, {0}, 16},
         {Op::count_trailing_zeros, Type::i64, {uint64_t{1} << 63}, 63},
         {Op::count_bits, Type::i32, {0xf0f0}, 8},
         {Op::reverse_bits, Type::i8, {0x13}, 0xc8},
         {Op::reverse_bits, Type::i64, {1}, uint64_t{1} << 63}});
}

TEST(Evaluate, BooleansHaveOneBit) {
  check({{Op::not_, Type::boolean, {1}, 0},
         {Op::not_, Type::boolean, {0}, 1},
         {Op::xor_, Type::boolean, {1, 1}, 0},
         {Op::select, Type::boolean, {0, 1, 0}, 0}});
  EXPECT_EQ(compare(Op::equal, Type::boolean, 1, 1), 1u);
}

TEST(Evaluate, SelectTakesBitsAsTheyAre) {
  check({{Op::select, Type::f32, {1, 0x7f800001, 0}, 0x7f800001}, {Op::select, Type::f32, {0, 0, 5}, 5}});
}

TEST(Evaluate, ComparisonsReadTheSignOfTheOperandType) {
  EXPECT_EQ(compare(Op::less_s, Type::i8, 0xff, 0), 1u);
  EXPECT_EQ(compare(Op::less_u, Type::i8, 0xff, 0), 0u);
  EXPECT_EQ(compare(Op::less_equal_s, Type::i64, uint64_t{1} << 63, 0), 1u);
}

TEST(Evaluate, OnlyNotEqualIsTrueOfNan) {
  for (const Op op : {Op::equal_f, Op::less_f, Op::less_equal_f}) {
    EXPECT_EQ(compare(op, Type::f32, kNan32, kNan32), 0u) << info(op).name;
  }
  EXPECT_EQ(compare(Op::not_equal_f, Type::f32, kNan32, kNan32), 1u);
  EXPECT_EQ(compare(Op::equal_f, Type::f32, bits(-0.0f), bits(0.0f)), 1u);
}

TEST(Evaluate, MinimumAndMaximumPassOverNanAndOrderZeros) {
  check({{Op::min_f, Type::f32, {kNan32, bits(1.0f)}, bits(1.0f)},
         {Op::max_f, Type::f32, {bits(1.0f), kNan32}, bits(1.0f)},
         {Op::min_f, Type::f32, {0xffc00001, kNan32}, kNan32},
         {Op::min_f, Type::f32, {bits(0.0f), bits(-0.0f)}, bits(-0.0f)},
         {Op::max_f, Type::f32, {bits(-0.0f), bits(0.0f)}, bits(0.0f)},
         {Op::max_f, Type::f64, {bits(-2.0), bits(3.0)}, bits(3.0)},
         {Op::min_f, Type::f16, {0x3c00, 0xbc00}, 0xbc00}});
}

TEST(Evaluate, ArithmeticMakesOneNan) {
  check({{Op::sub_f, Type::f32, {bits(kInfinity), bits(kInfinity)}, kNan32},
         {Op::div_f, Type::f32, {0, 0}, kNan32},
         {Op::sqrt, Type::f32, {bits(-1.0f)}, kNan32},
         {Op::add_f, Type::f32, {0xff800001, bits(1.0f)}, kNan32},
         {Op::mul_f, Type::f16, {0x7c00, 0}, 0x7e00},
         {Op::mul_f, Type::f64, {bits(std::numeric_limits<double>::infinity()), 0}, 0x7ff8000000000000}});
}

TEST(Evaluate, NegationAndAbsoluteValueTouchOnlyTheSign) {
  check({{Op::neg_f, Type::f32, {0x7f800001}, 0xff800001},
         {Op::neg_f, Type::f64, {0}, uint64_t{1} << 63},
         {Op::abs_f, Type::f16, {0xfc01}, 0x7c01}});
}

TEST(Evaluate, DenormalsAreKept) {
  check({{Op::add_f, Type::f32, {1, 1}, 2},
         {Op::mul_f, Type::f32, {bits(0x1p-100f), bits(0x1p-49f)}, 1},
         {Op::add_f, Type::f16, {1, 2}, 3},
         {Op::div_f, Type::f64, {2, bits(2.0)}, 1}});
}

TEST(Evaluate, HalvesAreRoundedOnce) {
  // 65504 + 15.99 stays, 65504 + 16 is the tie that goes to infinity.
  check({{Op::add_f, Type::f16, {0x7bff, 0x4bff}, 0x7bff}, {Op::add_f, Type::f16, {0x7bff, 0x4c00}, 0x7c00}});
  // Just below the tie between 1 + 2^-10 and its even neighbour; f32 would lose the product's tail and see the tie.
  check(
      {{Op::fma, Type::f16, {0x1001, 0x3bfe, 0x3c01}, 0x3c01}, {Op::fma, Type::f16, {0x1000, 0x3c00, 0x3c01}, 0x3c02}});
}

TEST(Evaluate, FmaRoundsOnce) {
  const float a = 1 + 0x1p-12f;
  const double b = 1 + 0x1p-27;
  check({{Op::fma, Type::f32, {bits(a), bits(a), bits(-(1 + 0x1p-11f))}, bits(0x1p-24f)},
         {Op::fma, Type::f64, {bits(b), bits(b), bits(-(1 + 0x1p-26))}, bits(0x1p-54)},
         // The product 2^24 + 1 is a tie, and double loses the term that breaks it.
         {Op::fma, Type::f32, {bits(24929.0f), bits(673.0f), bits(0x1p-80f)}, bits(0x1.000002p24f)},
         {Op::fma, Type::f32, {bits(24929.0f), bits(673.0f), bits(-0x1p-80f)}, bits(0x1p24f)}});
}

TEST(Evaluate, RoundingModesAreThoseOfTheirNames) {
  check({{Op::round_even, Type::f32, {bits(2.5f)}, bits(2.0f)},
         {Op::round_even, Type::f32, {bits(-3.5f)}, bits(-4.0f)},
         {Op::round_even, Type::f64, {bits(-0.5)}, bits(-0.0)},
         {Op::floor, Type::f32, {bits(-0.5f)}, bits(-1.0f)},
         {Op::ceil, Type::f32, {bits(-0.5f)}, bits(-0.0f)},
         {Op::trunc, Type::f16, {0xbe00}, 0xbc00}});
}

TEST(Evaluate, FloatToIntegerSaturatesAndMapsNanToZero) {
  EXPECT_EQ(convert(Op::convert_f_to_u, Type::i32, Type::f32, kNan32), 0u);
  EXPECT_EQ(convert(Op::convert_f_to_u, Type::i32, Type::f32, bits(-1.0f)), 0u);
  EXPECT_EQ(convert(Op::convert_f_to_u, Type::i32, Type::f32, bits(5e9f)), 0xffffffffu);
  EXPECT_EQ(convert(Op::convert_f_to_u, Type::i64, Type::f64, bits(0x1p64)), ~uint64_t{0});
  EXPECT_EQ(convert(Op::convert_f_to_u, Type::i64, Type::f64, bits(0x1p63)), uint64_t{1} << 63);
  EXPECT_EQ(convert(Op::convert_f_to_s, Type::i64, Type::f32, bits(-kInfinity)), uint64_t{1} << 63);
  EXPECT_EQ(convert(Op::convert_f_to_s, Type::i64, Type::f32, bits(kInfinity)), ~uint64_t{0} >> 1);
  EXPECT_EQ(convert(Op::convert_f_to_s, Type::i8, Type::f32, bits(-1000.0f)), 0x80u);
  EXPECT_EQ(convert(Op::convert_f_to_s, Type::i8, Type::f32, bits(-3.9f)), 0xfdu);
  EXPECT_EQ(convert(Op::convert_f_to_s, Type::i16, Type::f16, 0xc580), 0xfffbu);
}

TEST(Evaluate, IntegerToFloatRoundsOnce) {
  EXPECT_EQ(convert(Op::convert_u_to_f, Type::f32, Type::i64, 0x8000008000000001), bits(0x1.000002p63f));
  EXPECT_EQ(convert(Op::convert_s_to_f, Type::f32, Type::i32, 0xffffffff), bits(-1.0f));
  EXPECT_EQ(convert(Op::convert_s_to_f, Type::f64, Type::i8, 0x80), bits(-128.0));
  EXPECT_EQ(convert(Op::convert_u_to_f, Type::f16, Type::i64, ~uint64_t{0}), 0x7c00u);
  EXPECT_EQ(convert(Op::convert_u_to_f, Type::f16, Type::i32, 2049), 0x6800u);
}

TEST(Evaluate, FloatToFloatRoundsOnce) {
  EXPECT_EQ(convert(Op::convert_f, Type::f32, Type::f64, bits(0.1)), bits(0.1f));
  EXPECT_EQ(convert(Op::convert_f, Type::f64, Type::f32, 1), bits(0x1p-149));
  // By way of f32 this would become a tie and go to 1.
  EXPECT_EQ(convert(Op::convert_f, Type::f16, Type::f64, bits(1 + 0x1p-11 + 0x1p-40)), 0x3c01u);
  EXPECT_EQ(convert(Op::convert_f, Type::f32, Type::f16, 0xfe01), kNan32);
  EXPECT_EQ(convert(Op::convert_f, Type::f32, Type::f64, bits(1e300)), bits(kInfinity));
}

TEST(Evaluate, IntegersGrowAndShrink) {
  EXPECT_EQ(convert(Op::extend_s, Type::i32, Type::i8, 0x80), 0xffffff80u);
  EXPECT_EQ(convert(Op::extend_u, Type::i32, Type::i8, 0x80), 0x80u);
  EXPECT_EQ(convert(Op::truncate, Type::i16, Type::i64, 0x123456789), 0x6789u);
  EXPECT_EQ(convert(Op::bitcast, Type::f32, Type::i32, 0x7f800001), 0x7f800001u);
}

TEST(Evaluate, IsNanSeesSignallingOnes) {
  EXPECT_EQ(evaluate(Op::is_nan, Type::boolean, Type::f32, std::vector<uint64_t>{0x7f800001}), 1u);
  EXPECT_EQ(evaluate(Op::is_nan, Type::boolean, Type::f16, std::vector<uint64_t>{0x7c00}), 0u);
}

}  // namespace
}  // namespace wavegate::kir
