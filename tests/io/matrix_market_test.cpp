#include "wavegate/io/matrix_market.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "io/support.h"
#include "wavegate/base/format.h"

namespace wavegate::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kReal = "%%MatrixMarket matrix coordinate real general\n";
const std::string kInteger = "%%MatrixMarket matrix coordinate integer general\n";
const std::string kPattern = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string kSymmetric = "%%MatrixMarket matrix coordinate real symmetric\n";

Result<CsrMatrix> parse(std::string_view text) {
  return parse_matrix_market(text, "m.mtx");
}

/// The matrix of a text, or an empty one after a failed check that says why.
CsrMatrix parsed(std::string_view text) {
  const Result<CsrMatrix> matrix = parse(text);
  EXPECT_EQ(error_text(matrix), "");
  if (!matrix.ok()) return {};
  EXPECT_EQ(error_text(verify(*matrix)), "");
  return *matrix;
}

TEST(MatrixMarket, ReadsRealValues) {
  const CsrMatrix expected{
      .rows = 2, .columns = 3, .row_offsets = {0, 2, 3}, .column_indices = {0, 2, 1}, .values = {2, -0.5f, 3e10f}};
  EXPECT_EQ(parsed(kReal + "2 3 3\n1 1 2\n1 3 -.5\n2 2 +3e10\n"), expected);
}

TEST(MatrixMarket, SortsEntriesInAnyOrder) {
  EXPECT_EQ(parsed(kReal + "2 3 3\n2 2 3e10\n1 3 -.5\n1 1 2\n"), parsed(kReal + "2 3 3\n1 1 2\n1 3 -.5\n2 2 3e10\n"));
}

TEST(MatrixMarket, ReadsIntegers) {
  EXPECT_THAT(parsed(kInteger + "2 2 2\n1 1 -7\n2 2 +8\n").values, ElementsAre(-7, 8));
}

TEST(MatrixMarket, GivesEachEntryOfAPatternTheValueOne) {
  EXPECT_THAT(parsed(kPattern + "2 2 2\n1 1\n2 2\n").values, ElementsAre(1, 1));
}

TEST(MatrixMarket, ExpandsASymmetricMatrixFromEitherTriangle) {
  const CsrMatrix expected{
      .rows = 2, .columns = 2, .row_offsets = {0, 2, 3}, .column_indices = {0, 1, 0}, .values = {4, 5, 5}};
  EXPECT_EQ(parsed(kSymmetric + "2 2 2\n1 1 4\n2 1 5\n"), expected);
  EXPECT_EQ(parsed(kSymmetric + "2 2 2\n1 1 4\n1 2 5\n"), expected);
}

TEST(MatrixMarket, ReadsABannerInAnyCase) {
  EXPECT_THAT(parsed("%%matrixmarket MATRIX Coordinate REAL General\n1 1 1\n1 1 3\n").values, ElementsAre(3));
}

TEST(MatrixMarket, PassesOverCommentsAndBlankLinesAnywhere) {
  EXPECT_THAT(parsed(kReal + "% a\n\n  \t\n%b\n1 1 1\n\n  % c\n1 1 3\n% d\n\n").values, ElementsAre(3));
}

TEST(MatrixMarket, ReadsCarriageReturnsTabsAndAMissingLastEnd) {
  EXPECT_THAT(parsed("%%MatrixMarket matrix coordinate real general\r\n% a\r\n\r\n1\t1 1\r\n 1  1\t3 \r").values,
              ElementsAre(3));
}

TEST(MatrixMarket, ReadsAMatrixWithoutEntries) {
  EXPECT_THAT(parsed(kReal + "2 2 0\n").row_offsets, ElementsAre(0, 0, 0));
}

TEST(MatrixMarket, RoundsValuesToF32AndTheSmallestToZero) {
  EXPECT_THAT(parsed(kReal + "1 3 3\n1 1 0.1\n1 2 1e-60\n1 3 1e-400\n").values, ElementsAre(0.1f, 0, 0));
}

TEST(MatrixMarket, ReadsTheShortestPossibleEntries) {
  EXPECT_THAT(parsed(kPattern + "1 3 3\n1 1\n1 2\n1 3").values, ElementsAre(1, 1, 1));
  EXPECT_THAT(parsed(kReal + "1 2 2\n1 1 1\n1 2 1").values, ElementsAre(1, 1));
}

TEST(MatrixMarket, ReadsManyEntriesPerRow) {
  std::string text = kReal + "1 20000 20000\n";
  for (int i = 20000; i > 0; --i) text += format("1 {} {}\n", i, i);
  const CsrMatrix matrix = parsed(text);
  ASSERT_EQ(matrix.values.size(), 20000u);
  EXPECT_EQ(matrix.values[12344], 12345);
}

class MalformedMatrixMarket : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedMatrixMarket, IsRefusedByName) {
  const std::string error = error_text(parse(GetParam().text));
  for (const std::string& word : GetParam().words) EXPECT_THAT(error, HasSubstr(word));
}

Malformed banner(std::string_view name, std::string_view words, std::vector<std::string> expected) {
  expected.emplace_back("m.mtx:1: ");
  return {name, format("%%MatrixMarket {}\n1 1 1\n1 1 1\n", words), std::move(expected)};
}

Malformed size_line(std::string_view name, std::string_view line, std::vector<std::string> expected) {
  expected.emplace_back("m.mtx:3: ");
  return {name, format("{}% comment\n{}\n1 1 1\n", kReal, line), std::move(expected)};
}

Malformed entry(std::string_view name, std::string_view line, std::vector<std::string> expected) {
  expected.emplace_back("invalid input: m.mtx:5: ");
  // The comment makes room for two entries.
  return {name, format("{}8 9 2\n1 1 1\n% comment\n{}\n", kReal, line), std::move(expected)};
}

INSTANTIATE_TEST_SUITE_P(
    Text, MalformedMatrixMarket,
    testing::Values(Malformed{"empty", "", {"invalid input: m.mtx: ", "is empty"}},
                    Malformed{"other_file", "%PDF-1.4\n", {"invalid input: m.mtx:1: ", "%%MatrixMarket"}},
                    Malformed{
                        "no_size_line", kReal + "% only\n", {"invalid input: m.mtx:2: ", "before its size line"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Banner, MalformedMatrixMarket,
    testing::Values(
        banner("vector", "vector coordinate real general", {"invalid input", "object is \"vector\""}),
        banner("array", "matrix array real general", {"unsupported", "layout is \"array\"", "\"coordinate\""}),
        banner("complex", "matrix coordinate complex general", {"unsupported", "field is \"complex\"", "\"real\""}),
        banner("skew", "matrix coordinate real skew-symmetric", {"unsupported", "structure is \"skew-symmetric\""}),
        banner("hermitian", "matrix coordinate real hermitian", {"unsupported", "structure is \"hermitian\""}),
        banner("unknown_field", "matrix coordinate double general",
               {"invalid input", "field is \"double\"", "none of"}),
        banner("word_missing", "matrix coordinate real", {"invalid input", "structure is \"\""}),
        banner("word_extra", "matrix coordinate real general x", {"invalid input", "\"x\" follows the banner"})),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    SizeLine, MalformedMatrixMarket,
    testing::Values(size_line("rows_zero", "0 1 1", {"number of rows, \"0\"", "from 1 to 2147483647"}),
                    size_line("columns_zero", "1 0 1", {"number of columns, \"0\""}),
                    size_line("rows_negative", "-1 1 1", {"number of rows, \"-1\""}),
                    size_line("rows_beyond_31_bits", "2147483648 1 1", {"number of rows, \"2147483648\""}),
                    size_line("entries_beyond_31_bits", "1 1 2147483648", {"number of entries, \"2147483648\""}),
                    size_line("beyond_64_bits", "1 99999999999999999999 1", {"columns, \"99999999999999999999\""}),
                    size_line("no_number", "a 1 1", {"number of rows, \"a\""}),
                    size_line("number_missing", "1 1", {"lacks the number of entries"}),
                    size_line("number_extra", "1 1 1 1", {"\"1\" follows the size line"}),
                    size_line("entries_beyond_the_text", "9 9 3", {"claims 3 entries, but at most 1 fit the 6 bytes"}),
                    size_line("entries_far_beyond_the_text", "2147483647 2147483647 2147483647",
                              {"invalid input", "claims 2147483647 entries"}),
                    size_line("almost_empty", "2147483647 2 1",
                              {"unsupported", "2147483647 x 2 with only 1 entries", "exceeds 1048576"}),
                    Malformed{"symmetric_oblong", kSymmetric + "2 3 1\n1 1 1\n", {"m.mtx:2: ", "2 x 3 is not square"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Entry, MalformedMatrixMarket,
    testing::Values(
        entry("row_zero", "0 1 1", {"the row \"0\"", "from 1 to 8"}),
        entry("row_outside", "9 1 1", {"the row \"9\"", "from 1 to 8"}),
        entry("column_outside", "1 10 1", {"the column \"10\"", "from 1 to 9"}),
        entry("column_zero", "1 0 1", {"the column \"0\""}), entry("row_negative", "-1 1 1", {"the row \"-1\""}),
        entry("row_fractional", "1.5 1 1", {"the row \"1.5\""}),
        entry("row_beyond_32_bits", "4294967297 1 1", {"the row \"4294967297\""}),
        entry("column_missing", "1", {"lacks its column"}),
        entry("value_missing", "1 2", {"entry (1, 2) lacks its value"}),
        entry("value_nan", "1 2 nan", {"entry (1, 2)", "\"nan\" is not a finite decimal number"}),
        entry("value_infinite", "1 2 -inf", {"entry (1, 2)", "\"-inf\""}),
        entry("value_text", "1 2 3x", {"entry (1, 2)", "\"3x\""}),
        entry("value_hexadecimal", "1 2 0x1p3", {"entry (1, 2)", "\"0x1p3\""}),
        entry("value_beyond_f32", "1 2 1e39", {"entry (1, 2)", "\"1e39\" exceeds f32's range"}),
        entry("value_beyond_f64", "1 2 -1e999", {"entry (1, 2)", "\"-1e999\" exceeds f32's range"}),
        entry("word_extra", "1 2 3 4", {"entry (1, 2)", "\"4\" follows it"}),
        entry("twice", "1 1 2", {"entry (1, 1) occurs twice, first in line 3"}),
        entry("one_too_few", "", {"ends after 1 of the 2 entries"}),
        entry("binary", "\x01\xff", {"the row \"\\x01\\xff\""}),
        Malformed{"one_too_many",
                  kReal + "2 2 1\n1 1 1\n2 2 1\n",
                  {"invalid input: m.mtx:4: ", "an entry follows the 1 that"}},
        Malformed{"integer_fractional", kInteger + "2 2 1\n1 1 1.5\n", {"m.mtx:3: ", "\"1.5\" is not a whole number"}},
        Malformed{"integer_beyond_64_bits",
                  kInteger + "2 2 1\n1 1 9223372036854775808\n",
                  {"m.mtx:3: ", "\"9223372036854775808\" is not a whole number"}},
        Malformed{"pattern_with_value", kPattern + "2 2 1\n1 2 1\n", {"m.mtx:3: ", "entry (1, 2): \"1\" follows it"}},
        Malformed{"symmetric_twice",
                  kSymmetric + "% a\n3 3 2\n3 1 5\n1 3 5\n",
                  {"m.mtx:5: ", "entry (1, 3) occurs twice, first in line 4", "stores one of (i, j) and (j, i)"}},
        Malformed{"symmetric_diagonal_twice",
                  kSymmetric + "2 2 2\n2 2 5\n2 2 5\n",
                  {"m.mtx:4: ", "entry (2, 2) occurs twice, first in line 3"}}),
    name_of);

}  // namespace
}  // namespace wavegate::io
