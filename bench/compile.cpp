// wavegate-bench-compile: what it costs to bring a program to a device, step by step, without a device.

#include <benchmark/benchmark.h>

#include "wavegate/device/reference/device.h"
#include "wavegate/emit/spirv/emitter.h"
#include "wavegate/kir/text.h"
#include "wavegate/lowering/lower.h"
#include "wavegate/ops/conjugate_gradient.h"

namespace wavegate {
namespace {

/// The conjugate-gradient program on a small tridiagonal matrix: the kernels are those of any size.
struct Solver {
  program::Program program{"solve"};
  target::Profile profile = device::reference::make_device()->profile();

  Solver() {
    constexpr uint32_t rows = 1000;
    std::vector<uint32_t> offsets{0}, columns;
    std::vector<float> values;
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t column = row == 0 ? 0 : row - 1; column <= row + 1 && column < rows; ++column) {
        columns.push_back(column);
        values.push_back(column == row ? 3.0f : -1.0f);
      }
      offsets.push_back(static_cast<uint32_t>(columns.size()));
    }
    const auto matrix = program.csr_matrix("A", rows, rows, offsets, columns, values);
    const auto b = program.buffer("b", kir::Type::f32, rows, program::Initial::repeated(1.0f));
    ops::ConjugateGradient solver(program, matrix, b, {}, {}, profile);
    if (!solver.solve()) std::abort();
  }
};

void lower_the_solver(benchmark::State& state) {
  const Solver solver;
  for (auto _ : state) benchmark::DoNotOptimize(lowering::lower(solver.program, solver.profile));
}
BENCHMARK(lower_the_solver)->Unit(benchmark::kMicrosecond);

void emit_the_solvers_kernels(benchmark::State& state) {
  const Solver solver;
  const auto plan = lowering::lower(solver.program, solver.profile);
  for (auto _ : state)
    for (const graph::Kernel& kernel : plan->graph->kernels)
      benchmark::DoNotOptimize(emit::spirv::emit(*std::get<0>(kernel), solver.profile));
}
BENCHMARK(emit_the_solvers_kernels)->Unit(benchmark::kMicrosecond);

void print_and_parse_the_solvers_kernels(benchmark::State& state) {
  const Solver solver;
  const auto plan = lowering::lower(solver.program, solver.profile);
  for (auto _ : state)
    for (const graph::Kernel& kernel : plan->graph->kernels)
      benchmark::DoNotOptimize(kir::parse(kir::print(*std::get<0>(kernel))));
}
BENCHMARK(print_and_parse_the_solvers_kernels)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace wavegate

BENCHMARK_MAIN();
