#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace wavegate {

/// Whose fault an error is. The kind decides the exit code and whether a retry can help.
enum class ErrorKind {
  invalid_input,  ///< The user's bytes or program are wrong; the message says what to change.
  unsupported,    ///< Known, named, and not built or not offered by this device.
  device,         ///< The API failed: no driver, out of memory, device lost.
  internal,       ///< A bug of Wavegate; the message says so.
};

std::string_view to_string(ErrorKind kind);

/// An error names the object, the limit and the fix, in one sentence; `where` is the file, line or
/// operation that it belongs to and may be empty.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::string where = {};

  /// "kind: where: message", without the where if there is none.
  std::string to_string() const;

  /// The same error, of what lies in `place`, which then comes first.
  Error within(std::string_view place) const;
};

/// Prints the error to stderr and aborts: for what only a mistake in the calling code can lead to.
[[noreturn]] void end_with(const Error& error);

inline Error invalid_input(std::string message, std::string where = {}) {
  return {ErrorKind::invalid_input, std::move(message), std::move(where)};
}
inline Error unsupported(std::string message, std::string where = {}) {
  return {ErrorKind::unsupported, std::move(message), std::move(where)};
}
inline Error device_error(std::string message, std::string where = {}) {
  return {ErrorKind::device, std::move(message), std::move(where)};
}
inline Error internal_error(std::string message, std::string where = {}) {
  return {ErrorKind::internal, std::move(message), std::move(where)};
}

}  // namespace wavegate
