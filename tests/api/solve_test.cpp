#include "wavegate/api/solve.h"

#include <gmock/gmock.h>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <set>

#include "wavegate/io/load_matrix.h"
#include "wavegate/ops/conjugate_gradient.h"
#include "wavegate/ops/ops.h"

namespace wavegate {
namespace {

std::shared_ptr<device::Device> device_named(const std::string& name) {
  static std::map<std::string, std::shared_ptr<device::Device>> devices;
  auto& device = devices[name];
  if (!device) device = open_device(name).value();
  return device;
}

/// The 5-point Laplacian on a side x side grid with Dirichlet boundary.
io::CsrMatrix poisson(uint32_t side) {
  std::vector<io::MatrixEntry> entries;
  for (uint32_t y = 0; y < side; ++y)
    for (uint32_t x = 0; x < side; ++x) {
      const uint32_t row = y * side + x;
      entries.push_back({row, row, 4.0f});
      if (x > 0) entries.push_back({row, row - 1, -1.0f});
      if (x + 1 < side) entries.push_back({row, row + 1, -1.0f});
      if (y > 0) entries.push_back({row, row - side, -1.0f});
      if (y + 1 < side) entries.push_back({row, row + side, -1.0f});
    }
  return io::compress_rows(side * side, side * side, entries);
}

Eigen::SparseMatrix<double> to_eigen(const io::CsrMatrix& matrix) {
  std::vector<Eigen::Triplet<double>> triplets;
  for (uint32_t row = 0; row < matrix.rows; ++row)
    for (uint32_t k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k)
      triplets.emplace_back(static_cast<int>(row), static_cast<int>(matrix.column_indices[k]), matrix.values[k]);
  Eigen::SparseMatrix<double> made(matrix.rows, matrix.columns);
  made.setFromTriplets(triplets.begin(), triplets.end());
  return made;
}

/// The solution by an independent solver, in double, to a residual far below ours.
Eigen::VectorXd eigen_solution(const io::CsrMatrix& matrix, std::span<const float> b) {
  const Eigen::SparseMatrix<double> a = to_eigen(matrix);
  Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper> solver(a);
  solver.setTolerance(1e-14);
  return solver.solve(Eigen::Map<const Eigen::VectorXf>(b.data(), static_cast<Eigen::Index>(b.size())).cast<double>());
}

double relative_error(std::span<const double> x, const Eigen::VectorXd& exact) {
  const Eigen::Map<const Eigen::VectorXd> ours(x.data(), static_cast<Eigen::Index>(x.size()));
  return (ours - exact).norm() / exact.norm();
}

class Solve : public testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<device::Device> device() const { return device_named(GetParam()); }
};

/// A mesh of libmetis-doc, or a skip that says how to get it.
#define WAVEGATE_LOAD_MESH(matrix, name)                                                                 \
  const char* mesh_folder = std::getenv("WAVEGATE_METIS_GRAPHS");                                        \
  const std::filesystem::path mesh_path =                                                                \
      std::filesystem::path(mesh_folder ? mesh_folder : WAVEGATE_SOURCE_DIR "/build/data/metis") / name; \
  if (!std::filesystem::exists(mesh_path)) {                                                             \
    if (std::getenv("CI")) FAIL() << mesh_path << " is missing, and a CI run without it proves nothing"; \
    GTEST_SKIP() << mesh_path << " is missing; tools/fetch_meshes.sh brings it";                         \
  }                                                                                                      \
  const io::CsrMatrix matrix = io::load_matrix(mesh_path).value()

void solve_mesh(const io::CsrMatrix& matrix, std::shared_ptr<device::Device> device, bool jacobi) {
  const std::vector<float> b = default_right_hand_side(matrix.rows);
  SolveOptions options;
  options.max_iterations = 100;
  options.jacobi = jacobi;
  const auto report = solve(matrix, b, options, device);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->exit_reason, SolveExit::converged);
  EXPECT_LE(report->relative_residual, options.tolerance);
  EXPECT_EQ(report->counters.host_waits, 1u);

  // Laplacian plus identity: the smallest eigenvalue is 1 (the constant vector), the largest at most 1 + 2 max degree
  // (Gershgorin). So ‖x - x*‖ / ‖x*‖ <= cond * ‖r‖ / ‖b‖, and Eigen's own error is far below it.
  float largest_diagonal = 0;
  for (uint32_t row = 0; row < matrix.rows; ++row)
    for (uint32_t k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k)
      if (matrix.column_indices[k] == row) largest_diagonal = std::max(largest_diagonal, matrix.values[k]);
  const double condition = 2.0 * largest_diagonal - 1.0;
  EXPECT_LE(relative_error(report->x, eigen_solution(matrix, b)), condition * report->relative_residual + 1e-12);
}

TEST_P(Solve, FourEltAgreesWithEigen) {
  WAVEGATE_LOAD_MESH(matrix, "4elt.graph");
  solve_mesh(matrix, device(), false);
  solve_mesh(matrix, device(), true);
}

TEST_P(Solve, Copter2AgreesWithEigen) {
  WAVEGATE_LOAD_MESH(matrix, "copter2.graph");
  solve_mesh(matrix, device(), false);
}

TEST_P(Solve, MdualAgreesWithEigen) {
  WAVEGATE_LOAD_MESH(matrix, "mdual.graph");
  solve_mesh(matrix, device(), false);
}

TEST_P(Solve, AnEigenvectorOfPoissonIsSolvedInOneIterationByItsEigenvalue) {
  constexpr uint32_t side = 40;
  const io::CsrMatrix matrix = poisson(side);
  const double h = std::numbers::pi / (side + 1);
  const double eigenvalue = 4 - 2 * std::cos(2 * h) - 2 * std::cos(3 * h);
  std::vector<float> b(matrix.rows);
  for (uint32_t y = 0; y < side; ++y)
    for (uint32_t x = 0; x < side; ++x)
      b[y * side + x] = static_cast<float>(std::sin(2 * h * (x + 1)) * std::sin(3 * h * (y + 1)));
  SolveOptions options;
  options.tolerance = 1e-5;  // b is an eigenvector up to its rounding to f32
  options.max_iterations = 10;
  const auto report = solve(matrix, b, options, device());
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->iterations, 1u);
  EXPECT_EQ(report->exit_reason, SolveExit::converged);
  for (uint32_t row = 0; row < matrix.rows; ++row) EXPECT_NEAR(report->x[row], b[row] / eigenvalue, 1e-4 / eigenvalue);
}

TEST_P(Solve, AnIllConditionedPoissonReachesATrueResidualThatOneFloatCannotHold) {
  // The condition number is about 4 (side + 1)^2 / pi^2 = 4,100: a solution rounded to f32 has a residual near 1e-4.
  const io::CsrMatrix matrix = poisson(100);
  const std::vector<float> b = default_right_hand_side(matrix.rows);
  SolveOptions options;
  options.tolerance = 1e-8;
  options.max_iterations = 600;
  const auto report = solve(matrix, b, options, device());
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->exit_reason, SolveExit::converged);
  EXPECT_LE(report->relative_residual, options.tolerance);
  EXPECT_LE(relative_error(report->x, eigen_solution(matrix, b)), 4200 * 1e-8);
}

TEST_P(Solve, AZeroRightHandSideIsSolvedAtOnce) {
  const io::CsrMatrix matrix = poisson(5);
  const auto report = solve(matrix, std::vector<float>(25, 0.0f), {}, device());
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->iterations, 0u);
  EXPECT_EQ(report->exit_reason, SolveExit::converged);
  EXPECT_EQ(report->relative_residual, 0.0);
}

TEST_P(Solve, TheBoundEndsTheLoopAndWhatWasReachedIsReturned) {
  const io::CsrMatrix matrix = poisson(30);
  const std::vector<float> b = default_right_hand_side(matrix.rows);
  SolveOptions options;
  options.max_iterations = 5;
  const auto report = solve(matrix, b, options, device());
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->iterations, 5u);
  EXPECT_EQ(report->exit_reason, SolveExit::bound);
  EXPECT_GT(report->relative_residual, options.tolerance);
  EXPECT_LT(report->relative_residual, 1.0);
}

TEST_P(Solve, AMatrixThatIsNotPositiveDefiniteBreaksDown) {
  for (const bool jacobi : {false, true}) {
    const io::MatrixEntry entries[] = {{0, 0, 1.0f}, {0, 1, 3.0f}, {1, 0, 3.0f}, {1, 1, 1.0f}};
    const io::CsrMatrix matrix = io::compress_rows(2, 2, entries);
    SolveOptions options;
    options.jacobi = jacobi;
    const auto report = solve(matrix, std::vector<float>{1.0f, -1.0f}, options, device());
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_EQ(report->exit_reason, SolveExit::breakdown);
  }
}

// Products beyond the range of f32 give NaN in the true residual, which must never look like convergence.
TEST_P(Solve, AMatrixTooLargeForFloatsNeverLooksConverged) {
  io::CsrMatrix matrix = poisson(6);
  for (float& value : matrix.values) value *= 1e35f;
  const auto report = solve(matrix, default_right_hand_side(matrix.rows), {}, device());
  if (report.ok()) {
    EXPECT_NE(report->exit_reason, SolveExit::converged) << report->relative_residual;
  } else {
    EXPECT_THAT(report.error().message, testing::HasSubstr("true relative residual"));
  }
}

TEST_P(Solve, TheMagnitudeOfTheRightHandSideDoesNotMatter) {
  const io::CsrMatrix matrix = poisson(12);
  const std::vector<float> b = default_right_hand_side(matrix.rows);
  const auto plain = solve(matrix, b, {}, device());
  for (const int exponent : {-100, 90}) {
    std::vector<float> scaled(b);
    for (float& value : scaled) value = std::ldexp(value, exponent);
    const auto report = solve(matrix, scaled, {}, device());
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_EQ(report->iterations, plain->iterations);
    for (size_t i = 0; i < b.size(); ++i) ASSERT_EQ(report->x[i], std::ldexp(plain->x[i], exponent));
  }
}

TEST_P(Solve, TheHostLoopGivesTheSameBytesAndWaitsEveryIteration) {
  const io::CsrMatrix matrix = poisson(25);
  const std::vector<float> b = default_right_hand_side(matrix.rows);
  for (const uint32_t bound : {7u, 200u}) {
    SolveOptions options;
    options.max_iterations = bound;
    const auto resident = solve(matrix, b, options, device());
    const auto hosted = solve_with_host_loop(matrix, b, options, device());
    ASSERT_TRUE(resident && hosted);
    EXPECT_EQ(resident->x, hosted->x);
    EXPECT_EQ(resident->iterations, hosted->iterations);
    EXPECT_EQ(resident->exit_reason, hosted->exit_reason);
    EXPECT_EQ(hosted->counters.host_waits, hosted->iterations);
    EXPECT_EQ(hosted->counters.readbacks, hosted->iterations);
    EXPECT_EQ(resident->counters.host_waits, 1u);
  }
}

TEST_P(Solve, HostFreeIsOneSubmissionAndOneWaitWithoutALook) {
  const io::CsrMatrix matrix = poisson(25);
  SolveOptions options;
  options.max_iterations = 200;
  options.compile.host_free = true;
  const auto report = solve(matrix, default_right_hand_side(matrix.rows), options, device());
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_GT(report->iterations, 10u);
  EXPECT_EQ(report->counters.submissions, 1u);
  EXPECT_EQ(report->counters.host_waits, 1u);
  EXPECT_EQ(report->counters.observations, 0u);
}

TEST_P(Solve, EveryStrategyGivesTheSameBytes) {
  const io::CsrMatrix matrix = poisson(25);
  const std::vector<float> b = default_right_hand_side(matrix.rows);
  SolveOptions options;
  options.max_iterations = 100;
  const auto plain = solve(matrix, b, options, device());
  ASSERT_TRUE(plain) << plain.error().to_string();
  std::set<lowering::Strategy> same;
  for (const lowering::StrategyInfo& row : lowering::strategies()) {
    options.compile.strategy = row.strategy;
    const auto report = solve(matrix, b, options, device());
    if (!report) {
      EXPECT_EQ(report.error().kind, ErrorKind::unsupported) << report.error().to_string();
      continue;
    }
    same.insert(row.strategy);
    EXPECT_EQ(report->x, plain->x) << row.name;
    EXPECT_EQ(report->iterations, plain->iterations) << row.name;
    EXPECT_EQ(report->exit_reason, plain->exit_reason) << row.name;
  }
  using enum lowering::Strategy;
  EXPECT_THAT(same, testing::IsSupersetOf({gate, fused_gate, chained_gate, early_out, chunked, predication}));
}

TEST_P(Solve, GivesTheReferenceBytes) {
  const io::CsrMatrix matrix = poisson(33);
  const std::vector<float> b = default_right_hand_side(matrix.rows);
  SolveOptions options;
  options.max_iterations = 200;
  const auto ours = solve(matrix, b, options, device());
  const auto oracle = solve(matrix, b, options, device_named("reference"));
  ASSERT_TRUE(ours && oracle);
  EXPECT_EQ(ours->x, oracle->x);
}

/// A band of `width` entries about the diagonal, which dominates; each row a little different.
io::CsrMatrix band(uint32_t rows, uint32_t width) {
  std::vector<io::MatrixEntry> entries;
  for (uint32_t row = 0; row < rows; ++row)
    for (uint32_t k = row < width / 2 ? 0 : row - width / 2; k <= std::min(rows - 1, row + width / 2); ++k)
      entries.push_back({row, k, k == row ? static_cast<float>(width) + 0.1f * static_cast<float>(row % 7) : -1.0f});
  return io::compress_rows(rows, rows, entries);
}

/// All state of the solver after its loop, by a mapping.
std::vector<float> state_after(const io::CsrMatrix& from, const ops::ConjugateGradientOptions& options,
                               std::shared_ptr<device::Device> device) {
  program::Program program("solve");
  const program::CsrMatrix matrix =
      program.csr_matrix("A", from.rows, from.columns, from.row_offsets, from.column_indices, from.values);
  const program::Buffer b =
      program.buffer("b", kir::Type::f32, from.rows, program::Initial::copy_of(default_right_hand_side(from.rows)));
  std::vector<float> diagonal;
  for (uint32_t row = 0; row < from.rows; ++row)
    for (uint32_t k = from.row_offsets[row]; k < from.row_offsets[row + 1]; ++k)
      if (from.column_indices[k] == row) diagonal.push_back(from.values[k]);
  ops::ConjugateGradient solver(program, matrix, b, diagonal, options, device->profile());
  EXPECT_TRUE(solver.solve());
  auto executable = compile(program, device);
  EXPECT_TRUE(executable) << executable.error().to_string();
  EXPECT_TRUE(executable->run());
  EXPECT_GT(executable->loop(solver.loop)->trips, 2u);
  std::vector<float> all;
  for (const program::Buffer buffer : solver.state()) {
    const std::vector<float> values = executable->read<float>(buffer).value();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST_P(Solve, AWideAndANarrowMappingGiveTheSameBytes) {
  struct Case {
    uint32_t rows, width;  ///< rows in 1, 2, 4 and 16 parts
    bool jacobi;
    uint32_t maximum_chunks;  ///< 1: several blocks in the chunk, the last not whole
  };
  for (const Case& what : {Case{1400, 5, false, 1}, Case{1400, 13, true, ops::kMaximumChunks}, Case{700, 27, true, 1},
                           Case{300, 201, false, ops::kMaximumChunks}}) {
    const io::CsrMatrix matrix = band(what.rows, what.width);
    ops::ConjugateGradientOptions options;
    options.max_iterations = 8;
    options.jacobi = what.jacobi;
    options.maximum_chunks = what.maximum_chunks;
    options.mapping = ops::Mapping::narrow;
    const std::vector<float> narrow = state_after(matrix, options, device());
    options.mapping = ops::Mapping::wide;
    EXPECT_EQ(narrow, state_after(matrix, options, device())) << what.width;
  }
}

/// y = A x and x . y by the library's operations, expanded for a GPU or for a software device.
std::vector<float> product_and_dot(const io::CsrMatrix& from, bool is_cpu, std::shared_ptr<device::Device> device) {
  program::Program program("operations");
  const program::CsrMatrix matrix =
      program.csr_matrix("A", from.rows, from.columns, from.row_offsets, from.column_indices, from.values);
  const program::Buffer x =
      program.buffer("x", kir::Type::f32, from.rows, program::Initial::copy_of(default_right_hand_side(from.rows)));
  const program::Buffer y = program.buffer("y", kir::Type::f32, from.rows);
  const program::Scalar sum = program.scalar_f32("sum", 0.0f);
  target::Profile profile = device->profile();
  profile.is_cpu = is_cpu;
  const auto expand = [&](std::string_view name, const std::vector<program::Operand>& operands) {
    EXPECT_TRUE(ops::library().find(name)->second->expand(program, operands, profile));
  };
  expand("spmv", {matrix, x, y});
  expand("dot", {x, y, sum});
  auto executable = compile(program, device);
  EXPECT_TRUE(executable) << executable.error().to_string();
  EXPECT_TRUE(executable->run());
  std::vector<float> results = executable->read<float>(y).value();
  results.push_back(executable->read_f32(sum).value());
  return results;
}

TEST_P(Solve, ProductsAndDotsAreTheSameBytesForAGpuAndASoftwareDevice) {
  for (const uint32_t width : {5u, 13u, 27u, 201u}) {
    const io::CsrMatrix matrix = band(1400, width);
    const std::vector<float> results = product_and_dot(matrix, true, device());
    EXPECT_EQ(results, product_and_dot(matrix, false, device())) << width;
    const std::vector<float> x = default_right_hand_side(matrix.rows);
    double dot = 0;
    for (uint32_t row = 0; row < matrix.rows; ++row) {
      double sum = 0;
      for (uint32_t k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k)
        sum += static_cast<double>(matrix.values[k]) * x[matrix.column_indices[k]];
      ASSERT_NEAR(results[row], sum, 1e-3) << row;
      dot += sum * x[row];
    }
    EXPECT_NEAR(results.back(), dot, 1e-5 * std::abs(dot)) << width;
  }
}

TEST_P(Solve, RefusesWhatItCannotSolve) {
  const auto error = [&](const io::CsrMatrix& matrix, std::vector<float> b, SolveOptions options = {}) {
    const auto report = solve(matrix, b, options, device());
    return report ? std::string("no error") : report.error().to_string();
  };
  const io::CsrMatrix matrix = poisson(3);
  EXPECT_THAT(error(matrix, {1.0f}), testing::HasSubstr("has 1 values, but the matrix 9 rows"));
  EXPECT_THAT(error(matrix, std::vector<float>(9, NAN)), testing::HasSubstr("nan in row 0"));
  EXPECT_THAT(error(matrix, std::vector<float>(9, 1.0f), {.tolerance = 0}), testing::HasSubstr("tolerance is 0"));
  EXPECT_THAT(error(io::compress_rows(2, 3, {}), {1.0f, 1.0f}), testing::HasSubstr("2 rows and 3 columns"));
}

INSTANTIATE_TEST_SUITE_P(Device, Solve, testing::Values("reference", "vulkan"),
                         [](const testing::TestParamInfo<std::string>& device) { return device.param; });

}  // namespace
}  // namespace wavegate
