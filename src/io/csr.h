#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wavegate/base/result.h"

namespace wavegate::io {

/// Kernels hold indices in 32-bit signless integers, signed comparisons included.
inline constexpr std::uint64_t kMaximumIndex = 2147483647;

/// A sparse matrix in compressed rows. Row r holds the entries row_offsets[r] .. row_offsets[r + 1]; their columns
/// ascend and none occurs twice.
struct CsrMatrix {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<std::uint32_t> row_offsets;     ///< rows + 1 of them, from 0 to the number of entries.
  std::vector<std::uint32_t> column_indices;  ///< One an entry, counted from 0.
  std::vector<float> values;                  ///< One an entry.

  bool operator==(const CsrMatrix&) const = default;
};

/// One entry of a matrix, its place counted from 0.
struct MatrixEntry {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  float value = 0;
};

/// Checks every sentence of CsrMatrix's description; the error names the row.
Result<void> verify(const CsrMatrix& matrix);

/// Sorts entries, in any order, into compressed rows. Entries of the same place stay, side by side in the order given:
/// see find_duplicate. Precondition: each lies inside `rows` x `columns`, and there are at most kMaximumIndex.
CsrMatrix compress_rows(std::uint32_t rows, std::uint32_t columns, std::span<const MatrixEntry> entries);

/// The first place that holds two entries, if any. Precondition: columns do not descend within a row.
std::optional<MatrixEntry> find_duplicate(const CsrMatrix& matrix);

/// ||b - A x|| / ||b|| in the 2-norm, each product and sum in double: how well x solves A x = b. For b = 0 it is 0 if A
/// x is 0 and infinite otherwise. An error if b has not A's rows or x not A's columns.
Result<double> relative_residual(const CsrMatrix& matrix, std::span<const float> b, std::span<const double> x);

}  // namespace wavegate::io
