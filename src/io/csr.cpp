#include "wavegate/io/csr.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "wavegate/base/format.h"

namespace wavegate::io {
namespace {

/// Sorts the entries begin .. end of one row by column, keeping the order of equal ones.
void sort_row(CsrMatrix& matrix, std::size_t begin, std::size_t end,
              std::vector<std::pair<std::uint32_t, float>>& scratch) {
  const auto first = matrix.column_indices.begin();
  // Most files are in order already.
  if (std::is_sorted(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end))) return;
  scratch.clear();
  for (std::size_t i = begin; i < end; ++i) scratch.emplace_back(matrix.column_indices[i], matrix.values[i]);
  std::stable_sort(scratch.begin(), scratch.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = begin; i < end; ++i) {
    matrix.column_indices[i] = scratch[i - begin].first;
    matrix.values[i] = scratch[i - begin].second;
  }
}

}  // namespace

Result<void> verify(const CsrMatrix& matrix) {
  const std::uint64_t entries = matrix.column_indices.size();
  if (matrix.rows == 0 || matrix.columns == 0) {
    return invalid_input(format("a matrix of {} x {} is empty", matrix.rows, matrix.columns));
  }
  if (matrix.rows > kMaximumIndex || matrix.columns > kMaximumIndex || entries > kMaximumIndex) {
    return invalid_input(format("a matrix of {} x {} with {} entries exceeds {} in one of them", matrix.rows,
                                matrix.columns, entries, kMaximumIndex));
  }
  if (matrix.row_offsets.size() != std::uint64_t{matrix.rows} + 1) {
    return invalid_input(format("{} row offsets do not fit {} rows, which need one more than rows",
                                matrix.row_offsets.size(), matrix.rows));
  }
  if (matrix.values.size() != entries) {
    return invalid_input(format("{} values do not fit {} column indices", matrix.values.size(), entries));
  }
  if (matrix.row_offsets.front() != 0 || matrix.row_offsets.back() != entries) {
    return invalid_input(format("row offsets run from {} to {}; with {} entries they must run from 0 to {}",
                                matrix.row_offsets.front(), matrix.row_offsets.back(), entries, entries));
  }
  for (std::uint32_t row = 0; row < matrix.rows; ++row) {
    const std::uint32_t begin = matrix.row_offsets[row];
    const std::uint32_t end = matrix.row_offsets[row + 1];
    if (begin > end || end > entries) {
      return invalid_input(
          format("row {}: its offsets {} .. {} descend or leave the {} entries", row, begin, end, entries));
    }
    for (std::uint32_t i = begin; i < end; ++i) {
      if (matrix.column_indices[i] >= matrix.columns) {
        return invalid_input(format("row {}: column {} is outside the {} columns, counted from 0", row,
                                    matrix.column_indices[i], matrix.columns));
      }
      if (i > begin && matrix.column_indices[i] <= matrix.column_indices[i - 1]) {
        return invalid_input(format("row {}: column {} follows column {}; columns must ascend", row,
                                    matrix.column_indices[i], matrix.column_indices[i - 1]));
      }
    }
  }
  return {};
}

CsrMatrix compress_rows(std::uint32_t rows, std::uint32_t columns, std::span<const MatrixEntry> entries) {
  CsrMatrix matrix{.rows = rows, .columns = columns, .row_offsets = {}, .column_indices = {}, .values = {}};
  matrix.row_offsets.assign(std::size_t{rows} + 1, 0);
  matrix.column_indices.resize(entries.size());
  matrix.values.resize(entries.size());
  for (const MatrixEntry& entry : entries) ++matrix.row_offsets[entry.row + 1];
  for (std::size_t row = 0; row < rows; ++row) matrix.row_offsets[row + 1] += matrix.row_offsets[row];

  std::vector<std::uint32_t> next(matrix.row_offsets.begin(), matrix.row_offsets.end() - 1);
  for (const MatrixEntry& entry : entries) {
    const std::uint32_t place = next[entry.row]++;
    matrix.column_indices[place] = entry.column;
    matrix.values[place] = entry.value;
  }
  std::vector<std::pair<std::uint32_t, float>> scratch;
  for (std::size_t row = 0; row < rows; ++row) {
    sort_row(matrix, matrix.row_offsets[row], matrix.row_offsets[row + 1], scratch);
  }
  return matrix;
}

std::optional<MatrixEntry> find_duplicate(const CsrMatrix& matrix) {
  for (std::uint32_t row = 0; row < matrix.rows; ++row) {
    for (std::uint32_t i = matrix.row_offsets[row] + 1; i < matrix.row_offsets[row + 1]; ++i) {
      if (matrix.column_indices[i] == matrix.column_indices[i - 1]) {
        return MatrixEntry{row, matrix.column_indices[i], matrix.values[i]};
      }
    }
  }
  return std::nullopt;
}

Result<double> relative_residual(const CsrMatrix& matrix, std::span<const float> b, std::span<const double> x) {
  if (b.size() != matrix.rows) {
    return invalid_input(format("the right side has {} values; the matrix has {} rows", b.size(), matrix.rows));
  }
  if (x.size() != matrix.columns) {
    return invalid_input(format("the solution has {} values; the matrix has {} columns", x.size(), matrix.columns));
  }
  double residual_squared = 0;
  double b_squared = 0;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    double residual = b[row];
    b_squared += residual * residual;
    for (std::uint32_t i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
      residual -= double{matrix.values[i]} * x[matrix.column_indices[i]];
    }
    residual_squared += residual * residual;
  }
  if (b_squared == 0) return residual_squared == 0 ? 0.0 : std::numeric_limits<double>::infinity();
  return std::sqrt(residual_squared / b_squared);
}

}  // namespace wavegate::io
