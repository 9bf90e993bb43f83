#include "wavegate/api/solve.h"

#include <chrono>

#include "wavegate/api/solve_program.h"

namespace wavegate {
namespace {

class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Copies the solver's state from one executable to another whose program has the same values.
Result<void> hand_over(Executable& from, Executable& to, const SolveProgram& system) {
  for (const program::Buffer buffer : system.solver().state()) {
    WAVEGATE_TRY(const std::vector<float> values, from.read<float>(buffer));
    WAVEGATE_CHECK(to.write<float>(buffer, values));
  }
  for (uint32_t id = 0; id < system.program().scalars().size(); ++id) {
    WAVEGATE_TRY(const uint32_t bits, from.read_bits(program::Scalar{id}));
    WAVEGATE_CHECK(to.set(program::Scalar{id}, {system.program().scalars()[id].type, bits}));
  }
  return {};
}

}  // namespace

std::string_view to_string(SolveExit exit) {
  constexpr std::string_view names[] = {"converged", "bound", "breakdown"};
  return names[static_cast<size_t>(exit)];
}

Result<SolveReport> solve(const io::CsrMatrix& matrix, std::span<const float> b, const SolveOptions& options,
                          std::shared_ptr<device::Device> device) {
  SolveReport report;
  const Clock setup_clock;
  WAVEGATE_TRY(const auto system, SolveProgram::make(matrix, b, options, device->profile()));
  WAVEGATE_CHECK(system->solve());
  WAVEGATE_TRY(Executable executable, compile(system->program(), device, options.compile));
  WAVEGATE_CHECK(executable.read_bits(system->solver().active));  // uploads what the run begins with
  report.setup_seconds = setup_clock.seconds();

  const device::Counters before = device->counters();
  const Clock clock;
  WAVEGATE_CHECK(executable.run());
  report.seconds = clock.seconds();
  report.counters = device->counters() - before;
  WAVEGATE_CHECK(system->report(executable, report));
  return report;
}

Result<SolveReport> solve_with_host_loop(const io::CsrMatrix& matrix, std::span<const float> b,
                                         const SolveOptions& options, std::shared_ptr<device::Device> device,
                                         const std::function<void(uint32_t)>& progress) {
  SolveReport report;
  const Clock setup_clock;
  // Three programs with the same values: what comes before the loop, one iteration, what comes after.
  WAVEGATE_TRY(const auto before, SolveProgram::make(matrix, b, options, device->profile()));
  WAVEGATE_TRY(const auto body, SolveProgram::make(matrix, b, options, device->profile()));
  WAVEGATE_TRY(const auto after, SolveProgram::make(matrix, b, options, device->profile()));
  WAVEGATE_CHECK(before->solver().start());
  WAVEGATE_CHECK(body->solver().iteration());
  WAVEGATE_CHECK(after->solver().finish());
  WAVEGATE_TRY(Executable start, compile(before->program(), device));
  WAVEGATE_TRY(Executable step, compile(body->program(), device));
  WAVEGATE_TRY(Executable end, compile(after->program(), device));
  report.setup_seconds = setup_clock.seconds();

  WAVEGATE_CHECK(start.run());
  WAVEGATE_CHECK(hand_over(start, step, *before));
  WAVEGATE_TRY(uint32_t active, step.read_bits(body->solver().active));  // uploads what the loop begins with
  const device::Counters counters_before = device->counters();
  const Clock clock;
  while (active != 0 && report.iterations < options.max_iterations) {
    WAVEGATE_CHECK(step.run());
    WAVEGATE_TRY(active, step.read_bits(body->solver().active));
    ++report.iterations;
    if (progress) progress(report.iterations);
  }
  report.seconds = clock.seconds();
  report.counters = device->counters() - counters_before;

  WAVEGATE_CHECK(hand_over(report.iterations > 0 ? step : start, end, *before));
  WAVEGATE_CHECK(end.run());
  WAVEGATE_TRY(const uint32_t breakdown, end.read_bits(after->solver().breakdown));
  report.exit_reason = breakdown != 0 ? SolveExit::breakdown : active != 0 ? SolveExit::bound : SolveExit::converged;
  WAVEGATE_CHECK(after->read_solution(end, report));
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
