#include "wavegate/io/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "wavegate/base/format.h"
#include "wavegate/base/from_chars.h"

namespace wavegate::io {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether a decimal number that is known to be outside double's range is too large, and not too small. Its order of
/// magnitude is the place of its first digit that is not zero, moved by its exponent.
bool is_huge(std::string_view digits) {
  const std::size_t mark = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  const auto place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);

  std::string_view exponent = mark < digits.size() ? digits.substr(mark + 1) : "0";
  const bool negative = exponent.starts_with('-');
  if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
  // A text is shorter than 2^62 characters, so an exponent beyond that decides alone.
  constexpr std::int64_t kBeyondAnyPlace = std::int64_t{1} << 62;
  std::int64_t magnitude = 0;
  const auto [end, fault] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), magnitude);
  if (fault != std::errc{}) magnitude = kBeyondAnyPlace;
  magnitude = std::min(magnitude, kBeyondAnyPlace);
  return place + (negative ? -magnitude : magnitude) > 0;
}

template <typename T>
std::optional<T> parse_whole(std::string_view word) {
  T value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (fault != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

}  // namespace

bool LineReader::next() {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  ++number_;
  return true;
}

std::string LineReader::where() const {
  return format("{}:{}", name_, number_);
}

std::string_view take_word(std::string_view& line) {
  const char* const end = line.data() + line.size();
  const char* begin = line.data();
  while (begin != end && is_blank(*begin)) ++begin;
  const char* stop = begin;
  while (stop != end && !is_blank(*stop)) ++stop;
  const std::string_view word(begin, static_cast<std::size_t>(stop - begin));
  line.remove_prefix(static_cast<std::size_t>(stop - line.data()));
  return word;
}

std::string quote(std::string_view word) {
  constexpr std::size_t kLongest = 40;
  std::string text = "\"";
  for (const char c : word.substr(0, kLongest)) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20 && code < 0x7f) {
      text += c;
    } else {
      text += format("\\x{:02x}", code);
    }
  }
  text += word.size() > kLongest ? "...\"" : "\"";
  return text;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view word) {
  return parse_whole<std::uint64_t>(word);
}

std::optional<std::int64_t> parse_signed(std::string_view word) {
  if (word.size() > 1 && word.front() == '+' && is_digit(word[1])) word.remove_prefix(1);
  return parse_whole<std::int64_t>(word);
}

std::optional<double> parse_real(std::string_view word) {
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.remove_prefix(1);
  if (word.empty() || !(is_digit(word.front()) || word.front() == '.')) return std::nullopt;
  double value = 0;
  const auto [end, fault] = from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size() || fault == std::errc::invalid_argument) return std::nullopt;
  if (fault == std::errc::result_out_of_range) value = is_huge(word) ? std::numeric_limits<double>::infinity() : 0.0;
  return negative ? -value : value;
}

}  // namespace wavegate::io
