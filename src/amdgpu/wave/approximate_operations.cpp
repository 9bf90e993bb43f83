#include <algorithm>
#include <array>
#include <cmath>

#include "wavegate/amdgpu/wave/kernel.h"
#include "wavegate/amdgpu/wave/numeric.h"

/// What hardware computes to within a bound. f32 and f16 results are computed in f64 and rounded, which is the nearest
/// but for about one argument in 2^28; f64 results in long double where C's are not correctly rounded themselves.
namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
constexpr Exactness kApproximate = Exactness::approximate;

/// The sine or cosine of so many full turns. Turns are reduced exactly, so that quarters of them give exact results.
double sine_of_turns(double turns, double quarters_ahead) {
  if (!std::isfinite(turns)) return real(kDefaultNan<double>);
  constexpr double kHalfPi = 1.57079632679489661923;
  // Exact, and of small turns as small: what is left of a whole turn has their sign.
  const double quarters = std::fmod(turns, 1.0) * 4.0;
  const double nearest = std::floor(quarters + 0.5);
  const double angle = (quarters - nearest) * kHalfPi;
  switch (static_cast<int>(nearest + quarters_ahead) & 3) {
    case 0: return std::sin(angle);
    case 1: return std::cos(angle);
    case 2: return -std::sin(angle);
    default: return -std::cos(angle);
  }
}
double sine(float turns) {
  if (is_nan(turns)) return quieted(turns);
  return is_zero(turns) ? turns : sine_of_turns(turns, 0);
}
double cosine(float turns) {
  return is_nan(turns) ? quieted(turns) : sine_of_turns(turns, 1);
}
/// gfx9 takes 256 turns at most.
bool is_in_range(float turns) {
  return !(absolute(turns) > 256.0f) || is_infinite(turns);
}
float sine_in_range(float turns) {
  return is_in_range(turns) ? static_cast<float>(sine(turns)) : 0.0f;
}
float cosine_in_range(float turns) {
  return is_in_range(turns) ? static_cast<float>(cosine(turns)) : 1.0f;
}
double power_of_two(float value) {
  return is_nan(value) ? quieted(value) : std::exp2(static_cast<double>(value));
}
double logarithm(float value) {
  return is_nan(value) ? quieted(value) : value < 0 ? real(kDefaultNan<float>) : std::log2(static_cast<double>(value));
}
WAVEGATE_LANE double reciprocal_root(float value) {
  return 1.0 / std::sqrt(static_cast<double>(value));
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
    operation<[](float a) { return static_cast<float>(reciprocal_root(a)); }>(v_rsq_f32, kApproximate),
    operation<[](double a) { return reciprocal_root(a); }>(v_rsq_f64, kApproximate),
    operation<[](F16 a) { return F16{sticky_float(reciprocal_root(a.value))}; }>(v_rsq_f16, kApproximate),
    operation<[](float a) { return static_cast<float>(power_of_two(a)); }>(v_exp_f32, kApproximate),
    operation<[](float a) { return static_cast<float>(power_of_two(a)); }>(v_exp_legacy_f32, kApproximate),
    operation<[](F16 a) { return F16{sticky_float(power_of_two(a.value))}; }>(v_exp_f16, kApproximate),
    operation<[](float a) { return static_cast<float>(logarithm(a)); }>(v_log_f32, kApproximate),
    operation<[](float a) { return static_cast<float>(logarithm(a)); }>(v_log_legacy_f32, kApproximate),
    operation<[](F16 a) { return F16{sticky_float(logarithm(a.value))}; }>(v_log_f16, kApproximate),
    operation<[](float a) { return static_cast<float>(sine(a)); }>(v_sin_f32, kApproximate),
    operation<[](F16 a) { return F16{sticky_float(sine(a.value))}; }>(v_sin_f16, kApproximate),
    operation<[](float a) { return static_cast<float>(cosine(a)); }>(v_cos_f32, kApproximate),
    operation<[](F16 a) { return F16{sticky_float(cosine(a.value))}; }>(v_cos_f16, kApproximate),
};
constexpr std::array kGfx9Rows{
    operation<[](float a) { return sine_in_range(a); }>(v_sin_f32, kApproximate),
    operation<[](float a) { return cosine_in_range(a); }>(v_cos_f32, kApproximate),
};
// clang-format on

}  // namespace

std::span<const Operation> approximate_operations() {
  return kRows;
}

const Operation* find_bounded_sine(isa::Opcode opcode) {
  const auto* const row = std::ranges::find(kGfx9Rows, opcode, &Operation::opcode);
  return row == kGfx9Rows.end() ? nullptr : row;
}

}  // namespace wavegate::amdgpu::wave
