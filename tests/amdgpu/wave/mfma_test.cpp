#include <gtest/gtest.h>

#include <algorithm>

#include "amdgpu/wave/matrix_testing.h"
#include "amdgpu/wave/wave_testing.h"

namespace wavegate::amdgpu::wave::testing {
namespace {

enum Targets : unsigned {
  GFX908 = 1,
  GFX90A = 2,
  GFX942 = 4,
  OLD = GFX908 | GFX90A,
  NEW = GFX90A | GFX942,
  LAST = GFX942,
  ALL = 7
};

struct Kernel {
  unsigned targets;
  const char* name;
  unsigned rows, columns, depth, blocks;
  const char *a, *b, *d;
  unsigned cbsz, abid, blgp;
};
constexpr Kernel kKernels[] = {
#define MFMA(targets, name, builtin, M, N, K, blocks, a, b, d, A, B, D, cbsz, abid, blgp) \
  {targets, #name, M, N, K, blocks, #a, #b, #d, cbsz, abid, blgp},
#include "amdgpu/wave/kernels/matrix.inc"
#undef MFMA
};

/// gfx942's floats of 8 bits are its own.
Format format_of(std::string_view name) {
  return parse_format(name == "fp8" ? "fp8_fnuz" : name == "bf8" ? "bf8_fnuz" : name);
}

/// Row or column `i` of a block, at `k`: lanes of all blocks hold a column, then those of the next columns.
Spot input_spot(unsigned length, unsigned depth, unsigned blocks, unsigned width, unsigned i, unsigned k,
                unsigned block) {
  const unsigned lanes_of_column = length * blocks;
  const unsigned in_lane = depth * lanes_of_column / 64;
  return {i + length * block + lanes_of_column * (k / in_lane), k % in_lane * width};
}
/// Four rows lie in four registers, the next four in the lanes beside; a row of f64 lies in one pair of them.
Spot output_spot(const Kernel& kernel, unsigned i, unsigned j, unsigned block) {
  const bool wide = format_of(kernel.d) == Format::f64;
  if (kernel.rows == 4) return wide ? Spot{j + 4 * block + 16 * i, 0} : Spot{j + 4 * block, 32 * i};
  const unsigned groups = 64 / kernel.columns;
  if (wide) return {j + kernel.columns * (i % groups), 64 * (i / groups)};
  const unsigned fours = i / 4;
  const unsigned registers_of_block = kernel.rows / groups;
  return {j + kernel.columns * (fours % groups), 32 * (block * registers_of_block + fours / groups * 4 + i % 4)};
}
/// The lane whose B a lane is given.
unsigned lane_of_b(unsigned blgp, unsigned lane) {
  constexpr unsigned kSixteens[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}, {1, 2, 3, 0},
                                        {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
  return kSixteens[blgp][lane / 16] * 16 + lane % 16;
}

/// Registers, what they hold, and the product that is wanted.
struct Problem {
  Registers a, b, c, d;
  std::vector<double> expected;  ///< by block, row, column
  std::vector<double> magnitude;
};

unsigned words_of(unsigned elements, Format format) {
  return elements * static_cast<unsigned>(float_format(format).bits) / 64 / 32;
}

Problem make_problem(const Kernel& kernel, std::mt19937& random, bool whole_numbers) {
  const Format fa = format_of(kernel.a), fb = format_of(kernel.b), fd = format_of(kernel.d);
  const unsigned M = kernel.rows, N = kernel.columns, K = kernel.depth, blocks = kernel.blocks;
  Problem problem{{64, words_of(M * K * blocks, fa)},
                  {64, words_of(K * N * blocks, fb)},
                  {64, words_of(M * N * blocks, fd)},
                  {64, words_of(M * N * blocks, fd)},
                  {},
                  {}};
  std::vector<double> a = distinct_numbers(fa, M * K * blocks, random),
                      b = distinct_numbers(fb, K * N * blocks, random);
  std::vector<double> c(M * N * blocks);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<double>(i) - 1000;
  std::shuffle(c.begin(), c.end(), random);
  if (!whole_numbers)
    for (double& number : c) number = static_cast<float>(number / 7);
  const unsigned wa = static_cast<unsigned>(float_format(fa).bits), wb = static_cast<unsigned>(float_format(fb).bits);
  const auto at_a = [&](unsigned block, unsigned i, unsigned k) { return (block * M + i) * K + k; };
  const auto at_b = [&](unsigned block, unsigned k, unsigned j) { return (block * K + k) * N + j; };
  for (unsigned block = 0; block < blocks; ++block) {
    for (unsigned k = 0; k < K; ++k) {
      for (unsigned i = 0; i < M; ++i)
        problem.a.put(input_spot(M, K, blocks, wa, i, k, block), fa, a[at_a(block, i, k)]);
      for (unsigned j = 0; j < N; ++j)
        problem.b.put(input_spot(N, K, blocks, wb, j, k, block), fb, b[at_b(block, k, j)]);
    }
    for (unsigned i = 0; i < M; ++i)
      for (unsigned j = 0; j < N; ++j) problem.c.put(output_spot(kernel, i, j, block), fd, c[(block * M + i) * N + j]);
  }
  const bool signs = fd == Format::f64;  // what blgp is there
  for (unsigned block = 0; block < blocks; ++block) {
    const unsigned shared = 1u << kernel.cbsz;
    const unsigned block_of_a = block / shared * shared + kernel.abid;
    for (unsigned i = 0; i < M; ++i)
      for (unsigned j = 0; j < N; ++j) {
        double sum = c[(block * M + i) * N + j] * (signs && (kernel.blgp & 4) != 0 ? -1 : 1),
               magnitude = std::fabs(sum);
        for (unsigned k = 0; k < K; ++k) {
          Spot spot = input_spot(N, K, blocks, wb, j, k, block);
          if (!signs) spot.lane = lane_of_b(kernel.blgp, spot.lane);
          double product = a[at_a(block_of_a, i, k)] * problem.b.get(spot, fb);
          if (signs && (kernel.blgp & 1) != 0) product = -product;
          if (signs && (kernel.blgp & 2) != 0) product = -product;
          sum += product;
          magnitude += std::fabs(product);
        }
        problem.expected.push_back(sum);
        problem.magnitude.push_back(magnitude);
      }
  }
  return problem;
}

class Mfma : public ::testing::TestWithParam<std::pair<const char*, unsigned>> {};

void run(Loaded& loaded, const Kernel& kernel, Problem& problem) {
  const auto report = run_kernel(loaded, {kernel.name, {64, 1, 1}, {64, 1, 1}},
                                 {loaded.map(problem.a.words(), "a"), loaded.map(problem.b.words(), "b"),
                                  loaded.map(problem.c.words(), "c"), loaded.map(problem.d.words(), "d")});
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_TRUE(report->findings.empty()) << kernel.name;
}

TEST_P(Mfma, EveryInstructionMultipliesMatricesOfWholeNumbersExactly) {
  const auto [target, mask] = GetParam();
  auto loaded = Loaded::open_kernels("matrix", target + std::string(".w64"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  std::mt19937 random(11);
  for (const Kernel& kernel : kKernels) {
    if ((kernel.targets & mask) == 0) continue;
    Problem problem = make_problem(kernel, random, true);
    run(**loaded, kernel, problem);
    for (unsigned block = 0, n = 0; block < kernel.blocks; ++block)
      for (unsigned i = 0; i < kernel.rows; ++i)
        for (unsigned j = 0; j < kernel.columns; ++j, ++n)
          ASSERT_EQ(problem.d.get(output_spot(kernel, i, j, block), format_of(kernel.d)), problem.expected[n])
              << kernel.name << " on " << target << ", block " << block << " row " << i << " column " << j;
  }
}

TEST_P(Mfma, SumsThatAreRoundedLieWithinARoundingOfEachTerm) {
  const auto [target, mask] = GetParam();
  auto loaded = Loaded::open_kernels("matrix", target + std::string(".w64"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  std::mt19937 random(12);
  unsigned inexact = 0;
  for (const Kernel& kernel : kKernels) {
    if ((kernel.targets & mask) == 0 || std::string_view(kernel.d) != "f32" || kernel.blgp != 0) continue;
    Problem problem = make_problem(kernel, random, false);
    run(**loaded, kernel, problem);
    for (unsigned block = 0, n = 0; block < kernel.blocks; ++block)
      for (unsigned i = 0; i < kernel.rows; ++i)
        for (unsigned j = 0; j < kernel.columns; ++j, ++n) {
          const double difference = problem.d.get(output_spot(kernel, i, j, block), Format::f32) - problem.expected[n];
          inexact += difference != 0 ? 1 : 0;
          ASSERT_LE(std::fabs(difference), problem.magnitude[n] * kernel.depth * 0x1p-24) << kernel.name;
        }
  }
  EXPECT_GT(inexact, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Targets, Mfma,
                         ::testing::Values(std::pair{"gfx908", unsigned{GFX908}}, std::pair{"gfx90a", unsigned{GFX90A}},
                                           std::pair{"gfx942", unsigned{GFX942}}),
                         [](const auto& test) { return std::string(test.param.first); });

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
