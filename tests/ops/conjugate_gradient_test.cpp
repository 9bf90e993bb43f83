#include "wavegate/ops/conjugate_gradient.h"

#include <gmock/gmock.h>

#include "wavegate/program/verify.h"

namespace wavegate::ops {
namespace {

/// A matrix of which only the sizes matter.
struct Declared {
  program::Program program{"test"};
  program::CsrMatrix matrix;
  program::Buffer b;
  target::Profile profile;

  Declared(uint32_t rows, uint32_t entries_per_row) {
    std::vector<uint32_t> offsets, columns;
    for (uint32_t row = 0; row <= rows; ++row) offsets.push_back(row * entries_per_row);
    for (uint32_t row = 0; row < rows; ++row)
      for (uint32_t k = 0; k < entries_per_row; ++k) columns.push_back(k);
    const std::vector<float> values(columns.size(), 1.0f);
    matrix = program.csr_matrix("A", rows, rows, offsets, columns, values);
    b = program.buffer("b", kir::Type::f32, rows, program::Initial::zero());
  }

  ConjugateGradient solver(const ConjugateGradientOptions& options) {
    return {program, matrix, b, std::vector<float>(matrix.rows, 1.0f), options, profile};
  }
};

TEST(ConjugateGradient, MakesAProgramThatHoldsForEveryMappingShapeAndPreconditioner) {
  for (const Mapping mapping : {Mapping::wide, Mapping::narrow})
    for (const uint32_t entries : {3u, 13u, 27u, 100u})
      for (const bool jacobi : {false, true}) {
        Declared declared(300, entries);
        auto solver = declared.solver({.jacobi = jacobi, .mapping = mapping});
        const auto made = solver.solve();
        ASSERT_TRUE(made) << made.error().to_string();
        const auto verified = program::verify(declared.program);
        ASSERT_TRUE(verified) << verified.error().to_string();
      }
}

TEST(ConjugateGradient, RunsTwoKernelsAnIterationWhenWide) {
  Declared declared(300, 7);
  auto solver = declared.solver({.mapping = Mapping::wide});
  const program::Body step = declared.program.collect([&] { ASSERT_TRUE(solver.step()); });
  std::vector<std::string> labels;
  for (const program::Node& node : step) labels.push_back(std::get<program::Dispatch>(node.what).label);
  EXPECT_THAT(labels, testing::ElementsAre("update", "product"));
}

TEST(ConjugateGradient, CountsTheMatrixOnceAndTenVectors) {
  Declared declared(300, 7);
  uint64_t bytes = 0;
  for (const Traffic& traffic : declared.solver({}).traffic()) bytes += traffic.bytes;
  EXPECT_EQ(bytes, 8u * 2100 + 4u * 301 + 10u * 4 * 300);
}

}  // namespace
}  // namespace wavegate::ops
