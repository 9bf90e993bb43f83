#pragma once

#include <fmt/format.h>
#if !defined(__wasi__)
/// The one formatting library of the project, under one name.
namespace wavegate {
using fmt::format;
}  // namespace wavegate
#else
#include <string>
#include <utility>

// There the standard library has a function of that name, which a call with a std::string would find, too. A call to
// an object finds nothing else.
namespace wavegate {
struct Format {
  template <typename... T>
  std::string operator()(fmt::format_string<T...> pattern, T&&... arguments) const {
    return fmt::format(pattern, std::forward<T>(arguments)...);
  }
};
inline constexpr Format format;
}  // namespace wavegate
#endif
