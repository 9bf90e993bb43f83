#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wavegate::io {

/// Walks over the lines of a text and knows where it stands. A line ends with LF or CR LF; the last one may lack its
/// end.
class LineReader {
 public:
  /// `name` is the text's source in errors. Both views must outlive the reader.
  LineReader(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  /// Goes to the next line; false at the end of the text.
  bool next();

  /// The current line without its end.
  std::string_view line() const { return line_; }
  /// Counted from 1; 0 before the first line.
  std::uint64_t number() const { return number_; }
  /// "name:12", for Error::where.
  std::string where() const;
  /// How much text follows the current line: what bounds any count that the text claims.
  std::uint64_t bytes_left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  std::string_view name_;
  std::string_view line_;
  std::uint64_t number_ = 0;
};

/// Cuts the first word, between spaces and tabs, off a line; empty where none is left.
std::string_view take_word(std::string_view& line);

/// A word for an error message: in quotes, cut to a readable length, everything but printable ASCII escaped.
std::string quote(std::string_view word);

/// ASCII letters in lower case, whatever the locale.
std::string lower_case(std::string_view text);

/// A whole number of digits alone; nothing for anything else, a sign included, or beyond 64 bits.
std::optional<std::uint64_t> parse_unsigned(std::string_view word);

/// A whole number with an optional sign; nothing for anything else or beyond 64 bits.
std::optional<std::int64_t> parse_signed(std::string_view word);

/// A decimal number as the nearest double: infinite where it exceeds double's range, zero where it is too small.
/// Nothing for anything else, "inf" and "nan" included.
std::optional<double> parse_real(std::string_view word);

}  // namespace wavegate::io
