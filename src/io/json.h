#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "wavegate/base/result.h"

namespace wavegate::io {

struct JsonMember;

/// A JSON value. Members keep the order of the text, and a whole number is told from one with a fraction.
struct JsonValue {
  using Items = std::vector<JsonValue>;
  using Members = std::vector<JsonMember>;
  /// Whole numbers are int64_t where negative and uint64_t elsewhere; beyond 64 bits they are double.
  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Items, Members> content;

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&content);
  }
  bool is_number() const { return as<std::int64_t>() || as<std::uint64_t>() || as<double>(); }
  /// "a string", "a list", ...; for errors.
  std::string_view kind() const;
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

/// Parses strict JSON (RFC 8259). Refuses a key that occurs twice in an object, nesting deeper than 256, more than 2^20
/// values, and numbers beyond double's range. Time and memory are linear in the text, up to a logarithm. The error's
/// `where` is the path of the value.
Result<JsonValue> parse_json(std::string_view text);

/// ` (did you mean "buffers"?)`, or nothing where no candidate is near the word.
std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates);

/// A value and its path, such as `run[2].body[0]`: what reading a document by its rules needs. Borrows the value.
class JsonView {
 public:
  JsonView(const JsonValue& value, std::string path) : value_(&value), path_(std::move(path)) {}

  const JsonValue& value() const { return *value_; }
  const std::string& path() const { return path_; }

  /// Invalid input at this place.
  Error error(std::string message) const { return invalid_input(std::move(message), path_); }
  /// The error of something that this place names, moved here; its own `where` goes into the message.
  Error error(const Error& cause) const;

  /// Checks that this is an object with no other than these keys; the error names the nearest one.
  Result<void> check_keys(const std::vector<std::string_view>& known) const;
  bool has(std::string_view key) const;
  /// The member; an error if there is none. Precondition: an object.
  Result<JsonView> at(std::string_view key) const;
  /// Nothing where there is no such member. Precondition: an object.
  std::optional<JsonView> find(std::string_view key) const;

  Result<std::vector<JsonView>> items() const;
  /// The members of an object, by their keys.
  Result<std::vector<std::pair<std::string_view, JsonView>>> members() const;
  Result<std::string> text() const;
  Result<bool> boolean() const;
  /// A whole number within the range; `what` names it in the error.
  Result<std::uint64_t> whole(std::string_view what, std::uint64_t minimum, std::uint64_t maximum) const;

 private:
  Error expected(std::string_view what) const;

  const JsonValue* value_;
  std::string path_;
};

}  // namespace wavegate::io
