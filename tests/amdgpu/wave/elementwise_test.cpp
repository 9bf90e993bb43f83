#include <gmock/gmock.h>

#include <random>

#include "amdgpu/wave/wave_testing.h"

// elementwise_host.c
extern "C" {
#define KERNEL(name, ...) void host_##name(const unsigned* a, const unsigned* b, unsigned* out, unsigned n);
#include "amdgpu/wave/kernels/elementwise.inc"
#undef KERNEL
}

namespace wavegate::amdgpu::wave::testing {
namespace {

struct Kernel {
  const char* name;
  void (*on_host)(const unsigned*, const unsigned*, unsigned*, unsigned);
};
constexpr Kernel kKernels[] = {
#define KERNEL(name, ...) {#name, host_##name},
#include "amdgpu/wave/kernels/elementwise.inc"
#undef KERNEL
};

/// Random words with those among them that are special as numbers of some kind, and neighbours.
std::vector<std::uint32_t> random_words(std::mt19937& random, std::size_t count) {
  constexpr std::uint32_t kSpecial[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                        0x7fc00000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff,
                                        0xffffffff, 0x7fffffff, 0x3c003c00, 0x7c000400, 0x00010001};
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& word : words) {
    word = static_cast<std::uint32_t>(random());
    if (random() % 4 == 0) word = kSpecial[random() % std::size(kSpecial)];
    if (random() % 5 == 0) word = (word & 0x8fffffff) | 0x30000000;
  }
  return words;
}

class Elementwise : public ::testing::TestWithParam<const char*> {};

TEST_P(Elementwise, KernelsGiveWhatTheHostGivesFromTheSameSource) {
  auto loaded = Loaded::open_kernels("elementwise", GetParam());
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  constexpr std::uint32_t kCount = 1000;
  std::mt19937 random(7);
  std::vector<std::uint32_t> a = random_words(random, kCount), b = random_words(random, kCount), out(kCount),
                             expected(kCount);
  for (std::size_t i = 0; i < kCount; i += 5) b[i] = a[i] + static_cast<std::uint32_t>(random() % 3) - 1;
  const std::uint64_t x = (*loaded)->map(a, "a"), y = (*loaded)->map(b, "b"), z = (*loaded)->map(out, "out");
  for (const Kernel& kernel : kKernels) {
    std::ranges::fill(out, 0);
    std::ranges::fill(expected, 0);
    kernel.on_host(a.data(), b.data(), expected.data(), kCount);
    // Groups of three waves in wave32, of one and a half in wave64, and a partial one at the end.
    const auto report = run_kernel(**loaded, {kernel.name, {kCount, 1, 1}, {96, 1, 1}}, {x, y, z, kCount});
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_TRUE(report->findings.empty()) << kernel.name;
    for (std::size_t i = 0; i < kCount; ++i)
      ASSERT_EQ(out[i], expected[i]) << kernel.name << " of " << std::hex << a[i] << " and " << b[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Elementwise, kEveryTarget, [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
