#include "wavegate/io/matrix_market.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

/// Whatever is read is a matrix as CsrMatrix promises it, of finite values.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wavegate::io;
  const auto matrix = parse_matrix_market({reinterpret_cast<const char*>(data), size}, "input");
  if (!matrix.ok()) {
    if (matrix.error().kind == wavegate::ErrorKind::internal) std::abort();
    return 0;
  }
  if (!verify(*matrix).ok()) std::abort();
  if (!std::ranges::all_of(matrix->values, [](float value) { return std::isfinite(value); })) std::abort();
  return 0;
}
