#include "wavegate/api/solve_program.h"

#include <algorithm>
#include <cmath>

#include "wavegate/base/format.h"

namespace wavegate {
namespace {

Result<void> check(const io::CsrMatrix& matrix, std::span<const float> b, const SolveOptions& options) {
  WAVEGATE_CHECK(io::verify(matrix));
  if (matrix.rows == 0) return invalid_input("the matrix has no rows");
  if (matrix.rows != matrix.columns)
    return invalid_input(format("the matrix has {} rows and {} columns; conjugate gradients need a square one",
                                matrix.rows, matrix.columns));
  if (b.size() != matrix.rows)
    return invalid_input(format("the right-hand side has {} values, but the matrix {} rows", b.size(), matrix.rows));
  const auto not_finite = std::ranges::find_if(b, [](float value) { return !std::isfinite(value); });
  if (not_finite != b.end())
    return invalid_input(format("the right-hand side holds {} in row {}", *not_finite, not_finite - b.begin()));
  if (!(options.tolerance >= 1e-12 && options.tolerance <= 1.0))
    return invalid_input(format("the tolerance is {}; it must be between 1e-12 and 1", options.tolerance));
  return {};
}

/// The power of two that brings the largest magnitude of b near one.
int scale_exponent(std::span<const float> b) {
  float largest = 0.0f;
  for (const float value : b) largest = std::max(largest, std::abs(value));
  return largest > 0.0f ? std::ilogb(largest) : 0;
}

std::vector<float> diagonal_of(const io::CsrMatrix& matrix) {
  std::vector<float> diagonal(matrix.rows, 0.0f);
  for (uint32_t row = 0; row < matrix.rows; ++row)
    for (uint32_t k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k)
      if (matrix.column_indices[k] == row) diagonal[row] = matrix.values[k];
  return diagonal;
}

}  // namespace

SolveProgram::SolveProgram(const io::CsrMatrix& matrix, std::span<const float> b, const SolveOptions& options,
                           const target::Profile& profile)
    : matrix_(matrix), b_(b.begin(), b.end()), exponent_(scale_exponent(b)), tolerance_(options.tolerance) {
  const program::CsrMatrix a =
      program_.csr_matrix("A", matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, matrix.values);
  std::vector<float> scaled(b.size());
  std::ranges::transform(b, scaled.begin(), [&](float value) { return std::ldexp(value, -exponent_); });
  const program::Buffer rhs = program_.buffer("b", kir::Type::f32, scaled.size(), program::Initial::copy_of(scaled));
  ops::ConjugateGradientOptions cg;
  cg.tolerance = static_cast<float>(options.tolerance);
  cg.max_iterations = options.max_iterations;
  cg.jacobi = options.jacobi;
  solver_ = std::make_unique<ops::ConjugateGradient>(
      program_, a, rhs, options.jacobi ? diagonal_of(matrix) : std::vector<float>{}, cg, profile);
}

Result<std::unique_ptr<SolveProgram>> SolveProgram::make(const io::CsrMatrix& matrix, std::span<const float> b,
                                                         const SolveOptions& options, const target::Profile& profile) {
  WAVEGATE_CHECK(check(matrix, b, options));
  return std::unique_ptr<SolveProgram>(new SolveProgram(matrix, b, options, profile));
}

Result<void> SolveProgram::solve() {
  WAVEGATE_CHECK(solver_->solve());
  program_.output(solver_->x_high);
  program_.output(solver_->x_low);
  return {};
}

Result<void> SolveProgram::report(Executable& executable, SolveReport& report) const {
  WAVEGATE_TRY(const LoopReport loop, executable.loop(solver_->loop));
  WAVEGATE_TRY(const uint32_t breakdown, executable.read_bits(solver_->breakdown));
  report.iterations = loop.trips;
  report.exit_reason = breakdown != 0                         ? SolveExit::breakdown
                       : loop.reason == ExitReason::converged ? SolveExit::converged
                                                              : SolveExit::bound;
  return read_solution(executable, report);
}

Result<void> SolveProgram::read_solution(Executable& executable, SolveReport& report) const {
  WAVEGATE_TRY(const std::vector<float> high, executable.read<float>(solver_->x_high));
  WAVEGATE_TRY(const std::vector<float> low, executable.read<float>(solver_->x_low));
  report.x.resize(high.size());
  for (size_t i = 0; i < high.size(); ++i)
    report.x[i] = std::ldexp(static_cast<double>(high[i]) + static_cast<double>(low[i]), exponent_);
  WAVEGATE_TRY(report.relative_residual, io::relative_residual(matrix_, b_, report.x));
  // The device's word is not taken for it: a driver that cuts a kernel's loops short, or numbers near the end of f32's
  // range, would otherwise pass for a solution.
  if (report.exit_reason == SolveExit::converged && !(report.relative_residual <= tolerance_))
    return device_error(format(
        "\"{}\" reports convergence, but the true relative residual is {:.3e}, above the tolerance {:.3e}; either "
        "the matrix holds values near the ends of f32's range (scale it), or the driver does not run the kernels "
        "to their end (llvmpipe stops a kernel after 65,535 loop iterations, as a row with that many entries needs)",
        executable.device().profile().name, report.relative_residual, tolerance_));
  return {};
}

}  // namespace wavegate
