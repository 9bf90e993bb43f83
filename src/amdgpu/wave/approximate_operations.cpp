#include <array>
#include <cmath>

#include "wavegate/amdgpu/wave/kernel.h"
#include "wavegate/amdgpu/wave/numeric.h"

/// What hardware computes to within a bound. f32 results are computed in f64 and rounded, which is the nearest f32 but
/// for about one argument in 2^28; f64 results in long double where C's are not correctly rounded themselves.
namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
constexpr Exactness kApproximate = Exactness::approximate;

/// The sine or cosine of so many full turns. Turns are reduced exactly, so that quarters of them give exact results.
double sine_of_turns(double turns, double quarters_ahead) {
  if (!std::isfinite(turns)) return real(kDefaultNan<double>);
  constexpr double kHalfPi = 1.57079632679489661923;
  const double quarters = (turns - std::floor(turns)) * 4.0;
  const double nearest = std::floor(quarters + 0.5);
  const double angle = (quarters - nearest) * kHalfPi;
  switch (static_cast<int>(nearest + quarters_ahead) & 3) {
    case 0: return std::sin(angle);
    case 1: return std::cos(angle);
    case 2: return -std::sin(angle);
    default: return -std::cos(angle);
  }
}
float sine(float turns) {
  if (is_nan(turns)) return quieted(turns);
  return is_zero(turns) ? turns : static_cast<float>(sine_of_turns(turns, 0));
}
float cosine(float turns) {
  return is_nan(turns) ? quieted(turns) : static_cast<float>(sine_of_turns(turns, 1));
}
float power_of_two(float value) {
  return is_nan(value) ? quieted(value) : static_cast<float>(std::exp2(static_cast<double>(value)));
}
float logarithm(float value) {
  return is_nan(value) ? quieted(value)
         : value < 0   ? real(kDefaultNan<float>)
                       : static_cast<float>(std::log2(static_cast<double>(value)));
}
WAVEGATE_LANE float reciprocal_root(float value) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(value)));
}
double reciprocal_root(double value) {
  return static_cast<double>(1.0L / std::sqrt(static_cast<long double>(value)));
}

// clang-format off
constexpr std::array kRows{
    operation<[](float a) { return 1.0f / a; }>(v_rcp_f32, kApproximate),
    operation<[](float a) { return 1.0f / a; }>(v_rcp_iflag_f32, kApproximate),
    operation<[](double a) { return 1.0 / a; }>(v_rcp_f64, kApproximate),
    operation<[](F16 a) { return F16{1.0f / a.value}; }>(v_rcp_f16, kApproximate),
    operation<[](float a) { return std::sqrt(a); }>(v_sqrt_f32, kApproximate),
    operation<[](double a) { return std::sqrt(a); }>(v_sqrt_f64, kApproximate),
    operation<[](F16 a) { return F16{std::sqrt(a.value)}; }>(v_sqrt_f16, kApproximate),
    operation<[](float a) { return reciprocal_root(a); }>(v_rsq_f32, kApproximate),
    operation<[](double a) { return reciprocal_root(a); }>(v_rsq_f64, kApproximate),
    operation<[](F16 a) { return F16{reciprocal_root(a.value)}; }>(v_rsq_f16, kApproximate),
    operation<[](float a) { return power_of_two(a); }>(v_exp_f32, kApproximate),
    operation<[](float a) { return power_of_two(a); }>(v_exp_legacy_f32, kApproximate),
    operation<[](F16 a) { return F16{power_of_two(a.value)}; }>(v_exp_f16, kApproximate),
    operation<[](float a) { return logarithm(a); }>(v_log_f32, kApproximate),
    operation<[](float a) { return logarithm(a); }>(v_log_legacy_f32, kApproximate),
    operation<[](F16 a) { return F16{logarithm(a.value)}; }>(v_log_f16, kApproximate),
    operation<[](float a) { return sine(a); }>(v_sin_f32, kApproximate),
    operation<[](F16 a) { return F16{sine(a.value)}; }>(v_sin_f16, kApproximate),
    operation<[](float a) { return cosine(a); }>(v_cos_f32, kApproximate),
    operation<[](F16 a) { return F16{cosine(a.value)}; }>(v_cos_f16, kApproximate),
};
// clang-format on

}  // namespace

std::span<const Operation> approximate_operations() {
  return kRows;
}

}  // namespace wavegate::amdgpu::wave
