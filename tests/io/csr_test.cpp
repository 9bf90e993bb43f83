#include "wavegate/io/csr.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <vector>

#include "io/support.h"

namespace wavegate::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// | 2 0 1 |
/// | 0 3 0 |
CsrMatrix example() {
  return {.rows = 2, .columns = 3, .row_offsets = {0, 2, 3}, .column_indices = {0, 2, 1}, .values = {2, 1, 3}};
}

TEST(CsrMatrix, ThatKeepsItsPromisesIsVerified) {
  EXPECT_EQ(error_text(verify(example())), "");
}

struct Broken {
  std::string_view name;
  std::function<void(CsrMatrix&)> change;
  std::string_view message;
};

std::string name_of_broken(const testing::TestParamInfo<Broken>& info) {
  return std::string(info.param.name);
}

class BrokenCsrMatrix : public testing::TestWithParam<Broken> {};

TEST_P(BrokenCsrMatrix, IsRefusedByName) {
  CsrMatrix matrix = example();
  GetParam().change(matrix);
  EXPECT_THAT(error_text(verify(matrix)),
              AllOf(HasSubstr("invalid input"), HasSubstr(std::string(GetParam().message))));
}

INSTANTIATE_TEST_SUITE_P(
    , BrokenCsrMatrix,
    testing::Values(
        Broken{"no_rows", [](CsrMatrix& m) { m.rows = 0; }, "a matrix of 0 x 3 is empty"},
        Broken{"no_columns", [](CsrMatrix& m) { m.columns = 0; }, "a matrix of 2 x 0 is empty"},
        Broken{"too_wide", [](CsrMatrix& m) { m.columns = 1u << 31; }, "exceeds 2147483647"},
        Broken{"offset_missing", [](CsrMatrix& m) { m.row_offsets.pop_back(); }, "2 row offsets do not fit 2 rows"},
        Broken{"value_missing", [](CsrMatrix& m) { m.values.pop_back(); }, "2 values do not fit 3 column indices"},
        Broken{"offsets_start_late", [](CsrMatrix& m) { m.row_offsets[0] = 1; }, "run from 1 to 3"},
        Broken{"offsets_end_early", [](CsrMatrix& m) { m.row_offsets[2] = 2; }, "run from 0 to 2"},
        Broken{"offsets_descend", [](CsrMatrix& m) { m.row_offsets[1] = 9; }, "row 0: its offsets 0 .. 9"},
        Broken{"column_outside", [](CsrMatrix& m) { m.column_indices[1] = 3; }, "row 0: column 3 is outside"},
        Broken{"columns_unsorted",
               [](CsrMatrix& m) {
                 m.column_indices = {2, 0, 1};
               },
               "row 0: column 0 follows column 2"},
        Broken{"column_twice",
               [](CsrMatrix& m) {
                 m.column_indices = {2, 2, 1};
               },
               "row 0: column 2 follows column 2"}),
    name_of_broken);

TEST(CompressRows, SortsEntriesInAnyOrder) {
  const std::vector<MatrixEntry> entries = {{1, 1, 3}, {0, 2, 1}, {0, 0, 2}};
  EXPECT_EQ(compress_rows(2, 3, entries), example());
}

TEST(CompressRows, LeavesRowsWithoutEntriesEmpty) {
  const std::vector<MatrixEntry> entries = {{2, 0, 5}};
  const CsrMatrix expected{
      .rows = 4, .columns = 1, .row_offsets = {0, 0, 0, 1, 1}, .column_indices = {0}, .values = {5}};
  EXPECT_EQ(compress_rows(4, 1, entries), expected);
}

TEST(FindDuplicate, FindsAnEntryThatOccursTwice) {
  const std::vector<MatrixEntry> entries = {{1, 1, 3}, {0, 2, 1}, {1, 0, 2}, {1, 1, 4}};
  const auto duplicate = find_duplicate(compress_rows(2, 3, entries));
  ASSERT_TRUE(duplicate.has_value());
  EXPECT_EQ(duplicate->row, 1u);
  EXPECT_EQ(duplicate->column, 1u);
}

TEST(FindDuplicate, FindsNoneInAMatrixWithoutDuplicates) {
  EXPECT_FALSE(find_duplicate(example()).has_value());
}

double residual(std::vector<float> b, std::vector<double> x) {
  const Result<double> value = relative_residual(example(), b, x);
  return value.ok() ? *value : -1;
}

TEST(RelativeResidual, IsZeroForASolution) {
  EXPECT_EQ(residual({5, 6}, {1, 2, 3}), 0);
}

TEST(RelativeResidual, IsOneForNoSolutionAtAll) {
  EXPECT_EQ(residual({5, 6}, {0, 0, 0}), 1);
}

TEST(RelativeResidual, ComparesNorms) {
  EXPECT_DOUBLE_EQ(residual({3, 4}, {1.5, 1, 0}), 0.2);
}

TEST(RelativeResidual, CountsInDouble) {
  // In f32 the sum 2^24 + 1 loses its last bit.
  EXPECT_DOUBLE_EQ(residual({16777216, 0}, {8388608, 0, 1}), 1.0 / 16777216);
}

TEST(RelativeResidual, IsZeroWhereNothingIsAskedAndGiven) {
  EXPECT_EQ(residual({0, 0}, {0, 0, 0}), 0);
}

TEST(RelativeResidual, IsInfiniteWhereNothingIsAskedAndSomethingGiven) {
  EXPECT_EQ(residual({0, 0}, {1, 0, 0}), std::numeric_limits<double>::infinity());
}

TEST(RelativeResidual, NamesWrongSizes) {
  const std::vector<float> b(2);
  const std::vector<float> longer_b(3);
  const std::vector<double> x(3);
  const std::vector<double> shorter_x(2);
  EXPECT_THAT(error_text(relative_residual(example(), longer_b, x)), HasSubstr("right side has 3 values"));
  EXPECT_THAT(error_text(relative_residual(example(), b, shorter_x)), HasSubstr("solution has 2 values"));
}

}  // namespace
}  // namespace wavegate::io
