#include "wavegate/io/metis_graph.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using wavegate::io::CsrMatrix;

float entry(const CsrMatrix& matrix, std::uint32_t row, std::uint32_t column) {
  for (std::uint32_t i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
    if (matrix.column_indices[i] == column) return matrix.values[i];
  }
  return 0;
}

}  // namespace

/// Whatever is read has a Laplacian that is a symmetric matrix with a positive diagonal.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wavegate::io;
  const auto graph = parse_metis_graph({reinterpret_cast<const char*>(data), size}, "input");
  if (!graph.ok()) return 0;
  const auto matrix = laplacian_plus_identity(*graph);
  if (!matrix.ok() || !verify(*matrix).ok()) std::abort();
  for (std::uint32_t row = 0; row < matrix->rows; ++row) {
    if (entry(*matrix, row, row) < 1) std::abort();
    for (std::uint32_t i = matrix->row_offsets[row]; i < matrix->row_offsets[row + 1]; ++i) {
      if (entry(*matrix, matrix->column_indices[i], row) != matrix->values[i]) std::abort();
    }
  }
  return 0;
}
