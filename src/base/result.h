#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "wavegate/base/error.h"

namespace wavegate {

/// A value or the error that prevented it. Every fallible function of Wavegate returns one; nothing throws.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  /// Converts from anything that T converts from, so that a function can return its plain value.
  template <typename U>
  requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
           !std::is_same_v<std::remove_cvref_t<U>, Error> && !std::is_same_v<std::remove_cvref_t<U>, T>)
      Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// The value. Of an error it is a mistake of the caller: the program ends with the error on stderr.
  T& value() & {
    require_value();
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    require_value();
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    require_value();
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// The error. Precondition: !ok().
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  void require_value() const {
    if (!ok()) end_with(error());
  }

  std::variant<T, Error> state_;
};

/// Success without a value, or an error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

/// The result; if it is an error, one of what lies in `place`.
template <typename T>
Result<T> within(std::string_view place, Result<T> result) {
  if (!result.ok()) return result.error().within(place);
  return result;
}

}  // namespace wavegate

#define WAVEGATE_CONCAT_INNER(a, b) a##b
#define WAVEGATE_CONCAT(a, b) WAVEGATE_CONCAT_INNER(a, b)

/// `WAVEGATE_TRY(auto x, make_x());` returns the error to the caller, or declares x with the value.
#define WAVEGATE_TRY(declaration, expression) \
  WAVEGATE_TRY_IMPLEMENTATION(WAVEGATE_CONCAT(wavegate_result_, __LINE__), declaration, expression)
#define WAVEGATE_TRY_IMPLEMENTATION(result, declaration, expression) \
  auto result = (expression);                                        \
  if (!result.ok()) return std::move(result).error();                \
  declaration = std::move(result).value()

/// `WAVEGATE_CHECK(step());` returns the error to the caller, or goes on.
#define WAVEGATE_CHECK(expression)                                        \
  do {                                                                    \
    auto wavegate_result = (expression);                                  \
    if (!wavegate_result.ok()) return std::move(wavegate_result).error(); \
  } while (false)
