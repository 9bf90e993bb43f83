#include "wavegate/io/text.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace wavegate::io {
namespace {

using testing::ElementsAre;
using testing::Optional;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<std::string> lines_of(std::string_view text) {
  LineReader lines(text, "name");
  std::vector<std::string> all;
  while (lines.next()) all.emplace_back(lines.line());
  return all;
}

TEST(LineReader, EndsLinesWithEitherEndAndTheLastWithNone) {
  EXPECT_THAT(lines_of("a\nb\r\n\nc"), ElementsAre("a", "b", "", "c"));
}

TEST(LineReader, MakesNoLineOfWhatFollowsTheLastEnd) {
  EXPECT_THAT(lines_of("a\n"), ElementsAre("a"));
}

TEST(LineReader, HasNoLineInAnEmptyText) {
  EXPECT_THAT(lines_of(""), ElementsAre());
}

TEST(LineReader, SaysWhereItStands) {
  LineReader lines("a\nb\nccc", "m.mtx");
  ASSERT_TRUE(lines.next() && lines.next());
  EXPECT_EQ(lines.where(), "m.mtx:2");
  EXPECT_EQ(lines.bytes_left(), 3u);
}

TEST(TakeWord, CutsWordsBetweenSpacesAndTabs) {
  std::string_view line = "  one\t two ";
  EXPECT_EQ(take_word(line), "one");
  EXPECT_EQ(take_word(line), "two");
  EXPECT_EQ(take_word(line), "");
}

TEST(Quote, EscapesAndShortens) {
  EXPECT_EQ(quote("a\x01\xff"), "\"a\\x01\\xff\"");
  EXPECT_EQ(quote(std::string(100, 'x')), "\"" + std::string(40, 'x') + "...\"");
}

TEST(ParseUnsigned, TakesDigitsAlone) {
  EXPECT_THAT(parse_unsigned("18446744073709551615"), Optional(std::numeric_limits<std::uint64_t>::max()));
  for (const char* word : {"", "-1", "+1", "1.0", "1x", " 1", "0x1", "18446744073709551616"}) {
    EXPECT_EQ(parse_unsigned(word), std::nullopt) << word;
  }
}

TEST(ParseSigned, TakesASign) {
  EXPECT_THAT(parse_signed("-7"), Optional(-7));
  EXPECT_THAT(parse_signed("+7"), Optional(7));
  for (const char* word : {"", "-", "+", "+-1", "--1", "1.0", "9223372036854775808"}) {
    EXPECT_EQ(parse_signed(word), std::nullopt) << word;
  }
}

TEST(ParseReal, TakesDecimalNumbers) {
  EXPECT_THAT(parse_real("1"), Optional(1.0));
  EXPECT_THAT(parse_real("-.5"), Optional(-0.5));
  EXPECT_THAT(parse_real("+1.e3"), Optional(1000.0));
  EXPECT_THAT(parse_real("1E-3"), Optional(0.001));
}

TEST(ParseReal, RefusesEverythingElse) {
  for (const char* word :
       {"", "-", "+", ".", "e5", "+-1", "1.0D+00", "1,5", "0x1p3", "nan", "inf", "-inf", "1e", "NaN"}) {
    EXPECT_EQ(parse_real(word), std::nullopt) << word;
  }
}

TEST(ParseReal, MakesInfinityOfWhatIsTooLarge) {
  for (const std::string& word : std::vector<std::string>{"1e400", "1e99999999999999999999", std::string(400, '9'),
                                                          "0." + std::string(400, '0') + "1e900"}) {
    EXPECT_THAT(parse_real(word), Optional(kInfinity)) << word;
  }
  EXPECT_THAT(parse_real("-1e400"), Optional(-kInfinity));
}

TEST(ParseReal, MakesZeroOfWhatIsTooSmall) {
  for (const std::string& word : std::vector<std::string>{
           "1e-400", "1e-99999999999999999999", "0." + std::string(400, '0') + "1", std::string(400, '9') + "e-900"}) {
    EXPECT_THAT(parse_real(word), Optional(0.0)) << word;
  }
  EXPECT_THAT(parse_real("0e99999999999999999999"), Optional(0.0));
  EXPECT_TRUE(std::signbit(parse_real("-1e-400").value_or(1)));
}

}  // namespace
}  // namespace wavegate::io
