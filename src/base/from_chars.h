#pragma once

#include <charconv>

/// Numbers from text, under one name wherever this is built.
namespace wavegate {

using std::from_chars;

// Its library reads whole numbers alone. As the standard's, but for "inf" and "nan", which are no numbers here.
#if defined(__wasi__)
std::from_chars_result from_chars(const char* first, const char* last, float& value);
std::from_chars_result from_chars(const char* first, const char* last, double& value);
#endif

}  // namespace wavegate
