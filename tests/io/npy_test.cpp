#include "wavegate/io/npy.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "io/support.h"
#include "wavegate/base/format.h"
#include "wavegate/io/file.h"

namespace wavegate::io {
namespace {

using namespace std::literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// A file of version 1.0 with the header as it stands.
std::string npy_text(std::string_view header, std::string_view data, std::string_view version = "\1\0"sv) {
  std::string text = "\x93NUMPY"s + std::string(version);
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  if (version[0] != '\1') text += "\0\0"s;
  return text + std::string(header) + std::string(data);
}

Result<Array> read(std::string_view text) {
  return read_npy(to_bytes(text), "a.npy");
}

constexpr std::string_view kTwoFloats = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   \n";
const std::string kOneTwo = "\0\0\x80\x3f\0\0\0\x40"s;

TEST(ReadNpy, ReadsWhatNumpyWrites) {
  const Result<Array> array = read(npy_text(kTwoFloats, kOneTwo));
  ASSERT_EQ(error_text(array), "");
  EXPECT_EQ(*array, make_array<float>(std::array{1.0f, 2.0f}));
}

TEST(ReadNpy, ReadsVersionsTwoAndThree) {
  EXPECT_EQ(error_text(read(npy_text(kTwoFloats, kOneTwo, "\2\0"sv))), "");
  EXPECT_EQ(error_text(read(npy_text(kTwoFloats, kOneTwo, "\3\0"sv))), "");
}

TEST(ReadNpy, ReadsAnyLiteralThatPythonReadsSo) {
  for (const char* header : {
           "{'descr':'<f4','fortran_order':False,'shape':(2,)}",
           "{\"shape\": (2L,), \"fortran_order\": False, \"descr\": \"<f4\"}",
           " { 'shape' : ( 1 , 2 ) ,\n'descr' : '<f4' , 'fortran_order' : False , } ",
           "{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}",
       }) {
    EXPECT_EQ(error_text(read(npy_text(header, kOneTwo))), "") << header;
  }
}

TEST(ReadNpy, ReadsASingleElementAndAnEmptyArray) {
  const Result<Array> one = read(npy_text("{'descr': '|u1', 'fortran_order': False, 'shape': ()}", "\7"));
  ASSERT_EQ(error_text(one), "");
  EXPECT_THAT(one->shape, ElementsAre());
  const Result<Array> none = read(npy_text("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 0)}", ""));
  ASSERT_EQ(error_text(none), "");
  EXPECT_THAT(none->shape, ElementsAre(3, 0));
}

TEST(ReadNpy, RefusesEveryPrefixOfAFile) {
  const std::string text = npy_text(kTwoFloats, kOneTwo);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THAT(error_text(read(text.substr(0, size))), StartsWith("invalid input: a.npy: ")) << "prefix of " << size;
  }
}

class MalformedNpy : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedNpy, IsRefusedByName) {
  const std::string error = error_text(read(GetParam().text));
  EXPECT_THAT(error, HasSubstr("a.npy: "));
  for (const std::string& word : GetParam().words) EXPECT_THAT(error, HasSubstr(word));
}

Malformed header(std::string_view name, std::string_view text, std::vector<std::string> words) {
  return {name, npy_text(text, kOneTwo), std::move(words)};
}

INSTANTIATE_TEST_SUITE_P(
    , MalformedNpy,
    testing::Values(
        Malformed{"empty", "", {"invalid input", "is no .npy file"}},
        Malformed{"other_magic", "\x93NUMPX\1\0"s, {"invalid input", "magic"}},
        Malformed{"version_four", npy_text(kTwoFloats, kOneTwo, "\4\0"sv), {"unsupported", "version 4.0"}},
        Malformed{"version_minor", npy_text(kTwoFloats, kOneTwo, "\1\1"sv), {"unsupported", "version 1.1"}},
        Malformed{"header_cut", "\x93NUMPY\1\0\xff\xff{}"s, {"invalid input", "65535 bytes where 2 are left"}},
        Malformed{"header_length_huge", "\x93NUMPY\2\0\xff\xff\xff\xff{}"s, {"invalid input", "4294967295 bytes"}},
        Malformed{"data_cut", npy_text(kTwoFloats, "1234567"), {"invalid input", "takes 8 bytes, but 7 follow"}},
        Malformed{"data_trailing", npy_text(kTwoFloats, "123456789"), {"invalid input", "takes 8 bytes, but 9 follow"}},
        Malformed{"bool_of_two",
                  npy_text("{'descr':'|b1','fortran_order':False,'shape':(3,)}", "\0\1\2"s),
                  {"invalid input", "element 2 of a bool array is 2"}},
        header("no_dictionary", "[1]", {"invalid input", "character 0", "expected \"{\", found \"[\""}),
        header("no_end", "{'descr': '<f4'", {"invalid input", "expected \"}\", found \"\""}),
        header("string_without_end", "{'descr: 1", {"invalid input", "a string has no end"}),
        header("string_with_escape", "{'de\\x73cr': '<f4'}", {"invalid input", "holds an escape"}),
        header("key_without_quotes", "{descr: '<f4'}", {"invalid input", "expected a string, found \"d\""}),
        header("no_colon", "{'descr' '<f4'}", {"invalid input", "expected \":\""}),
        header("unknown_key", "{'order': 1}", {"invalid input", "the key \"order\" is unknown"}),
        header("key_twice", "{'descr': '<f4', 'descr': '<f4'}", {"invalid input", "the key \"descr\" occurs twice"}),
        header("descr_missing", "{'fortran_order': False, 'shape': (2,)}", {"invalid input", "\"descr\" is missing"}),
        header("order_missing", "{'descr': '<f4', 'shape': (2,)}", {"invalid input", "\"fortran_order\" is missing"}),
        header("shape_missing", "{'descr': '<f4', 'fortran_order': False}", {"invalid input", "\"shape\" is missing"}),
        header("text_after_end", "{'descr':'<f4','fortran_order':False,'shape':(2,)} x",
               {"invalid input", "\"x\" follows the closing brace"}),
        header("big_endian", "{'descr': '>f4'}", {"unsupported", "\">f4\" are big-endian", "astype('<f4')"}),
        header("native_order", "{'descr': '=f4'}", {"unsupported", "\"=f4\""}),
        header("no_order", "{'descr': '|f4'}", {"invalid input", "\"|f4\" lacks its byte order"}),
        header("complex", "{'descr': '<c8'}", {"unsupported", "\"<c8\""}),
        header("object", "{'descr': '|O'}", {"unsupported", "\"|O\""}),
        header("unicode", "{'descr': '<U3'}", {"unsupported", "\"<U3\""}),
        header("empty_type", "{'descr': ''}", {"unsupported", "elements of type \"\""}),
        header("structured", "{'descr': [('a', '<f4')]}", {"unsupported", "structured"}),
        header("order_of_one", "{'fortran_order': 1}", {"invalid input", "True or False"}),
        header("fortran_order", "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1)}",
               {"unsupported", "shape (2, 1) in Fortran order"}),
        header("shape_of_a_number", "{'shape': 2}", {"invalid input", "expected \"(\", found \"2\""}),
        header("shape_in_brackets", "{'shape': (2)}", {"invalid input", "needs a comma"}),
        header("extent_negative", "{'shape': (-1,)}", {"invalid input", "the extent \"-1\""}),
        header("extent_missing", "{'shape': (2,,)}", {"invalid input", "the extent \",\""}),
        header("extent_octal", "{'shape': (02,)}", {"invalid input", "the extent \"02\""}),
        header("extent_beyond_64_bits", "{'shape': (18446744073709551616,)}",
               {"invalid input", "the extent \"18446744073709551616\""}),
        header("product_overflows", "{'descr':'<f4','fortran_order':False,'shape':(4294967296, 4294967296)}",
               {"invalid input", "shape (4294967296, 4294967296) exceeds 2^63 bytes"}),
        header("bytes_overflow", "{'descr':'<f4','fortran_order':False,'shape':(4611686018427387904,)}",
               {"invalid input", "exceeds 2^63 bytes"}),
        header("zero_hides_overflow", "{'descr':'<f4','fortran_order':False,'shape':(4294967296, 0, 4294967296)}",
               {"invalid input", "exceeds 2^63 bytes"}),
        header("too_many_dimensions",
               "{'shape': (1" +
                   [] {
                     std::string ones;
                     for (int i = 0; i < 64; ++i) ones += ",1";
                     return ones;
                   }() +
                   ")}",
               {"invalid input", "more than 64 dimensions"})),
    name_of);

TEST(WriteNpy, WritesWhatNumpyWrites) {
  const Result<std::vector<std::byte>> bytes = write_npy(make_array<float>(std::array{1.0f, 2.0f}));
  ASSERT_EQ(error_text(bytes), "");
  // numpy.save pads version 1.0 to a multiple of 64 bytes: 6 + 2 + 2 + 118.
  std::string expected = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  expected.append(117 - expected.size(), ' ');
  EXPECT_EQ(as_text(*bytes), npy_text(expected + "\n", kOneTwo));
}

TEST(WriteNpy, RoundTripsEveryElementType) {
  for (const ElementType type :
       {ElementType::boolean, ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64, ElementType::u8,
        ElementType::u16, ElementType::u32, ElementType::u64, ElementType::f16, ElementType::f32, ElementType::f64}) {
    const Array array{type, {1, 2}, std::vector<std::byte>(2 * size_of(type), std::byte{1})};
    const Result<std::vector<std::byte>> bytes = write_npy(array);
    ASSERT_EQ(error_text(bytes), "") << to_string(type);
    const Result<Array> again = read_npy(*bytes, "a.npy");
    ASSERT_EQ(error_text(again), "") << to_string(type);
    EXPECT_EQ(*again, array) << to_string(type);
  }
}

TEST(WriteNpy, RoundTripsTheLargestShape) {
  const Array array{ElementType::u8, std::vector<std::uint64_t>(64, 1), std::vector<std::byte>(1)};
  const Result<std::vector<std::byte>> bytes = write_npy(array);
  ASSERT_EQ(error_text(bytes), "");
  EXPECT_EQ(error_text(read_npy(*bytes, "a.npy")), "");
}

TEST(WriteNpy, RefusesAShapeThatDisagreesWithItsBytes) {
  const Array array{ElementType::f32, {3}, std::vector<std::byte>(8)};
  EXPECT_THAT(error_text(write_npy(array)), HasSubstr("an f32 array of shape (3,) does not hold 8 bytes"));
}

template <typename T>
std::vector<float> converted(std::vector<T> values) {
  const Result<std::vector<float>> floats = to_f32(make_array<T>(values));
  return floats.ok() ? *floats : std::vector<float>{};
}

TEST(ToF32, ConvertsIntegersToTheNearest) {
  EXPECT_THAT(converted<std::int8_t>({-128, 127}), ElementsAre(-128, 127));
  EXPECT_THAT(converted<std::uint8_t>({0, 255}), ElementsAre(0, 255));
  EXPECT_THAT(converted<std::int16_t>({-32768}), ElementsAre(-32768));
  EXPECT_THAT(converted<std::uint16_t>({65535}), ElementsAre(65535));
  EXPECT_THAT(converted<std::int32_t>({16777217, -1}), ElementsAre(16777216, -1));
  EXPECT_THAT(converted<std::uint32_t>({4294967295u}), ElementsAre(4294967296.0f));
  EXPECT_THAT(converted<std::int64_t>({std::numeric_limits<std::int64_t>::min()}), ElementsAre(-0x1p63f));
  EXPECT_THAT(converted<std::uint64_t>({std::numeric_limits<std::uint64_t>::max()}), ElementsAre(0x1p64f));
}

TEST(ToF32, KeepsF32BitForBit) {
  EXPECT_THAT(converted<float>({0.1f, std::numeric_limits<float>::denorm_min()}),
              ElementsAre(0.1f, std::numeric_limits<float>::denorm_min()));
}

TEST(ToF32, RoundsF64AndKeepsItsInfinitiesAndNans) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(converted<double>({0.1, -infinity, 1e-300}),
              ElementsAre(0.1f, -std::numeric_limits<float>::infinity(), 0.0f));
  EXPECT_TRUE(std::isnan(converted<double>({std::nan("")}).at(0)));
}

TEST(ToF32, RefusesAnF64BeyondItsRangeByElement) {
  EXPECT_THAT(error_text(to_f32(make_array<double>(std::array{1.0, 1e39}))),
              AllOf(StartsWith("invalid input"), HasSubstr("element 1 is 1e+39")));
}

TEST(ToF32, MakesZeroAndOneOfBooleans) {
  const Array array{ElementType::boolean, {2}, {std::byte{0}, std::byte{1}}};
  EXPECT_THAT(*to_f32(array), ElementsAre(0, 1));
}

TEST(ToF32, ConvertsHalvesExactly) {
  struct Row {
    std::uint16_t half;
    float value;
  };
  for (const Row& row : {Row{0x3c00, 1}, Row{0xc000, -2}, Row{0x0001, 0x1p-24f}, Row{0x03ff, 0x3ffp-24f},
                         Row{0x0400, 0x1p-14f}, Row{0x7bff, 65504}, Row{0x7c00, HUGE_VALF}, Row{0x8000, -0.0f}}) {
    Array array = make_array<std::uint16_t>(std::array{row.half});
    array.type = ElementType::f16;
    EXPECT_EQ(to_f32(array)->at(0), row.value) << row.half;
    EXPECT_EQ(std::signbit(to_f32(array)->at(0)), std::signbit(row.value)) << row.half;
  }
  Array nan = make_array<std::uint16_t>(std::array<std::uint16_t, 1>{0x7e00});
  nan.type = ElementType::f16;
  EXPECT_TRUE(std::isnan(to_f32(nan)->at(0)));
}

}  // namespace
}  // namespace wavegate::io
