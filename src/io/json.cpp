#include "wavegate/io/json.h"

#include <algorithm>
#include <array>
#include <new>
#include <nlohmann/json.hpp>

#include "wavegate/base/format.h"
#include "wavegate/io/text.h"

namespace wavegate::io {
namespace {

constexpr std::size_t kMaximumDepth = 256;
constexpr std::size_t kMaximumValues = std::size_t{1} << 20;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

std::string member_path(const std::string& parent, std::string_view key) {
  const std::string part = !key.empty() && std::ranges::all_of(key, is_plain) ? std::string(key) : quote(key);
  return parent.empty() ? part : format("{}.{}", parent, part);
}

std::string item_path(const std::string& parent, std::size_t index) {
  return format("{}[{}]", parent, index);
}

/// Where a byte stands in the text, both counted from 1.
std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return format("line {}, column {}", std::ranges::count(before, '\n') + 1, before.size() - start + 1);
}

/// What the parser says without its own name, the place and the text that it last read, which may be long and binary.
std::string reason(std::string_view message) {
  const std::size_t start = message.find("syntax error");
  std::string_view text = start == std::string_view::npos ? "the number is beyond every type" : message.substr(start);
  return std::string(text.substr(0, text.find("; last read")));
}

/// Builds the tree from the parser's events, so that nothing is lost of what they tell: order and repeated keys.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {}

  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(std::int64_t value) override { return add(value) != nullptr; }
  bool number_unsigned(std::uint64_t value) override { return add(value) != nullptr; }
  bool number_float(double value, const std::string&) override { return add(value) != nullptr; }
  bool string(std::string& value) override { return add(std::move(value)) != nullptr; }
  bool binary(binary_t&) override { return fail(internal_error("JSON text holds no binary values")); }
  bool start_object(std::size_t) override { return open(JsonValue::Members()); }
  bool start_array(std::size_t) override { return open(JsonValue::Items()); }

  bool key(std::string& value) override {
    std::get<JsonValue::Members>(open_.back()->content).push_back({std::move(value), {}});
    return true;
  }

  bool end_object() override {
    const auto& members = std::get<JsonValue::Members>(open_.back()->content);
    std::vector<std::string_view> keys;
    for (const JsonMember& member : members) keys.push_back(member.key);
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    open_.pop_back();
    if (twice == keys.end()) return true;
    return fail(
        invalid_input(format("the key {} occurs twice; only one of the two can be meant", quote(*twice)), path()));
  }

  bool end_array() override {
    open_.pop_back();
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& fault) override {
    const std::string near = token.empty() ? "" : format(" near {}", quote(token));
    return fail(invalid_input(format("not JSON at {}{}: {}", line_and_column(text_, position == 0 ? 0 : position - 1),
                                     near, reason(fault.what()))));
  }

  Result<JsonValue> finish() && {
    if (error_) return *std::move(error_);
    return std::move(root_);
  }

 private:
  bool fail(Error error) {
    error_ = std::move(error);
    return false;
  }

  /// The path of the value that was begun last in each open container.
  std::string path() const {
    std::string text;
    for (const JsonValue* value : open_) {
      if (const auto* members = value->as<JsonValue::Members>()) {
        if (!members->empty()) text = member_path(text, members->back().key);
      } else if (const auto* items = value->as<JsonValue::Items>()) {
        if (!items->empty()) text = item_path(text, items->size() - 1);
      }
    }
    return text;
  }

  template <typename T>
  JsonValue* add(T&& content) {
    if (++values_ > kMaximumValues) {
      fail(unsupported(format("more than {} values; keep large contents in .npy files", kMaximumValues)));
      return nullptr;
    }
    JsonValue value{std::forward<T>(content)};
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    // Only the innermost container grows, so that the pointers to the open ones stay good.
    if (auto* members = std::get_if<JsonValue::Members>(&open_.back()->content)) {
      members->back().value = std::move(value);
      return &members->back().value;
    }
    auto& items = std::get<JsonValue::Items>(open_.back()->content);
    items.push_back(std::move(value));
    return &items.back();
  }

  template <typename T>
  bool open(T empty) {
    if (open_.size() == kMaximumDepth)
      return fail(invalid_input(format("nested deeper than {} levels", kMaximumDepth)));
    JsonValue* value = add(std::move(empty));
    if (value != nullptr) open_.push_back(value);
    return value != nullptr;
  }

  std::string_view text_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
  std::size_t values_ = 0;
  std::optional<Error> error_;
};

/// Insertions, deletions, replacements and swaps of neighbours that make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string_view JsonValue::kind() const {
  constexpr std::array<std::string_view, 8> names = {"null",     "true or false", "a number", "a number",
                                                     "a number", "a string",      "a list",   "an object"};
  return names[content.index()];
}

Result<JsonValue> parse_json(std::string_view text) {
  try {
    TreeBuilder builder(text);
    nlohmann::json::sax_parse(text, &builder);
    return std::move(builder).finish();
  } catch (const std::bad_alloc&) {
    return device_error("the document does not fit into this machine's memory");
  }
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t kLongest = 64;  // bounds the time that a hostile word costs
  constexpr std::size_t kMostCandidates = 1000;
  std::string_view best;
  std::size_t best_distance = word.size() / 3 + 2;  // about one slip in three letters
  if (word.size() > kLongest || candidates.size() > kMostCandidates) return "";
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best.empty() ? "" : format(" (did you mean {}?)", quote(best));
}

Error JsonView::error(const Error& cause) const {
  return {cause.kind, cause.where.empty() ? cause.message : format("{}: {}", cause.where, cause.message), path_};
}

Error JsonView::expected(std::string_view what) const {
  return error(format("is {}; expected {}", value_->kind(), what));
}

Result<void> JsonView::check_keys(const std::vector<std::string_view>& known) const {
  const auto* members = value_->as<JsonValue::Members>();
  if (members == nullptr) return expected("an object");
  for (const JsonMember& member : *members) {
    if (std::ranges::find(known, member.key) != known.end()) continue;
    return error(format("unknown key {}{}", quote(member.key), suggestion(member.key, known)));
  }
  return {};
}

bool JsonView::has(std::string_view key) const {
  return find(key).has_value();
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  const auto* members = value_->as<JsonValue::Members>();
  if (members == nullptr) return std::nullopt;
  const auto member = std::ranges::find(*members, key, &JsonMember::key);
  if (member == members->end()) return std::nullopt;
  return JsonView(member->value, member_path(path_, key));
}

Result<JsonView> JsonView::at(std::string_view key) const {
  if (auto member = find(key)) return *std::move(member);
  if (value_->as<JsonValue::Members>() == nullptr) return expected("an object");
  return error(format("\"{}\" is missing", key));
}

Result<std::vector<JsonView>> JsonView::items() const {
  const auto* items = value_->as<JsonValue::Items>();
  if (items == nullptr) return expected("a list");
  std::vector<JsonView> views;
  views.reserve(items->size());
  for (std::size_t i = 0; i < items->size(); ++i) views.emplace_back((*items)[i], item_path(path_, i));
  return views;
}

Result<std::vector<std::pair<std::string_view, JsonView>>> JsonView::members() const {
  const auto* members = value_->as<JsonValue::Members>();
  if (members == nullptr) return expected("an object");
  std::vector<std::pair<std::string_view, JsonView>> views;
  for (const JsonMember& member : *members)
    views.emplace_back(member.key, JsonView(member.value, member_path(path_, member.key)));
  return views;
}

Result<std::string> JsonView::text() const {
  if (const auto* text = value_->as<std::string>()) return *text;
  return expected("a string");
}

Result<bool> JsonView::boolean() const {
  if (const auto* boolean = value_->as<bool>()) return *boolean;
  return expected("true or false");
}

Result<std::uint64_t> JsonView::whole(std::string_view what, std::uint64_t minimum, std::uint64_t maximum) const {
  const auto* number = value_->as<std::uint64_t>();
  if (number != nullptr && *number >= minimum && *number <= maximum) return *number;
  const std::string range = format("{}, a whole number from {} to {}", what, minimum, maximum);
  if (number != nullptr) return error(format("is {}; expected {}", *number, range));
  if (const auto* negative = value_->as<std::int64_t>()) return error(format("is {}; expected {}", *negative, range));
  if (const auto* real = value_->as<double>()) return error(format("is {}; expected {}", *real, range));
  return expected(range);
}

}  // namespace wavegate::io
