#include "wavegate/io/json_number.h"

#include <gmock/gmock.h>

#include <bit>
#include <string>

#include "io/support.h"

namespace wavegate::io {
namespace {

using kir::Type;
using program::ScalarType;
using testing::HasSubstr;

std::uint64_t bits(std::string_view text, Type type) {
  const auto made = element_bits(parse_json(text).value(), type);
  EXPECT_EQ(error_text(made), "");
  return made.ok() ? *made : 0;
}

std::string refusal(std::string_view text, Type type) {
  return error_text(element_bits(parse_json(text).value(), type));
}

TEST(ElementBits, an_integer_takes_what_its_bits_can_mean) {
  EXPECT_EQ(bits("-128", Type::i8), 0x80u);
  EXPECT_EQ(bits("255", Type::i8), 0xffu);
  EXPECT_EQ(bits("-32768", Type::i16), 0x8000u);
  EXPECT_EQ(bits("4294967295", Type::i32), 0xffffffffu);
  EXPECT_EQ(bits("-2147483648", Type::i32), 0x80000000u);
  EXPECT_EQ(bits("-9223372036854775808", Type::i64), 0x8000000000000000u);
  EXPECT_EQ(bits("18446744073709551615", Type::i64), 0xffffffffffffffffu);
}

TEST(ElementBits, an_integer_beyond_its_range_is_refused_with_the_range) {
  EXPECT_EQ(refusal("256", Type::i8), "invalid input: 256 is no i8, a whole number from -128 to 255");
  EXPECT_THAT(refusal("-129", Type::i8), HasSubstr("-129 is no i8"));
  EXPECT_THAT(refusal("4294967296", Type::i32), HasSubstr("is no i32"));
  EXPECT_THAT(refusal("18446744073709551616", Type::i64), HasSubstr("is no i64"));
}

TEST(ElementBits, a_number_with_a_fraction_or_an_exponent_is_no_integer) {
  EXPECT_THAT(refusal("1.5", Type::i32), HasSubstr("1.5 is no i32"));
  EXPECT_THAT(refusal("1e3", Type::i32), HasSubstr("is no i32"));
  EXPECT_THAT(refusal("true", Type::i32), HasSubstr("true or false is no i32"));
}

TEST(ElementBits, a_float_takes_every_number_that_rounds_into_its_range) {
  EXPECT_EQ(bits("1", Type::f32), 0x3f800000u);
  EXPECT_EQ(bits("-0.0", Type::f32), 0x80000000u);
  EXPECT_EQ(bits("3.4028235677973364e38", Type::f32), 0x7f7fffffu);
  EXPECT_EQ(bits("1", Type::f16), 0x3c00u);
  EXPECT_EQ(bits("65519.9", Type::f16), 0x7bffu);
  EXPECT_EQ(bits("0.1", Type::f64), std::bit_cast<std::uint64_t>(0.1));
  EXPECT_EQ(bits("18446744073709551615", Type::f64), std::bit_cast<std::uint64_t>(18446744073709551616.0));
}

TEST(ElementBits, a_float_that_would_round_to_infinity_is_refused) {
  EXPECT_EQ(refusal("1e39", Type::f32), "invalid input: 1e+39 is beyond the range of f32");
  EXPECT_THAT(refusal("3.4028235677973366e38", Type::f32), HasSubstr("beyond the range of f32"));
  EXPECT_THAT(refusal("-65520", Type::f16), HasSubstr("-65520 is beyond the range of f16"));
  EXPECT_THAT(refusal("\"inf\"", Type::f32), HasSubstr("a string is no f32"));
}

TEST(ScalarLiteral, has_the_range_of_exactly_its_type) {
  const auto literal = [](std::string_view text, ScalarType type) {
    return scalar_literal(parse_json(text).value(), type);
  };
  EXPECT_EQ(literal("4294967295", ScalarType::uint32)->bits, 0xffffffffu);
  EXPECT_EQ(literal("-1", ScalarType::sint32)->bits, 0xffffffffu);
  EXPECT_EQ(literal("2", ScalarType::float32)->bits, 0x40000000u);
  EXPECT_EQ(error_text(literal("-1", ScalarType::uint32)),
            "invalid input: -1 is no uint32, a whole number from 0 to 4294967295");
  EXPECT_EQ(error_text(literal("2147483648", ScalarType::sint32)),
            "invalid input: 2147483648 is no sint32, a whole number from -2147483648 to 2147483647");
}

TEST(WeakLiteral, has_the_type_that_the_number_looks_like) {
  EXPECT_EQ(weak_literal(parse_json("7").value())->type, ScalarType::uint32);
  EXPECT_EQ(weak_literal(parse_json("-7").value())->type, ScalarType::sint32);
  EXPECT_EQ(weak_literal(parse_json("7.0").value())->type, ScalarType::float32);
  EXPECT_FALSE(weak_literal(parse_json("4294967296").value()).ok());
}

TEST(ThreeSizes, those_left_out_are_one) {
  const auto sizes = [](std::string_view text) {
    const JsonValue value = parse_json(text).value();
    return three_sizes(JsonView(value, "grid"));
  };
  EXPECT_THAT(*sizes("[7]"), testing::ElementsAre(7, 1, 1));
  EXPECT_THAT(*sizes("[7, 8, 4294967295]"), testing::ElementsAre(7, 8, 4294967295));
  EXPECT_EQ(error_text(sizes("[]")), "invalid input: grid: has 0 numbers; expected 1 to 3");
  EXPECT_FALSE(sizes("[1, 1, 1, 1]").ok());
  EXPECT_FALSE(sizes("[0]").ok());
  EXPECT_FALSE(sizes("[4294967296]").ok());
}

TEST(ParseNumber, takes_the_whole_text_or_nothing) {
  EXPECT_EQ(*parse_number("12")->as<std::uint64_t>(), 12u);
  EXPECT_EQ(*parse_number("+12")->as<std::uint64_t>(), 12u);
  EXPECT_EQ(*parse_number("-12")->as<std::int64_t>(), -12);
  EXPECT_EQ(*parse_number("1e-3")->as<double>(), 1e-3);
  for (const char* text : {"", " 1", "1 ", "1x", "nan", "inf", "0x10", "1,5", "--1"})
    EXPECT_FALSE(parse_number(text).ok()) << text;
}

}  // namespace
}  // namespace wavegate::io
