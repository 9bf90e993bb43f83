#include <gtest/gtest.h>

#include "amdgpu/wave/matrix_testing.h"
#include "amdgpu/wave/wave_testing.h"

namespace wavegate::amdgpu::wave::testing {
namespace {

struct Machine {
  const char* object;
  unsigned lanes;
};
class Dot : public ::testing::TestWithParam<Machine> {};

TEST_P(Dot, AKernelOfTilesInLdsMultipliesMatricesWithMatrixInstructions) {
  const Machine machine = GetParam();
  auto loaded = Loaded::open_kernels("dot", machine.object);
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  constexpr unsigned M = 96, N = 64, K = 128;
  std::mt19937 random(19);
  const auto a = distinct_numbers(Format::f16, M * K, random), b = distinct_numbers(Format::f16, K * N, random);
  Registers halves_a(1, M * K / 2), halves_b(1, K * N / 2), c(1, M * N);
  for (unsigned i = 0; i < M * K; ++i) halves_a.put({0, i * 16}, Format::f16, a[i]);
  for (unsigned i = 0; i < K * N; ++i) halves_b.put({0, i * 16}, Format::f16, b[i]);
  const unsigned threads = machine.lanes * 4;
  const auto report = run_kernel(**loaded, {"dot_tiles", {N / 32 * threads, M / 32, 1}, {threads, 1, 1}},
                                 {(*loaded)->map(halves_a.words(), "a"), (*loaded)->map(halves_b.words(), "b"),
                                  (*loaded)->map(c.words(), "c"), N, K});
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_TRUE(report->findings.empty());
  for (unsigned i = 0; i < M; ++i)
    for (unsigned j = 0; j < N; ++j) {
      double expected = 0;
      for (unsigned k = 0; k < K; ++k) expected += a[i * K + k] * b[k * N + j];
      ASSERT_EQ(c.get({0, (i * N + j) * 32}, Format::f32), expected) << "row " << i << " column " << j;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, Dot,
                         ::testing::Values(Machine{"gfx942.w64", 64}, Machine{"gfx1100.w32", 32},
                                           Machine{"gfx1100.w64", 64}),
                         [](const auto& test) { return test_name(test.param.object); });

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
