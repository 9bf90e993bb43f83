#include "wavegate/io/json.h"

#include <gmock/gmock.h>

#include <string>

#include "io/support.h"

namespace wavegate::io {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

JsonValue parsed(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_EQ(error_text(value), "");
  return value.ok() ? std::move(value).value() : JsonValue();
}

std::string parse_error(std::string_view text) {
  return error_text(parse_json(text));
}

TEST(Json, tells_whole_numbers_from_others) {
  const JsonValue value = parsed("[-1, 1, 1.0, 1e0, 18446744073709551615, 18446744073709551616]");
  const auto& items = *value.as<JsonValue::Items>();
  EXPECT_EQ(*items[0].as<std::int64_t>(), -1);
  EXPECT_EQ(*items[1].as<std::uint64_t>(), 1u);
  EXPECT_EQ(*items[2].as<double>(), 1.0);
  EXPECT_EQ(*items[3].as<double>(), 1.0);
  EXPECT_EQ(*items[4].as<std::uint64_t>(), 18446744073709551615u);
  EXPECT_EQ(*items[5].as<double>(), 18446744073709551616.0);
}

TEST(Json, keeps_the_order_of_members) {
  const JsonValue value = parsed(R"({"z": 0, "a": {"m": [true, null, "text"]}})");
  const auto& members = *value.as<JsonValue::Members>();
  EXPECT_EQ(members[0].key, "z");
  EXPECT_EQ(members[1].key, "a");
  const auto& items = *members[1].value.as<JsonValue::Members>()->at(0).value.as<JsonValue::Items>();
  EXPECT_TRUE(*items[0].as<bool>());
  EXPECT_EQ(items[1].kind(), "null");
  EXPECT_EQ(*items[2].as<std::string>(), "text");
}

TEST(Json, refuses_a_key_that_occurs_twice_with_the_path_of_its_object) {
  EXPECT_THAT(parse_error(R"({"a": [0, {"b": 1, "c": 2, "b": 3}]})"),
              StartsWith("invalid input: a[1]: the key \"b\" occurs twice"));
}

TEST(Json, one_key_may_stand_in_two_objects) {
  EXPECT_EQ(parse_error(R"([{"a": 1}, {"a": {"a": 2}}])"), "");
}

TEST(Json, nests_256_deep_and_no_deeper) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(parse_error(nested(256)), "");
  EXPECT_THAT(parse_error(nested(257)), HasSubstr("nested deeper than 256 levels"));
  EXPECT_THAT(parse_error(std::string(1000000, '[')), HasSubstr("nested deeper than 256 levels"));
}

TEST(Json, bounds_the_number_of_values) {
  std::string text = "[0";
  for (std::size_t i = 0; i < (std::size_t{1} << 20); ++i) text += ",0";
  EXPECT_THAT(parse_error(text + "]"), HasSubstr("more than 1048576 values"));
}

TEST(Json, says_where_the_text_is_no_json) {
  EXPECT_EQ(parse_error("{\n  \"a\": 1,\n  b\n}"),
            "invalid input: not JSON at line 3, column 3 near \"1,<U+000A>  b\": syntax error while parsing object key "
            "- invalid literal");
}

TEST(Json, refuses_what_only_other_readers_take) {
  for (const char* text : {"", "{} {}", "[1,]", "{'a': 1}", "// text\n1", "[NaN]", "[Infinity]", "[01]", "[+1]",
                           "[1e999]", "\"\xff\"", "[0x10]"})
    EXPECT_THAT(parse_error(text), StartsWith("invalid input: not JSON at line 1, column")) << text;
}

TEST(JsonView, a_path_quotes_what_is_no_plain_key) {
  const JsonValue value = parsed(R"({"a b": {"c": [0]}})");
  const JsonView view = JsonView(value, "").at("a b")->at("c").value();
  EXPECT_EQ(view.items()->at(0).path(), "\"a b\".c[0]");
}

TEST(JsonView, names_the_nearest_of_the_known_keys) {
  const JsonValue value = parsed(R"({"cuont": 1})");
  EXPECT_EQ(error_text(JsonView(value, "buffers.u").check_keys({"type", "count", "initial"})),
            "invalid input: buffers.u: unknown key \"cuont\" (did you mean \"count\"?)");
}

TEST(JsonView, a_whole_number_lies_in_its_range) {
  const JsonValue value = parsed("[3, 4, 5, 3.0, -3]");
  const auto items = JsonView(value, "").items().value();
  EXPECT_EQ(*items[0].whole("a size", 3, 4), 3u);
  EXPECT_EQ(*items[1].whole("a size", 3, 4), 4u);
  EXPECT_EQ(error_text(items[2].whole("a size", 3, 4)),
            "invalid input: [2]: is 5; expected a size, a whole number from 3 to 4");
  EXPECT_FALSE(items[3].whole("a size", 3, 4).ok());
  EXPECT_FALSE(items[4].whole("a size", 0, 4).ok());
}

TEST(Suggestion, is_the_word_with_the_fewest_slips) {
  EXPECT_EQ(suggestion("velocty", {"velocity", "vorticity"}), " (did you mean \"velocity\"?)");
  EXPECT_EQ(suggestion("cuont", {"color", "count"}), " (did you mean \"count\"?)");
}

TEST(Suggestion, is_silent_where_nothing_is_near) {
  EXPECT_EQ(suggestion("pressure", {"u", "v"}), "");
  EXPECT_EQ(suggestion("x", {"u", "v"}), "");
  EXPECT_EQ(suggestion("", {}), "");
}

}  // namespace
}  // namespace wavegate::io
