#include <gtest/gtest.h>

#include <algorithm>

#include "amdgpu/wave/matrix_testing.h"
#include "amdgpu/wave/wave_testing.h"

namespace wavegate::amdgpu::wave::testing {
namespace {

struct Kernel {
  bool on_gfx9;
  const char* name;
  unsigned rows, columns, depth;
  Format a, b, d;
  unsigned first_bit;  ///< of the index; of SMFMAC the set
  bool clamps;
};
const Kernel kKernels[] = {
#define SMFMAC(name, builtin, M, N, K, a, b, d, A, B, D, cbsz, abid) \
  {true, #name, M, N, K, parse_format(#a), parse_format(#b), parse_format(#d), (cbsz) == 0 ? (abid) : 0, false},
#define SWMMAC(name, builtin, K, a, b, d, A32, B32, D32, A64, B64, D64, shift) \
  {false, #name, 16, 16, K, parse_format(#a), parse_format(#b), parse_format(#d), shift, false},
#define SWMMAC_INTEGERS(name, builtin, K, a, b, A32, B32, D32, A64, B64, D64, shift, signed_a, signed_b, clamp) \
  {false, #name, 16, 16, K, parse_format(#a), parse_format(#b), Format::i32, shift, clamp},
#include "amdgpu/wave/kernels/sparse.inc"
#undef SMFMAC
#undef SWMMAC
#undef SWMMAC_INTEGERS
};

struct Machine {
  const char* object;
  bool is_gfx9;
  unsigned lanes;
};

unsigned width_of(Format format) {
  return static_cast<unsigned>(float_format(format).bits);
}
/// Where the two stored elements of the group that `k` is in lie: the first, and the two index bits of it.
struct Stored {
  Spot spot, index;
};
Stored stored_spot(const Machine& machine, const Kernel& kernel, unsigned i, unsigned k) {
  const unsigned width = width_of(kernel.a), group = k / 4;
  if (machine.is_gfx9) {
    const unsigned in_lane = kernel.depth / 2 * kernel.rows / 64;
    const unsigned first = group * 2;
    const Spot spot{i + kernel.rows * (first / in_lane), first % in_lane * width};
    return {spot, {spot.lane, (first % in_lane + kernel.first_bit * in_lane) * 2}};
  }
  unsigned lane = 0, bit = 0, index = 0;
  if (machine.lanes == 32) {
    lane = width == 16 ? 16 * (k / 8 % 2) : kernel.depth == 32 ? 16 * (k / 16) : 16 * (k / 32);
    bit = width == 16  ? 32 * (2 * (k / 16) + group % 2)
          : width == 8 ? 32 * (k / 8 % 2) + 16 * (group % 2)
                       : (kernel.depth == 64 ? 32 * (k / 16 % 2) : 0) + 8 * (group % 4);
    index = width == 16 ? 8 * (k / 16) + 4 * (group % 2) : kernel.depth == 32 ? 4 * (group % 4) : 4 * (group % 8);
  } else {
    lane = width == 16                        ? 16 * (k / 8)
           : width == 4 && kernel.depth == 32 ? 16 * (k / 16)
           : width == 8                       ? 32 * (k / 8 % 2) + 16 * (k / 16)
                                              : 32 * (k / 16 % 2) + 16 * (k / 32);
    bit = width == 16 ? 32 * (group % 2) : width == 8 ? 16 * (group % 2) : 8 * (group % 4);
    index = width == 4 ? 4 * (group % 4) : 4 * (group % 2);
  }
  return {{i + lane, bit}, {i + lane, index + kernel.first_bit}};
}
Spot input_spot(const Machine& machine, const Kernel& kernel, unsigned j, unsigned k) {
  const unsigned width = width_of(kernel.b);
  if (machine.is_gfx9) {
    const unsigned in_lane = kernel.depth * kernel.columns / 64;
    return {j + kernel.columns * (k / in_lane), k % in_lane * width};
  }
  const unsigned in_register = k % (32 / width) * width;
  if (machine.lanes == 32) {
    if (width == 16) return {j + 16 * (k / 8 % 2), 32 * (4 * (k / 16) + k / 2 % 4) + in_register};
    if (width == 8) return {j + 16 * (k / 16), 32 * (k / 4 % 4) + in_register};
    if (kernel.depth == 32) return {j + 16 * (k / 16), 32 * (k / 8 % 2) + in_register};
    return {j + 16 * (k / 32), 32 * (k / 8 % 4) + in_register};
  }
  if (width == 16) return {j + 16 * (k / 8), 32 * (k / 2 % 4) + in_register};
  if (width == 8) return {j + 32 * (k / 8 % 2) + 16 * (k / 16), 32 * (k / 4 % 2) + in_register};
  if (kernel.depth == 32) return {j + 32 * (k / 8 % 2) + 16 * (k / 16), in_register};
  return {j + 32 * (k / 16 % 2) + 16 * (k / 32), 32 * (k / 8 % 2) + in_register};
}
Spot output_spot(const Machine& machine, const Kernel& kernel, unsigned i, unsigned j) {
  if (machine.is_gfx9) {
    const unsigned groups = 64 / kernel.columns;
    return {j + kernel.columns * (i / 4 % groups), 32 * (i / 4 / groups * 4 + i % 4)};
  }
  return output_spot_of_gfx12(machine.lanes, width_of(kernel.d), i, j);
}

class Sparse : public ::testing::TestWithParam<Machine> {};

TEST_P(Sparse, EveryInstructionMultipliesStoredElementsWithTheRowsThatTheirIndexNames) {
  const Machine machine = GetParam();
  auto loaded = Loaded::open_kernels("sparse", machine.object);
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  std::mt19937 random(17);
  for (const Kernel& kernel : kKernels) {
    if (kernel.on_gfx9 != machine.is_gfx9) continue;
    const unsigned M = kernel.rows, N = kernel.columns, K = kernel.depth;
    const auto words = [&](unsigned elements, Format format) {
      return std::max(elements * width_of(format) / machine.lanes / 32, 1u);
    };
    Registers a(machine.lanes, words(M * K / 2, kernel.a)), b(machine.lanes, words(N * K, kernel.b)),
        c(machine.lanes, words(M * N, kernel.d)), d(machine.lanes, words(M * N, kernel.d));
    std::vector<std::uint32_t> indices(machine.lanes, 0);
    const int bits = bits_of_factors(kernel.d);
    const auto stored = distinct_numbers(kernel.a, M * K / 2, random, bits),
               numbers_b = distinct_numbers(kernel.b, N * K, random, bits);
    std::vector<double> numbers_a(M * K), numbers_c(M * N);
    for (std::size_t i = 0; i < numbers_c.size(); ++i)
      numbers_c[i] = static_cast<double>(i % 256) - 128 + (kernel.clamps ? 2147483500.0 : 0);
    std::shuffle(numbers_c.begin(), numbers_c.end(), random);
    for (unsigned i = 0; i < M; ++i) {
      for (unsigned k = 0; k < K; k += 4) {
        const unsigned first = static_cast<unsigned>(random()) % 3;
        const unsigned second = first + 1 + static_cast<unsigned>(random()) % (3 - first);
        const Stored place = stored_spot(machine, kernel, i, k);
        const unsigned width = width_of(kernel.a);
        numbers_a[i * K + k + first] = stored[i * K / 2 + k / 2];
        numbers_a[i * K + k + second] = stored[i * K / 2 + k / 2 + 1];
        a.put(place.spot, kernel.a, stored[i * K / 2 + k / 2]);
        a.put({place.spot.lane, place.spot.bit + width}, kernel.a, stored[i * K / 2 + k / 2 + 1]);
        indices[place.index.lane] |= (first | second << 2) << place.index.bit;
      }
      for (unsigned j = 0; j < N; ++j) c.put(output_spot(machine, kernel, i, j), kernel.d, numbers_c[i * N + j]);
    }
    for (unsigned k = 0; k < K; ++k)
      for (unsigned j = 0; j < N; ++j) b.put(input_spot(machine, kernel, j, k), kernel.b, numbers_b[k * N + j]);
    const auto report =
        run_kernel(**loaded, {kernel.name, {machine.lanes, 1, 1}, {machine.lanes, 1, 1}},
                   {(*loaded)->map(a.words(), "a"), (*loaded)->map(b.words(), "b"), (*loaded)->map(c.words(), "c"),
                    (*loaded)->map(indices, "index"), (*loaded)->map(d.words(), "d")});
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_TRUE(report->findings.empty()) << kernel.name;
    for (unsigned i = 0; i < M; ++i)
      for (unsigned j = 0; j < N; ++j) {
        double expected = numbers_c[i * N + j];
        for (unsigned k = 0; k < K; ++k) expected += numbers_a[i * K + k] * numbers_b[k * N + j];
        if (kernel.clamps) expected = std::clamp(expected, -2147483648.0, 2147483647.0);
        ASSERT_EQ(d.get(output_spot(machine, kernel, i, j), kernel.d), expected)
            << kernel.name << " in " << machine.object << ", row " << i << " column " << j;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Sparse,
                         ::testing::Values(Machine{"gfx942.w64", true, 64}, Machine{"gfx1200.w32", false, 32},
                                           Machine{"gfx1200.w64", false, 64}),
                         [](const auto& test) { return test_name(test.param.object); });

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
