#include "wavegate/io/program_inputs.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/support.h"

namespace wavegate::io {
namespace {

using program::Program;
using testing::HasSubstr;

/// f, n and d are buffers of three elements of f32, i32 and i8; dt, k and i launch parameters of each type; s a scalar.
Program made() {
  Program program("case");
  program.buffer("f", kir::Type::f32, 3);
  program.buffer("n", kir::Type::i32, 3);
  program.buffer("d", kir::Type::i8, 3);
  program.external_buffer("lent", kir::Type::f32, 3);
  program.parameter("dt", program::literal(0.5f));
  program.parameter("k", program::literal(1u));
  program.parameter("i", program::literal(1));
  program.scalar_f32("s", 0);
  return program;
}

template <typename T>
Array three() {
  return make_array(std::span<const T>(std::vector<T>{1, 2, 3}));
}

template <typename T>
std::string refusal(std::string_view buffer) {
  Program program = made();
  return error_text(set_initial(program, buffer, three<T>()));
}

TEST(SetInitial, replaces_what_the_buffer_holds) {
  Program program = made();
  ASSERT_EQ(error_text(set_initial(program, "f", three<float>())), "");
  EXPECT_EQ(*program.buffers()[0].initial->bytes, three<float>().bytes);
  EXPECT_FALSE(program.mistake());
}

TEST(SetInitial, integers_of_either_sign_fit_a_buffer_of_their_width) {
  EXPECT_EQ(refusal<std::int32_t>("n"), "");
  EXPECT_EQ(refusal<std::uint32_t>("n"), "");
  EXPECT_EQ(refusal<std::uint8_t>("d"), "");
}

TEST(SetInitial, converts_nothing_and_says_what_fits) {
  EXPECT_EQ(refusal<double>("f"), "invalid input: buffer \"f\" holds f32, so that its array is one of f32, not f64");
  EXPECT_EQ(refusal<std::int64_t>("n"),
            "invalid input: buffer \"n\" holds i32, so that its array is one of i32 or u32, not i64");
  EXPECT_EQ(refusal<std::int16_t>("d"),
            "invalid input: buffer \"d\" holds i8, so that its array is one of i8 or u8, not i16");
}

TEST(SetInitial, the_number_of_elements_must_agree) {
  Program program = made();
  EXPECT_EQ(error_text(set_initial(program, "f", make_array(std::span<const float>(std::vector<float>{1, 2})))),
            "invalid input: buffer \"f\" has 3 elements, but its array has 2");
}

TEST(SetInitial, the_shape_is_of_no_matter) {
  Program program = made();
  Array array = three<float>();
  array.shape = {3, 1};
  EXPECT_EQ(error_text(set_initial(program, "f", std::move(array))), "");
}

TEST(SetInitial, names_the_buffer_that_was_meant) {
  Program program("case");
  program.buffer("velocity", kir::Type::f32, 3);
  EXPECT_EQ(error_text(set_initial(program, "velocty", three<float>())),
            "invalid input: the program has no buffer \"velocty\" (did you mean \"velocity\"?)");
}

TEST(SetInitial, a_lent_buffer_is_the_applications) {
  EXPECT_EQ(refusal<float>("lent"), "invalid input: buffer \"lent\" is bound by the application");
}

TEST(ParseParameter, reads_by_the_type_of_the_parameter) {
  const Program program = made();
  EXPECT_EQ(parse_parameter(program, "dt", "1e-3")->value.bits, program::literal(1e-3f).bits);
  EXPECT_EQ(parse_parameter(program, "dt", "2")->value.bits, program::literal(2.0f).bits);
  EXPECT_EQ(parse_parameter(program, "k", "4294967295")->value.bits, 0xffffffffu);
  EXPECT_EQ(parse_parameter(program, "i", "-5")->value.bits, program::literal(-5).bits);
  EXPECT_EQ(parse_parameter(program, "i", "-5")->parameter, *program.find_scalar("i"));
}

TEST(ParseParameter, takes_the_whole_text_and_its_range_alone) {
  const Program program = made();
  EXPECT_EQ(error_text(parse_parameter(program, "dt", "0.1s")),
            "invalid input: parameter \"dt\": \"0.1s\" is no number");
  EXPECT_EQ(error_text(parse_parameter(program, "dt", "1e39")),
            "invalid input: parameter \"dt\": 1e+39 is beyond the range of float32");
  EXPECT_THAT(error_text(parse_parameter(program, "dt", "nan")), HasSubstr("is no number"));
  EXPECT_THAT(error_text(parse_parameter(program, "k", "-1")), HasSubstr("-1 is no uint32"));
  EXPECT_THAT(error_text(parse_parameter(program, "k", "1.0")), HasSubstr("1 is no uint32"));
  EXPECT_THAT(error_text(parse_parameter(program, "k", "")), HasSubstr("\"\" is no number"));
}

TEST(ParseParameter, an_unknown_name_is_refused_with_the_nearest) {
  EXPECT_EQ(error_text(parse_parameter(made(), "dtt", "1")),
            "invalid input: the program has no launch parameter \"dtt\" (did you mean \"dt\"?)");
}

TEST(ParseParameter, a_scalar_is_no_launch_parameter) {
  EXPECT_THAT(error_text(parse_parameter(made(), "s", "1")),
              HasSubstr("the scalar of this name is set by the program"));
}

TEST(ArrayOf, gives_the_bytes_their_type_and_length) {
  const Program program = made();
  EXPECT_EQ(*array_of(program.buffers()[0], three<float>().bytes), three<float>());
  EXPECT_EQ(*array_of(program.buffers()[1], three<std::int32_t>().bytes), three<std::int32_t>());
}

TEST(ArrayOf, bytes_of_another_size_are_refused) {
  EXPECT_FALSE(array_of(made().buffers()[0], three<double>().bytes).ok());
}

}  // namespace
}  // namespace wavegate::io
