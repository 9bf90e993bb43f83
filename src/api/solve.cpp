#include "wavegate/api/solve.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "wavegate/base/format.h"
#include "wavegate/ops/conjugate_gradient.h"

namespace wavegate {
namespace {

using program::Buffer;
using program::Program;

class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

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

/// A program around the solver, the same for both kinds of loop up to its commands.
struct Setup {
  Program program{"solve"};
  program::CsrMatrix matrix;
  Buffer b;
  std::unique_ptr<ops::ConjugateGradient> solver;

  Setup(const io::CsrMatrix& from, std::span<const float> rhs, int exponent, const SolveOptions& options,
        const target::Profile& profile) {
    matrix = program.csr_matrix("A", from.rows, from.columns, from.row_offsets, from.column_indices, from.values);
    std::vector<float> scaled(rhs.size());
    std::ranges::transform(rhs, scaled.begin(), [&](float value) { return std::ldexp(value, -exponent); });
    b = program.buffer("b", kir::Type::f32, rhs.size(), program::Initial::copy_of(scaled));
    ops::ConjugateGradientOptions cg;
    cg.tolerance = static_cast<float>(options.tolerance);
    cg.max_iterations = options.max_iterations;
    cg.jacobi = options.jacobi;
    solver = std::make_unique<ops::ConjugateGradient>(
        program, matrix, b, options.jacobi ? diagonal_of(from) : std::vector<float>{}, cg, profile);
  }
};

/// Copies the solver's state from one executable to another whose program has the same values.
Result<void> hand_over(Executable& from, Executable& to, const Setup& setup) {
  for (const Buffer buffer : setup.solver->state()) {
    WAVEGATE_TRY(const std::vector<float> values, from.read<float>(buffer));
    WAVEGATE_CHECK(to.write<float>(buffer, values));
  }
  for (uint32_t id = 0; id < setup.program.scalars().size(); ++id) {
    WAVEGATE_TRY(const uint32_t bits, from.read_bits(program::Scalar{id}));
    WAVEGATE_CHECK(to.set(program::Scalar{id}, {setup.program.scalars()[id].type, bits}));
  }
  return {};
}

/// Reads the solution and judges it in double.
Result<void> finish(Executable& executable, const ops::ConjugateGradient& solver, const io::CsrMatrix& matrix,
                    std::span<const float> b, int exponent, double tolerance, SolveReport& report) {
  WAVEGATE_TRY(const std::vector<float> high, executable.read<float>(solver.x_high));
  WAVEGATE_TRY(const std::vector<float> low, executable.read<float>(solver.x_low));
  report.x.resize(high.size());
  for (size_t i = 0; i < high.size(); ++i)
    report.x[i] = std::ldexp(static_cast<double>(high[i]) + static_cast<double>(low[i]), exponent);
  WAVEGATE_TRY(report.relative_residual, io::relative_residual(matrix, b, report.x));
  // The device's word is not taken for it: a driver that cuts a kernel's loops short, or numbers near the end of f32's
  // range, would otherwise pass for a solution.
  if (report.exit_reason == SolveExit::converged && !(report.relative_residual <= tolerance))
    return device_error(format(
        "\"{}\" reports convergence, but the true relative residual is {:.3e}, above the tolerance {:.3e}; either "
        "the matrix holds values near the ends of f32's range (scale it), or the driver does not run the kernels "
        "to their end (llvmpipe stops a kernel after 65,535 loop iterations, as a row with that many entries needs)",
        executable.device().profile().name, report.relative_residual, tolerance));
  return {};
}

}  // namespace

std::string_view to_string(SolveExit exit) {
  constexpr std::string_view names[] = {"converged", "bound", "breakdown"};
  return names[static_cast<size_t>(exit)];
}

Result<SolveReport> solve(const io::CsrMatrix& matrix, std::span<const float> b, const SolveOptions& options,
                          std::shared_ptr<device::Device> device) {
  WAVEGATE_CHECK(check(matrix, b, options));
  SolveReport report;
  const Clock setup_clock;
  const int exponent = scale_exponent(b);
  Setup setup(matrix, b, exponent, options, device->profile());
  WAVEGATE_CHECK(setup.solver->solve());
  setup.program.output(setup.solver->x_high);
  setup.program.output(setup.solver->x_low);
  WAVEGATE_TRY(Executable executable, compile(setup.program, device, options.compile));
  WAVEGATE_CHECK(executable.read_bits(setup.solver->active));  // uploads what the run begins with
  report.setup_seconds = setup_clock.seconds();

  const device::Counters before = device->counters();
  const Clock clock;
  WAVEGATE_CHECK(executable.run());
  report.seconds = clock.seconds();
  report.counters = device->counters() - before;

  WAVEGATE_TRY(const LoopReport loop, executable.loop(setup.solver->loop));
  WAVEGATE_TRY(const uint32_t breakdown, executable.read_bits(setup.solver->breakdown));
  report.iterations = loop.trips;
  report.exit_reason = breakdown != 0                         ? SolveExit::breakdown
                       : loop.reason == ExitReason::converged ? SolveExit::converged
                                                              : SolveExit::bound;
  WAVEGATE_CHECK(finish(executable, *setup.solver, matrix, b, exponent, options.tolerance, report));
  return report;
}

Result<SolveReport> solve_with_host_loop(const io::CsrMatrix& matrix, std::span<const float> b,
                                         const SolveOptions& options, std::shared_ptr<device::Device> device,
                                         const std::function<void(uint32_t)>& progress) {
  WAVEGATE_CHECK(check(matrix, b, options));
  SolveReport report;
  const Clock setup_clock;
  const int exponent = scale_exponent(b);
  // Three programs with the same values: what comes before the loop, one iteration, what comes after.
  Setup before(matrix, b, exponent, options, device->profile());
  Setup body(matrix, b, exponent, options, device->profile());
  Setup after(matrix, b, exponent, options, device->profile());
  WAVEGATE_CHECK(before.solver->start());
  WAVEGATE_CHECK(body.solver->iteration());
  WAVEGATE_CHECK(after.solver->finish());
  WAVEGATE_TRY(Executable start, compile(before.program, device));
  WAVEGATE_TRY(Executable step, compile(body.program, device));
  WAVEGATE_TRY(Executable end, compile(after.program, device));
  report.setup_seconds = setup_clock.seconds();

  WAVEGATE_CHECK(start.run());
  WAVEGATE_CHECK(hand_over(start, step, before));
  WAVEGATE_TRY(uint32_t active, step.read_bits(body.solver->active));  // uploads what the loop begins with
  const device::Counters counters_before = device->counters();
  const Clock clock;
  while (active != 0 && report.iterations < options.max_iterations) {
    WAVEGATE_CHECK(step.run());
    WAVEGATE_TRY(active, step.read_bits(body.solver->active));
    ++report.iterations;
    if (progress) progress(report.iterations);
  }
  report.seconds = clock.seconds();
  report.counters = device->counters() - counters_before;

  WAVEGATE_CHECK(hand_over(report.iterations > 0 ? step : start, end, before));
  WAVEGATE_CHECK(end.run());
  WAVEGATE_TRY(const uint32_t breakdown, end.read_bits(after.solver->breakdown));
  report.exit_reason = breakdown != 0 ? SolveExit::breakdown : active != 0 ? SolveExit::bound : SolveExit::converged;
  WAVEGATE_CHECK(finish(end, *after.solver, matrix, b, exponent, options.tolerance, report));
  return report;
}

std::vector<float> default_right_hand_side(uint32_t rows) {
  std::vector<float> b(rows);
  for (uint32_t row = 0; row < rows; ++row) {
    // A bijective mix of the row's number (multiply and xor-shift), its top 24 bits as a fraction.
    uint32_t bits = row * 0x9E3779B1u + 0x7F4A7C15u;
    bits = (bits ^ (bits >> 15)) * 0x85EBCA6Bu;
    bits ^= bits >> 13;
    b[row] = static_cast<float>(bits >> 8) * 0x1p-23f - 1.0f;
  }
  return b;
}

}  // namespace wavegate
