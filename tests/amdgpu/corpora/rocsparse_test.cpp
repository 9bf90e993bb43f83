#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "amdgpu/corpora/corpus.h"

/// Kernels of rocSPARSE give what plain loops give. Numbers are small integers, so that sums are exact in any order.
/// All are run with checks, and only what is said here may be found.
namespace wavegate::amdgpu::corpora {
namespace {

constexpr char kLibrary[] = "librocsparse.so.0.1";

using Ints = std::vector<std::int32_t>;
using Doubles = std::vector<double>;
constexpr std::int32_t kBaseZero = 0, kBaseOne = 1;
constexpr std::int32_t kRowOrder = 0, kColumnOrder = 1;

/// Numbers that look like none in particular.
class Numbers {
 public:
  std::uint32_t below(std::uint32_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((state_ >> 33) % limit);
  }
  double small() { return static_cast<double>(below(17)) - 8; }
  Doubles smalls(std::size_t count) {
    Doubles values(count);
    for (double& value : values) value = small();
    return values;
  }

 private:
  std::uint64_t state_ = 1;
};

/// Sparse rows of different lengths, some of them empty.
struct Matrix {
  std::int32_t rows, columns;
  Ints offsets{}, indices{};
  Doubles values{};

  Matrix(std::int32_t row_count, std::int32_t column_count, std::uint32_t longest, Numbers& numbers)
      : rows(row_count), columns(column_count) {
    offsets.push_back(0);
    for (std::int32_t row = 0; row < rows; ++row) {
      const std::uint32_t length = numbers.below(longest + 1);
      auto column = static_cast<std::int32_t>(numbers.below(3));
      for (std::uint32_t i = 0; i < length && column < columns; ++i) {
        indices.push_back(column);
        values.push_back(numbers.small());
        column += 1 + static_cast<std::int32_t>(numbers.below(5));
      }
      offsets.push_back(static_cast<std::int32_t>(indices.size()));
    }
  }
  std::int32_t entries() const { return static_cast<std::int32_t>(indices.size()); }
  Ints row_indices() const {
    Ints result;
    for (std::int32_t row = 0; row < rows; ++row) result.resize(static_cast<std::size_t>(offsets[row + 1]), row);
    return result;
  }
  /// Calls `visit(row, column, value)` for each entry.
  template <typename Visit>
  void each(const Visit& visit) const {
    for (std::int32_t row = 0; row < rows; ++row)
      for (std::int32_t i = offsets[row]; i < offsets[row + 1]; ++i)
        visit(static_cast<std::size_t>(row), static_cast<std::size_t>(indices[i]), values[i]);
  }
  Doubles times(const Doubles& x, double alpha, double beta, Doubles y) const {
    for (double& value : y) value *= beta;
    each([&](std::size_t row, std::size_t column, double value) { y[row] += alpha * value * x[column]; });
    return y;
  }
};

Ints plus(Ints values, std::int32_t base) {
  for (std::int32_t& value : values) value += base;
  return values;
}

class Rocsparse : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { WAVEGATE_NEEDS_LIBRARY(kLibrary, "librocsparse0"); }

  void open(std::string_view kernel) {
    auto corpus = Corpus::open(kLibrary, GetParam(), kernel);
    ASSERT_TRUE(corpus.ok()) << corpus.error().to_string();
    corpus_ = std::move(*corpus);
    kernel_ = kernel;
  }
  template <typename T>
  std::uint64_t map(std::vector<T>& values) {
    return corpus_->map(values);
  }
  std::vector<wave::Finding> findings(std::array<std::uint32_t, 3> groups, std::uint32_t size,
                                      std::initializer_list<Argument> arguments) {
    wave::Options options;
    options.check = true;
    groups[0] *= size;
    const auto report = run(*corpus_, {kernel_, groups, {size, 1, 1}}, arguments, options);
    EXPECT_TRUE(report.ok()) << report.error().to_string();
    return report.ok() ? report->findings : std::vector<wave::Finding>();
  }
  void launch(std::array<std::uint32_t, 3> groups, std::uint32_t size, std::initializer_list<Argument> arguments) {
    for (const wave::Finding& finding : findings(groups, size, arguments)) ADD_FAILURE() << to_string(finding);
  }
  /// As many of `size` as cover `count`.
  static std::uint32_t groups_of(std::uint32_t size, std::size_t count) {
    return static_cast<std::uint32_t>((count + size - 1) / size);
  }

  std::unique_ptr<Corpus> corpus_;
  std::string kernel_;
  Numbers numbers_;
};

// ---------------------------------------------------------------- sparse vectors

/// A dense vector, and places in it.
struct Places {
  Ints indices;
  Doubles sparse, dense;

  explicit Places(Numbers& numbers) : dense(numbers.smalls(3000)) {
    for (std::int32_t i = 1; i < 2000; i += 1 + static_cast<std::int32_t>(numbers.below(4))) indices.push_back(i);
    sparse = numbers.smalls(indices.size());
  }
  std::int32_t count() const { return static_cast<std::int32_t>(indices.size()); }
};

TEST_P(Rocsparse, AxpyiAddsAMultipleOfASparseVector) {
  open("_ZL12axpyi_kernelILj256EiddEvT0_T2_PKT1_PKS0_PS2_21rocsparse_index_base_");
  Places places(numbers_);
  Doubles expected = places.dense;
  for (std::size_t i = 0; i < places.indices.size(); ++i) expected[places.indices[i] - 1] += 3 * places.sparse[i];
  launch({groups_of(256, places.indices.size()), 1, 1}, 256,
         {places.count(), 3.0, map(places.sparse), map(places.indices), map(places.dense), kBaseOne});
  EXPECT_EQ(places.dense, expected);
}

TEST_P(Rocsparse, GthrGathers) {
  open("_ZL11gthr_kernelILj512EidEvT0_PKT1_PS1_PKS0_21rocsparse_index_base_");
  Places places(numbers_);
  launch({groups_of(512, places.indices.size()), 1, 1}, 512,
         {places.count(), map(places.dense), map(places.sparse), map(places.indices), kBaseZero});
  for (std::size_t i = 0; i < places.indices.size(); ++i) ASSERT_EQ(places.sparse[i], places.dense[places.indices[i]]);
}

TEST_P(Rocsparse, GthrzGathersAndClears) {
  open("_ZL12gthrz_kernelILj512EdEviPT0_S1_PKi21rocsparse_index_base_");
  Places places(numbers_);
  const Doubles before = places.dense;
  launch({groups_of(512, places.indices.size()), 1, 1}, 512,
         {places.count(), map(places.dense), map(places.sparse), map(places.indices), kBaseOne});
  Doubles expected = before;
  for (std::size_t i = 0; i < places.indices.size(); ++i) {
    ASSERT_EQ(places.sparse[i], before[places.indices[i] - 1]);
    expected[places.indices[i] - 1] = 0;
  }
  EXPECT_EQ(places.dense, expected);
}

TEST_P(Rocsparse, SctrScatters) {
  open("_ZL11sctr_kernelILj512EidEvT0_PKT1_PKS0_PS1_21rocsparse_index_base_");
  Places places(numbers_);
  Doubles expected = places.dense;
  for (std::size_t i = 0; i < places.indices.size(); ++i) expected[places.indices[i]] = places.sparse[i];
  launch({groups_of(512, places.indices.size()), 1, 1}, 512,
         {places.count(), map(places.sparse), map(places.indices), map(places.dense), kBaseZero});
  EXPECT_EQ(places.dense, expected);
}

TEST_P(Rocsparse, RotiRotates) {
  open("_ZL11roti_kernelILj512EiddEvT0_PT1_PKS0_S2_T2_S5_21rocsparse_index_base_");
  Places places(numbers_);
  const Doubles sparse = places.sparse, dense = places.dense;
  launch({groups_of(512, places.indices.size()), 1, 1}, 512,
         {places.count(), map(places.sparse), map(places.indices), map(places.dense), 3.0, 5.0, kBaseZero});
  for (std::size_t i = 0; i < places.indices.size(); ++i) {
    const std::size_t at = static_cast<std::size_t>(places.indices[i]);
    ASSERT_EQ(places.sparse[i], 3 * sparse[i] + 5 * dense[at]);
    ASSERT_EQ(places.dense[at], 3 * dense[at] - 5 * sparse[i]);
  }
}

TEST_P(Rocsparse, DotiAddsUpInTwoSteps) {
  open("_ZL17doti_kernel_part1ILj256EidEvT0_PKT1_PKS0_S3_PS1_21rocsparse_index_base_");
  Places places(numbers_);
  Doubles workspace(256), result(1);
  double expected = 0;
  for (std::size_t i = 0; i < places.indices.size(); ++i)
    expected += places.sparse[i] * places.dense[places.indices[i]];
  const std::uint64_t partial = map(workspace);
  launch({256, 1, 1}, 256,
         {places.count(), map(places.sparse), map(places.indices), map(places.dense), partial, kBaseZero});
  EXPECT_EQ(std::accumulate(workspace.begin(), workspace.end(), 0.0), expected);
  kernel_ = "_ZL17doti_kernel_part2ILj256EdEvPT0_S1_";
  launch({1, 1, 1}, 256, {partial, map(result)});
  EXPECT_EQ(result[0], expected);
}

TEST_P(Rocsparse, GemviMultipliesADenseMatrixWithASparseVector) {
  open("_ZL12gemvi_kernelILj1024ELj32EiddEvT1_S0_T3_PKT2_S0_S0_S4_PKS0_S1_PS2_21rocsparse_index_base_");
  constexpr std::int32_t kRows = 77, kColumns = 50, kLeading = 80;
  Doubles matrix = numbers_.smalls(static_cast<std::size_t>(kLeading) * kColumns), y = numbers_.smalls(kRows);
  Ints indices{0, 3, 4, 17, 18, 30, 31, 49};
  Doubles values = numbers_.smalls(indices.size());
  Doubles expected = y;
  for (std::size_t row = 0; row < kRows; ++row) {
    expected[row] *= 2;
    for (std::size_t i = 0; i < indices.size(); ++i)
      expected[row] += 3 * values[i] * matrix[static_cast<std::size_t>(indices[i]) * kLeading + row];
  }
  launch({groups_of(32, kRows), 1, 1}, 1024,
         {kRows, kColumns, 3.0, map(matrix), kLeading, static_cast<std::int32_t>(indices.size()), map(values),
          map(indices), 2.0, map(y), kBaseZero});
  EXPECT_EQ(y, expected);
}

// ---------------------------------------------------------------- sparse matrices times vectors

TEST_P(Rocsparse, CsrmvMultipliesByRows) {
  for (const char* const lanes : {"2", "8", "32"}) {
    open(std::string("_ZL21csrmvn_general_kernelILj512ELj") + lanes +
         "EiiddEvbT2_T4_PKT1_PKS0_PKT3_S9_S1_PS7_21rocsparse_index_base_");
    Matrix matrix(333, 200, 40, numbers_);
    Doubles x = numbers_.smalls(200), y = numbers_.smalls(333);
    const Doubles expected = matrix.times(x, 3, 2, y);
    Ints offsets = plus(matrix.offsets, 1), indices = plus(matrix.indices, 1);
    launch({5, 1, 1}, 512,
           {false, matrix.rows, 3.0, map(offsets), map(indices), map(matrix.values), map(x), 2.0, map(y), kBaseOne});
    EXPECT_EQ(y, expected) << lanes;
  }
}

TEST_P(Rocsparse, TransposedCsrmvAddsAtomically) {
  open("_ZL21csrmvt_general_kernelILj256ELj4EiiddEvbT2_T4_PKT1_PKS0_PKT3_S9_PS7_21rocsparse_index_base_");
  Matrix matrix(333, 200, 20, numbers_);
  Doubles x = numbers_.smalls(333), y = numbers_.smalls(200);
  Doubles expected = y;
  matrix.each([&](std::size_t row, std::size_t column, double value) { expected[column] += 3 * value * x[row]; });
  launch({6, 1, 1}, 256,
         {false, matrix.rows, 3.0, map(matrix.offsets), map(matrix.indices), map(matrix.values), map(x), map(y),
          kBaseZero});
  EXPECT_EQ(y, expected);
}

TEST_P(Rocsparse, VectorsAreScaled) {
  open("_ZL19csrmvt_scale_kernelILj256EiddEvT0_T2_PT1_");
  Doubles y = numbers_.smalls(1000);
  Doubles expected = y;
  for (double& value : expected) value *= 7;
  launch({4, 1, 1}, 256, {std::int32_t{1000}, 7.0, map(y)});
  EXPECT_EQ(y, expected);
}

TEST_P(Rocsparse, CoomvAddsAtomically) {
  open("_ZL19coomvn_atomic_loopsILj256ELj2EiddEvT1_T3_PKS0_S3_PKT2_S6_PS4_21rocsparse_index_base_");
  Matrix matrix(300, 200, 20, numbers_);
  Ints rows = matrix.row_indices();
  Doubles x = numbers_.smalls(200), y = numbers_.smalls(300);
  const Doubles expected = matrix.times(x, 3, 1, y);
  launch({groups_of(512, rows.size()), 1, 1}, 256,
         {matrix.entries(), 3.0, map(rows), map(matrix.indices), map(matrix.values), map(x), map(y), kBaseZero});
  EXPECT_EQ(y, expected);
}

TEST_P(Rocsparse, CoomvAddsSegmentsAndWhatIsLeftOfThem) {
  open("_ZL22coomvn_segmented_loopsILj256EiddEvT0_S0_T2_PKS0_S3_PKT1_S6_PS4_PS0_S7_21rocsparse_index_base_");
  Matrix matrix(300, 200, 30, numbers_);
  Ints rows = matrix.row_indices();
  Doubles x = numbers_.smalls(200), y = numbers_.smalls(300);
  const Doubles expected = matrix.times(x, 3, 1, y);
  constexpr std::int32_t kLoops = 3;
  const std::uint32_t groups = groups_of(256 * kLoops, rows.size());
  Ints left_rows(groups);
  Doubles left_values(groups);
  const std::uint64_t left_row = map(left_rows), left_value = map(left_values), result = map(y);
  launch({groups, 1, 1}, 256,
         {matrix.entries(), kLoops, 3.0, map(rows), map(matrix.indices), map(matrix.values), map(x), result, left_row,
          left_value, kBaseZero});
  kernel_ = "_ZL29coomvn_segmented_loops_reduceILj256EiddEvT0_T2_PKS0_PKT1_PS4_";
  launch({1, 1, 1}, 256, {static_cast<std::int32_t>(groups), 3.0, left_row, left_value, result});
  EXPECT_EQ(y, expected);
}

TEST_P(Rocsparse, TransposedCoomvAddsAtomically) {
  open("_ZL13coomvt_kernelILj1024EiddEv20rocsparse_operation_T0_T2_PKS1_S4_PKT1_S7_PS5_21rocsparse_index_base_");
  constexpr std::int32_t kTranspose = 112;
  Matrix matrix(300, 200, 20, numbers_);
  Ints rows = matrix.row_indices();
  Doubles x = numbers_.smalls(300), y = numbers_.smalls(200);
  Doubles expected = y;
  matrix.each([&](std::size_t row, std::size_t column, double value) { expected[column] += 3 * value * x[row]; });
  launch({groups_of(1024, rows.size()), 1, 1}, 1024,
         {kTranspose, matrix.entries(), 3.0, map(rows), map(matrix.indices), map(matrix.values), map(x), map(y),
          kBaseZero});
  EXPECT_EQ(y, expected);
}

TEST_P(Rocsparse, EllmvMultipliesRowsOfOneLength) {
  open("_ZL13ellmvn_kernelILj512EiddEvT0_S0_S0_T2_PKS0_PKT1_S6_S1_PS4_21rocsparse_index_base_");
  constexpr std::int32_t kRows = 700, kColumns = 90, kWidth = 6;
  Ints indices(static_cast<std::size_t>(kRows) * kWidth, -1);
  Doubles values(indices.size());
  Doubles x = numbers_.smalls(kColumns), y = numbers_.smalls(kRows);
  Doubles expected = y;
  for (std::size_t row = 0; row < kRows; ++row) {
    expected[row] *= 2;
    for (std::size_t i = 0; i < numbers_.below(kWidth + 1); ++i) {
      indices[i * kRows + row] = static_cast<std::int32_t>(numbers_.below(kColumns));
      values[i * kRows + row] = numbers_.small();
    }
    for (std::size_t i = 0; i < kWidth && indices[i * kRows + row] >= 0; ++i)
      expected[row] += 3 * values[i * kRows + row] * x[indices[i * kRows + row]];
  }
  launch({groups_of(512, kRows), 1, 1}, 512,
         {kRows, kColumns, kWidth, 3.0, map(indices), map(values), map(x), 2.0, map(y), kBaseZero});
  EXPECT_EQ(y, expected);
}

TEST_P(Rocsparse, CsrmmMultipliesWithADenseMatrix) {
  open(
      "_ZL22csrmmnn_general_kernelILj256ELj8EiiddEvbbT2_S0_S0_T1_S1_S1_T4_PKS1_PKS0_PKT3_S9_S0_S1_S2_PS7_S0_S1_"
      "16rocsparse_order_21rocsparse_index_base_");
  Matrix matrix(100, 60, 15, numbers_);
  constexpr std::int32_t kColumns = 13, kNoStride = 0;
  Doubles b = numbers_.smalls(60 * kColumns), c = numbers_.smalls(100 * kColumns);
  Doubles expected = c;
  for (double& value : expected) value *= 2;
  for (std::size_t j = 0; j < kColumns; ++j)
    matrix.each([&](std::size_t row, std::size_t column, double value) {
      expected[j * 100 + row] += 3 * value * b[j * 60 + column];
    });
  launch({groups_of(32, 100), groups_of(8, kColumns), 1}, 256,
         {false,
          false,
          matrix.rows,
          kColumns,
          matrix.columns,
          matrix.entries(),
          kNoStride,
          kNoStride,
          3.0,
          map(matrix.offsets),
          map(matrix.indices),
          map(matrix.values),
          map(b),
          std::int32_t{60},
          kNoStride,
          2.0,
          map(c),
          std::int32_t{100},
          kNoStride,
          kColumnOrder,
          kBaseZero});
  EXPECT_EQ(c, expected);
}

// ---------------------------------------------------------------- conversions

TEST_P(Rocsparse, Csr2cooRepeatsRows) {
  open("_ZL14csr2coo_kernelILj512ELj4EiiEvT2_PKT1_PS0_21rocsparse_index_base_");
  Matrix matrix(400, 100, 12, numbers_);
  Ints offsets = plus(matrix.offsets, 1), rows(matrix.indices.size());
  launch({groups_of(128, 400), 1, 1}, 512, {matrix.rows, map(offsets), map(rows), kBaseOne});
  EXPECT_EQ(rows, plus(matrix.row_indices(), 1));
}

TEST_P(Rocsparse, Coo2csrFindsWhereRowsBegin) {
  open("_ZL14coo2csr_kernelILj512EiiEvT1_T0_PKS0_PS1_21rocsparse_index_base_");
  Matrix matrix(700, 100, 6, numbers_);
  Ints rows = matrix.row_indices(), offsets(701);
  launch({groups_of(512, 701), 1, 1}, 512, {matrix.rows, matrix.entries(), map(rows), map(offsets), kBaseZero});
  EXPECT_EQ(offsets, matrix.offsets);
}

TEST_P(Rocsparse, Csr2denseFillsIn) {
  open("_ZL16csr2dense_kernelILi16ELi32EiidEviT2_S0_PKT3_PKT1_PKS0_PS1_S4_16rocsparse_order_");
  Matrix matrix(70, 40, 12, numbers_);
  Doubles dense(70 * 40), expected(dense.size());
  matrix.each([&](std::size_t row, std::size_t column, double value) { expected[row * 40 + column] = value; });
  launch({groups_of(16, 70), 1, 1}, 512,
         {kBaseZero, matrix.rows, matrix.columns, map(matrix.values), map(matrix.offsets), map(matrix.indices),
          map(dense), std::int32_t{40}, kRowOrder});
  EXPECT_EQ(dense, expected);
}

TEST_P(Rocsparse, Csr2ellPadsRows) {
  open("_ZL14csr2ell_kernelILj512EdEviPKT0_PKiS4_21rocsparse_index_base_iPiPS0_S5_");
  Matrix matrix(600, 100, 5, numbers_);
  constexpr std::int32_t kWidth = 5;
  Ints indices(600 * kWidth, 99), expected(indices.size(), -1);
  Doubles values(indices.size(), 99), expected_values(indices.size(), 0);
  for (std::size_t row = 0; row < 600; ++row)
    for (std::int32_t i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
      const std::size_t place = static_cast<std::size_t>(i - matrix.offsets[row]) * 600 + row;
      expected[place] = matrix.indices[i];
      expected_values[place] = matrix.values[i];
    }
  launch({groups_of(512, 600), 1, 1}, 512,
         {matrix.rows, map(matrix.values), map(matrix.offsets), map(matrix.indices), kBaseZero, kWidth, map(indices),
          map(values), kBaseZero});
  EXPECT_EQ(indices, expected);
  EXPECT_EQ(values, expected_values);
}

TEST_P(Rocsparse, TheLongestRowIsFound) {
  open("_ZL19csr_max_nnz_per_rowILj256EiEvT0_PKS0_PS0_");
  Matrix matrix(1000, 300, 25, numbers_);
  Ints longest(1);
  std::int32_t expected = 0;
  for (std::size_t row = 0; row < 1000; ++row)
    expected = std::max(expected, matrix.offsets[row + 1] - matrix.offsets[row]);
  launch({4, 1, 1}, 256, {matrix.rows, map(matrix.offsets), map(longest)});
  EXPECT_EQ(longest[0], expected);
}

TEST_P(Rocsparse, ADenseMatrixIsTransposed) {
  open("_ZL20dense_transpose_backILj32ELj8EidEvT1_S0_PKT2_S0_PS1_S0_");
  constexpr std::int32_t kRows = 75, kColumns = 50;
  Doubles from = numbers_.smalls(kRows * kColumns), to(from.size()), expected(from.size());
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t column = 0; column < kColumns; ++column)
      expected[column * kRows + row] = from[row * kColumns + column];
  launch({groups_of(32, kRows), 1, 1}, 256, {kRows, kColumns, map(from), kColumns, map(to), kRows});
  EXPECT_EQ(to, expected);
}

TEST_P(Rocsparse, APermutationStartsAsTheIdentity) {
  open("_ZL15identity_kernelILj512EiEvT0_PS0_");
  Ints permutation(1300), expected(1300);
  std::iota(expected.begin(), expected.end(), 0);
  launch({3, 1, 1}, 512, {std::int32_t{1300}, map(permutation)});
  EXPECT_EQ(permutation, expected);
}

// ---------------------------------------------------------------- tridiagonal systems

/// Diagonals that dominate, a solution, and what it gives.
struct Tridiagonal {
  Doubles lower, diagonal, upper, solution, right;

  Tridiagonal(std::size_t size, Numbers& numbers)
      : lower(numbers.smalls(size)),
        diagonal(size, 40),
        upper(numbers.smalls(size)),
        solution(numbers.smalls(size)),
        right(size) {
    lower.front() = upper.back() = 0;
    for (std::size_t i = 0; i < size; ++i)
      right[i] = diagonal[i] * solution[i] + (i > 0 ? lower[i] * solution[i - 1] : 0) +
                 (i + 1 < size ? upper[i] * solution[i + 1] : 0);
  }
};

TEST_P(Rocsparse, GtsvSolvesByCyclicReduction) {
  open("_ZL30gtsv_nopivot_pcr_shared_kernelILj16EdEviiiPKT0_S2_S2_PS0_");
  constexpr std::int32_t kSize = 13;
  Tridiagonal system(kSize, numbers_);
  launch(
      {1, 1, 1}, 16,
      {kSize, std::int32_t{1}, kSize, map(system.lower), map(system.diagonal), map(system.upper), map(system.right)});
  for (std::size_t i = 0; i < kSize; ++i) EXPECT_NEAR(system.right[i], system.solution[i], 1e-12) << i;
}

TEST_P(Rocsparse, GtsvSolvesManySystemsByElimination) {
  open("_ZL36gtsv_interleaved_batch_thomas_kernelILj128EdEviiiPKT0_S2_S2_PS0_S3_S3_");
  constexpr std::int32_t kSize = 9, kSystems = 200;
  Doubles parts[5], solutions(kSize * kSystems);
  for (Doubles& part : parts) part.resize(solutions.size());
  for (std::size_t system = 0; system < kSystems; ++system) {
    const Tridiagonal one(kSize, numbers_);
    for (std::size_t i = 0; i < kSize; ++i) {
      const std::size_t at = i * kSystems + system;
      parts[0][at] = one.lower[i], parts[1][at] = one.diagonal[i], parts[2][at] = one.upper[i];
      parts[3][at] = one.right[i], solutions[at] = one.solution[i];
    }
  }
  Doubles scratch(solutions.size());
  launch({2, 1, 1}, 128,
         {kSize, kSystems, kSystems, map(parts[0]), map(parts[1]), map(parts[2]), map(parts[4]), map(scratch),
          map(parts[3])});
  for (std::size_t i = 0; i < solutions.size(); ++i) ASSERT_NEAR(parts[3][i], solutions[i], 1e-12) << i;
}

// ---------------------------------------------------------------- blocks

/// Multiplies with a matrix of square blocks, of which a mask names some rows.
class Bsrxmv : public Rocsparse {
 protected:
  void prepare(std::size_t block) {
    block_ = block;
    values = numbers_.smalls(blocks.indices.size() * block * block);
    x = numbers_.smalls(30 * block);
    y = numbers_.smalls(40 * block);
    expected = y;
    for (const std::int32_t row : mask)
      for (std::size_t i = 0; i < block; ++i) {
        double& sum = expected[static_cast<std::size_t>(row) * block + i];
        sum *= 2;
        for (std::int32_t entry = blocks.offsets[row]; entry < blocks.offsets[row + 1]; ++entry)
          for (std::size_t j = 0; j < block; ++j)
            sum += 3 * values[(static_cast<std::size_t>(entry) * block + i) * block + j] *
                   x[static_cast<std::size_t>(blocks.indices[entry]) * block + j];
      }
  }
  std::vector<wave::Finding> multiply(std::uint32_t groups, std::uint32_t size) {
    Ints ends(blocks.offsets.begin() + 1, blocks.offsets.end());
    return findings({groups, 1, 1}, size,
                    {blocks.rows, kRowOrder, 3.0, static_cast<std::int32_t>(mask.size()), map(mask),
                     map(blocks.offsets), map(ends), map(blocks.indices), map(values), map(x), 2.0, map(y), kBaseZero});
  }

  std::size_t block_ = 0;
  Matrix blocks{40, 30, 6, numbers_};
  Ints mask{0, 3, 4, 9, 17, 25, 26, 39};
  Doubles values, x, y, expected;
};

TEST_P(Bsrxmv, BlocksOfTwoAreMultiplied) {
  open(
      "_ZL18bsrxmvn_2x2_kernelILj128ELj8EdiidEvT3_20rocsparse_direction_T4_S0_PKS0_PKT2_S7_S4_PKT1_SA_S2_PS8_"
      "21rocsparse_index_base_");
  prepare(2);
  for (const wave::Finding& finding : multiply(groups_of(16, mask.size()), 128)) ADD_FAILURE() << to_string(finding);
  EXPECT_EQ(y, expected);
}

// Its 50 work-items are one wave of 64 lanes, which needs no barrier. Of 32 lanes there are two, and it has none.
TEST_P(Bsrxmv, BlocksOfFiveAreARaceBetweenTheTwoWavesOfAGroup) {
  open(
      "_ZL18bsrxmvn_5x5_kernelILj50EdiidEvT2_20rocsparse_direction_T3_S0_PKS0_PKT1_S7_S4_PKT0_SA_S2_PS8_"
      "21rocsparse_index_base_");
  prepare(5);
  const std::vector<wave::Finding> found = multiply(static_cast<std::uint32_t>(mask.size()), 50);
  if (std::string(GetParam()) != "gfx1030") {
    for (const wave::Finding& finding : found) ADD_FAILURE() << to_string(finding);
    EXPECT_EQ(y, expected);
    return;
  }
  ASSERT_FALSE(found.empty()) << "the race was not found";
  for (const wave::Finding& finding : found) {
    SCOPED_TRACE(to_string(finding));
    EXPECT_EQ(finding.kind, wave::FindingKind::lds_race);
    ASSERT_TRUE(finding.other);
    EXPECT_NE(finding.offset, finding.other->offset);
    EXPECT_NE(finding.wave, finding.other->wave);
    EXPECT_THAT(finding.instruction, ::testing::StartsWith("ds_"));
    EXPECT_THAT(finding.other->instruction, ::testing::StartsWith("ds_"));
  }
}

constexpr const char* kTargets[] = {"gfx1030", "gfx900"};
INSTANTIATE_TEST_SUITE_P(Targets, Rocsparse, ::testing::ValuesIn(kTargets),
                         [](const auto& test) { return std::string(test.param); });
INSTANTIATE_TEST_SUITE_P(Targets, Bsrxmv, ::testing::ValuesIn(kTargets),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace wavegate::amdgpu::corpora
