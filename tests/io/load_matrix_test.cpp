#include "wavegate/io/load_matrix.h"

#include <gmock/gmock.h>

#include <string>

#include "io/gzip.h"
#include "io/support.h"

namespace wavegate::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kMatrix = "%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 3\n1 2 4\n";
constexpr std::string_view kGraph = "2 1\n2\n1\n";

TEST(LoadMatrix, ReadsMatrixMarketAsItStands) {
  const TemporaryFolder folder;
  put(folder / "a.mtx", to_bytes(kMatrix));
  const Result<CsrMatrix> matrix = load_matrix(folder / "a.mtx");
  ASSERT_EQ(error_text(matrix), "");
  EXPECT_THAT(matrix->values, ElementsAre(3, 4));
}

TEST(LoadMatrix, ReadsAGraphAsItsLaplacianPlusIdentity) {
  const TemporaryFolder folder;
  put(folder / "a.graph", to_bytes(kGraph));
  const Result<CsrMatrix> matrix = load_matrix(folder / "a.graph");
  ASSERT_EQ(error_text(matrix), "");
  EXPECT_THAT(matrix->values, ElementsAre(2, -1, -1, 2));
}

TEST(LoadMatrix, ReadsCompressedFilesByTheEndingBefore) {
  const TemporaryFolder folder;
  put(folder / "a.mtx.gz", gzip(to_bytes(kMatrix)));
  put(folder / "a.graph.gz", gzip(to_bytes(kGraph)));
  EXPECT_EQ(error_text(load_matrix(folder / "a.mtx.gz")), "");
  EXPECT_EQ(error_text(load_matrix(folder / "a.graph.gz")), "");
}

TEST(LoadMatrix, ReadsEndingsInAnyCase) {
  const TemporaryFolder folder;
  put(folder / "A.MTX.GZ", gzip(to_bytes(kMatrix)));
  EXPECT_EQ(error_text(load_matrix(folder / "A.MTX.GZ")), "");
}

TEST(LoadMatrix, NamesTheFileAndTheLineOfAFault) {
  const TemporaryFolder folder;
  put(folder / "a.graph", to_bytes("2 1\n% a\n2\n"));
  EXPECT_THAT(error_text(load_matrix(folder / "a.graph")), HasSubstr((folder / "a.graph").string() + ":3: "));
}

TEST(LoadMatrix, ListsTheAcceptedEndingsForAnyOther) {
  for (const char* name : {"a.txt", "a.txt.gz", "a.gz", "mtx", ".mtx", "a.mtx.bz2"}) {
    EXPECT_THAT(error_text(load_matrix(name)),
                AllOf(StartsWith(format("invalid input: {}: ", name)), HasSubstr("is no kind of matrix file"),
                      HasSubstr(".mtx (Matrix Market), .graph (METIS), each optionally followed by .gz")))
        << name;
  }
}

TEST(LoadMatrix, NamesTheOtherEnding) {
  EXPECT_THAT(error_text(load_matrix("a.csv.gz")), HasSubstr("\".csv\""));
}

TEST(LoadMatrix, NamesAMissingFile) {
  EXPECT_THAT(error_text(load_matrix("none.mtx")), HasSubstr("none.mtx: cannot be opened: No such file"));
}

TEST(LoadMatrix, StopsAtTheLimit) {
  const TemporaryFolder folder;
  put(folder / "a.mtx", to_bytes(kMatrix));
  EXPECT_THAT(error_text(load_matrix(folder / "a.mtx", 10)), HasSubstr("the limit of 10 bytes"));
}

}  // namespace
}  // namespace wavegate::io
