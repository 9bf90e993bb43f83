#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "amdgpu/wave/wave_testing.h"

/// Quotients and roots of floats are rounded once, whatever the operands: v_div_scale, v_div_fmas and v_div_fixup do
/// together what IEEE 754 says.
namespace wavegate::amdgpu::wave::testing {
namespace {

using u64 = std::uint64_t;

class Division : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr std::size_t kCount = 1 << 20;

  u64 random() {
    state_ += 0x9e3779b97f4a7c15u;
    u64 z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

  /// Any bits; special numbers; numbers of few digits, whose quotients are often near the middle of two floats; pairs
  /// whose quotient is denormal, or about to overflow.
  template <typename T>
  void fill(std::vector<T>& a, std::vector<T>& b) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, u64>;
    constexpr int kFraction = std::numeric_limits<T>::digits - 1, kBits = sizeof(T) * 8;
    constexpr Bits kExponents = (Bits{1} << (kBits - 1 - kFraction)) - 1;
    const auto any = [&] { return static_cast<Bits>(random()); };
    const auto with_exponent = [&](Bits bits, u64 exponent) {
      const Bits field = kExponents << kFraction;
      return std::bit_cast<T>(static_cast<Bits>((bits & ~field) | static_cast<Bits>(exponent) << kFraction));
    };
    using Limits = std::numeric_limits<T>;
    const T specials[] = {0,
                          T{1},
                          T{3},
                          Limits::infinity(),
                          Limits::quiet_NaN(),
                          Limits::min(),
                          Limits::denorm_min(),
                          Limits::max(),
                          Limits::min() / 2,
                          Limits::max() / 2,
                          T{0.5},
                          Limits::epsilon(),
                          Limits::min() * 3};
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = std::bit_cast<T>(any()), b[i] = std::bit_cast<T>(any());
      const u64 kind = random() % 6;
      if (kind == 1) a[i] = specials[random() % std::size(specials)] * (random() % 2 == 0 ? T{1} : T{-1});
      if (kind == 2) b[i] = specials[random() % std::size(specials)] * (random() % 2 == 0 ? T{1} : T{-1});
      if (kind == 3) a[i] = static_cast<T>(random() % 4096), b[i] = static_cast<T>(random() % 4096);
      if (kind < 4) continue;
      // Exponents so far apart that the quotient is at one end of the range.
      const u64 bias = kExponents / 2, low = random() % bias, more = random() % (kFraction + 4);
      if (kind == 4)
        a[i] = with_exponent(any(), low),
        b[i] = with_exponent(any(), std::min<u64>(low + bias - 3 + more, kExponents - 1));
      if (kind == 5)
        b[i] = with_exponent(any(), low),
        a[i] = with_exponent(any(), std::min<u64>(low + bias - 2 + more % 4, kExponents - 1));
    }
  }

  template <typename T>
  void check(const std::string& kernel, T (*expected)(T, T)) {
    auto loaded = Loaded::open_kernels("division", GetParam());
    ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
    std::vector<T> a(kCount), b(kCount), out(kCount);
    fill(a, b);
    const auto map = [&](std::vector<T>& values, const char* name) {
      return (*loaded)->memory.map(std::as_writable_bytes(std::span(values)), name);
    };
    const u64 x = map(a, "a"), y = map(b, "b"), z = map(out, "out");
    const auto report = run_kernel(**loaded, {kernel, {kCount, 1, 1}, {256, 1, 1}}, {x, y, z});
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    for (std::size_t i = 0; i < kCount; ++i) {
      const T wanted = expected(a[i], b[i]);
      if (std::isnan(wanted) && std::isnan(out[i])) continue;
      ASSERT_TRUE(wanted == out[i] && std::signbit(wanted) == std::signbit(out[i]))
          << std::hexfloat << kernel << " of " << a[i] << " and " << b[i] << ": " << out[i] << ", not " << wanted;
    }
  }

 private:
  u64 state_ = 11;
};

TEST_P(Division, QuotientsOfSingleFloatsAreRoundedOnce) {
  check<float>("divide_f32", [](float a, float b) { return a / b; });
}
TEST_P(Division, QuotientsOfDoubleFloatsAreRoundedOnce) {
  check<double>("divide_f64", [](double a, double b) { return a / b; });
}
TEST_P(Division, RootsOfSingleFloatsAreRoundedOnce) {
  check<float>("root_f32", [](float a, float) { return std::sqrt(a); });
}
TEST_P(Division, RootsOfDoubleFloatsAreRoundedOnce) {
  check<double>("root_f64", [](double a, double) { return std::sqrt(a); });
}

INSTANTIATE_TEST_SUITE_P(Targets, Division, ::testing::Values("gfx900.w64", "gfx1030.w32", "gfx1100.w32"),
                         [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
