#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

#include "wavegate/base/from_chars.h"

namespace wavegate {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The end of the decimal number at the beginning of the text; `first` if there is none.
const char* end_of_number(const char* first, const char* last) {
  const auto digits = [last](const char* at) { return std::find_if_not(at, last, is_digit); };
  const char* const mantissa = first != last && *first == '-' ? first + 1 : first;
  const char* end = digits(mantissa);
  bool has_digits = end != mantissa;
  if (end != last && *end == '.') {
    const char* const fraction = digits(end + 1);
    has_digits = has_digits || fraction != end + 1;
    end = fraction;
  }
  if (!has_digits) return first;
  if (end != last && (*end == 'e' || *end == 'E')) {
    const char* exponent = end + 1;
    if (exponent != last && (*exponent == '+' || *exponent == '-')) ++exponent;
    if (const char* const stop = digits(exponent); stop != exponent) end = stop;
  }
  return end;
}

template <typename T>
std::from_chars_result read(const char* first, const char* last, T& value, T (*convert)(const char*, char**)) {
  const char* const end = end_of_number(first, last);
  if (end == first) return {first, std::errc::invalid_argument};
  const std::string text(first, end);
  const T read = convert(text.c_str(), nullptr);
  const std::size_t exponent = std::min(text.find_first_of("eE"), text.size());
  const bool is_zero = text.find_first_of("123456789") >= exponent;
  if (std::isinf(read) || (read == 0 && !is_zero)) return {end, std::errc::result_out_of_range};
  value = read;
  return {end, std::errc()};
}

}  // namespace

std::from_chars_result from_chars(const char* first, const char* last, float& value) {
  return read(first, last, value, &std::strtof);
}

std::from_chars_result from_chars(const char* first, const char* last, double& value) {
  return read(first, last, value, &std::strtod);
}

}  // namespace wavegate
