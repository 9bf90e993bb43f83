#include <gtest/gtest.h>

#include <algorithm>

#include "amdgpu/wave/matrix_testing.h"
#include "amdgpu/wave/wave_testing.h"

namespace wavegate::amdgpu::wave::testing {
namespace {

enum Targets : unsigned { GFX11 = 11, GFX12 = 12 };

struct Kernel {
  unsigned target;
  const char* name;
  unsigned depth;
  Format a, b, d;
  bool negates_a, negates_c, absolute_c;
  unsigned high;
  bool clamps;
};
constexpr bool is_minus(const char* sign) {
  return *sign == '-';
}
const Kernel kKernels[] = {
#define FLOATS(target, name, builtin, K, a, b, d, A32, B32, D32, A64, B64, D64, sign_a, sign_c, absolute) \
  {target,                                                                                                \
   "wmma_" #name,                                                                                         \
   K,                                                                                                     \
   parse_format(#a),                                                                                      \
   parse_format(#b),                                                                                      \
   parse_format(#d),                                                                                      \
   is_minus(#sign_a),                                                                                     \
   is_minus(#sign_c),                                                                                     \
   absolute,                                                                                              \
   0,                                                                                                     \
   false},
#define HALVES(name, builtin, K, a, d, A32, D32, A64, D64, high) \
  {GFX11, "wmma_" #name, K, parse_format(#a), parse_format(#a), parse_format(#d), false, false, false, high, false},
#define INTEGERS(target, name, builtin, K, a, b, A32, B32, D32, A64, B64, D64, signed_a, signed_b, clamp) \
  {target, "wmma_" #name, K, parse_format(#a), parse_format(#b), Format::i32, false, false, false, 0, clamp},
#include "amdgpu/wave/kernels/wmma.inc"
#undef FLOATS
#undef HALVES
#undef INTEGERS
};

struct Machine {
  const char* object;
  unsigned target, lanes;
};

/// Registers of a lane that a source has.
unsigned input_words(const Machine& machine, unsigned depth, unsigned width) {
  const unsigned bits = machine.target == GFX11 ? depth * width : std::max(depth * width * 16 / machine.lanes, 32u);
  return bits / 32;
}
/// Row or column `i` at `k`, as gfx12 has it.
Spot input_spot(unsigned lanes, unsigned depth, unsigned width, unsigned i, unsigned k) {
  if (lanes == 32) {
    if (width == 16) return {i + 16 * (k / 4 % 2), 32 * (2 * (k / 8) + k / 2 % 2) + 16 * (k % 2)};
    if (width == 8) return {i + 16 * (k / 8), 32 * (k / 4 % 2) + 8 * (k % 4)};
    if (depth == 16) return {i + 16 * (k / 8), 4 * (k % 8)};
    return {i + 16 * (k / 16), 32 * (k / 8 % 2) + 4 * (k % 8)};
  }
  if (width == 16) return {i + 32 * (k / 8) + 16 * (k / 4 % 2), 32 * (k / 2 % 2) + 16 * (k % 2)};
  if (width == 8) return {i + 32 * (k / 4 % 2) + 16 * (k / 8), 8 * (k % 4)};
  if (depth == 16) return {i + 16 * (k / 8), 4 * (k % 8)};
  return {i + 32 * (k / 8 % 2) + 16 * (k / 16), 4 * (k % 8)};
}
void put_input(const Machine& machine, const Kernel& kernel, Registers& registers, Format format, unsigned i,
               unsigned k, double value) {
  const unsigned width = static_cast<unsigned>(float_format(format).bits);
  if (machine.target == GFX12)
    return registers.put(input_spot(machine.lanes, kernel.depth, width, i, k), format, value);
  // Each sixteen lanes hold the whole of it.
  for (unsigned lane = i; lane < machine.lanes; lane += 16) registers.put({lane, k * width}, format, value);
}
Spot output_spot(const Machine& machine, const Kernel& kernel, unsigned i, unsigned j) {
  if (machine.target == GFX11) {
    const unsigned rows = machine.lanes / 16;
    return {j + 16 * (i % rows), 32 * (i / rows) + 16 * kernel.high};
  }
  return output_spot_of_gfx12(machine.lanes, static_cast<unsigned>(float_format(kernel.d).bits), i, j);
}

class Wmma : public ::testing::TestWithParam<Machine> {};

TEST_P(Wmma, EveryInstructionMultipliesMatricesOfWholeNumbersExactly) {
  const Machine machine = GetParam();
  auto loaded = Loaded::open_kernels("wmma", machine.object);
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  std::mt19937 random(13);
  for (const Kernel& kernel : kKernels) {
    if (kernel.target != machine.target) continue;
    const unsigned K = kernel.depth;
    const unsigned output_words =
        machine.target == GFX11 || float_format(kernel.d).bits == 32 ? 256 / machine.lanes : 128 / machine.lanes;
    Registers a(machine.lanes, input_words(machine, K, static_cast<unsigned>(float_format(kernel.a).bits)));
    Registers b(machine.lanes, input_words(machine, K, static_cast<unsigned>(float_format(kernel.b).bits)));
    Registers c(machine.lanes, output_words), d(machine.lanes, output_words);
    const int bits = bits_of_factors(kernel.d);
    const auto numbers_a = distinct_numbers(kernel.a, 16 * K, random, bits),
               numbers_b = distinct_numbers(kernel.b, 16 * K, random, bits);
    std::vector<double> numbers_c(256);
    for (std::size_t i = 0; i < 256; ++i) {
      numbers_c[i] = static_cast<double>(i) - 128;
      if (kernel.clamps) numbers_c[i] += i % 2 != 0 ? 2147483000.0 : -2147483000.0;
    }
    std::shuffle(numbers_c.begin(), numbers_c.end(), random);
    for (unsigned i = 0; i < 16; ++i) {
      for (unsigned k = 0; k < K; ++k) {
        put_input(machine, kernel, a, kernel.a, i, k, numbers_a[i * K + k]);
        put_input(machine, kernel, b, kernel.b, i, k, numbers_b[k * 16 + i]);
      }
      for (unsigned j = 0; j < 16; ++j) c.put(output_spot(machine, kernel, i, j), kernel.d, numbers_c[i * 16 + j]);
    }
    const auto report = run_kernel(**loaded, {kernel.name, {machine.lanes, 1, 1}, {machine.lanes, 1, 1}},
                                   {(*loaded)->map(a.words(), "a"), (*loaded)->map(b.words(), "b"),
                                    (*loaded)->map(c.words(), "c"), (*loaded)->map(d.words(), "d")});
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_TRUE(report->findings.empty()) << kernel.name;
    for (unsigned i = 0; i < 16; ++i)
      for (unsigned j = 0; j < 16; ++j) {
        double expected = numbers_c[i * 16 + j];
        if (kernel.absolute_c) expected = std::fabs(expected);
        if (kernel.negates_c) expected = -expected;
        for (unsigned k = 0; k < K; ++k)
          expected += (kernel.negates_a ? -1 : 1) * numbers_a[i * K + k] * numbers_b[k * 16 + j];
        if (kernel.clamps) expected = std::clamp(expected, -2147483648.0, 2147483647.0);
        ASSERT_EQ(d.get(output_spot(machine, kernel, i, j), kernel.d), expected)
            << kernel.name << " in " << machine.object << ", row " << i << " column " << j;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Wmma,
                         ::testing::Values(Machine{"gfx1100.w32", GFX11, 32}, Machine{"gfx1100.w64", GFX11, 64},
                                           Machine{"gfx1200.w32", GFX12, 32}, Machine{"gfx1200.w64", GFX12, 64}),
                         [](const auto& test) { return test_name(test.param.object); });

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
