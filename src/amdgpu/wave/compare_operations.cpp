#include <array>

#include "wavegate/amdgpu/wave/kernel.h"
#include "wavegate/amdgpu/wave/numeric.h"

namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

/// Of the bits themselves: as a float, a denormal f16 is none.
WAVEGATE_LANE bool is_of_half_class(u32 half, u32 mask) {
  const bool negative = (half & 0x8000u) != 0;
  const u32 exponent = half & 0x7c00u, fraction_bits = half & 0x3ffu;
  const u32 number = exponent == 0x7c00u  ? (negative ? 1u << 2 : 1u << 9)
                     : exponent != 0      ? (negative ? 1u << 3 : 1u << 8)
                     : fraction_bits != 0 ? (negative ? 1u << 4 : 1u << 7)
                                          : (negative ? 1u << 5 : 1u << 6);
  const u32 nan = (fraction_bits & 0x200u) != 0 ? 2u : 1u;
  return (((exponent == 0x7c00u && fraction_bits != 0) ? nan : number) & mask) != 0;
}

// v_cmpx has the row of v_cmp. The parameters bring parentheses of their own.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define WAVEGATE_COMPARE(name, parameters, expression) \
  operation<[] parameters { return static_cast<bool>(expression); }>(v_cmp_##name)
// NOLINTEND(bugprone-macro-parentheses)

#define WAVEGATE_COMPARE_INTEGERS(suffix, type, value)                     \
  WAVEGATE_COMPARE(lt_##suffix, (type a, type b), a value < b value),      \
      WAVEGATE_COMPARE(eq_##suffix, (type a, type b), a value == b value), \
      WAVEGATE_COMPARE(le_##suffix, (type a, type b), a value <= b value), \
      WAVEGATE_COMPARE(gt_##suffix, (type a, type b), a value > b value),  \
      WAVEGATE_COMPARE(ne_##suffix, (type a, type b), a value != b value), \
      WAVEGATE_COMPARE(ge_##suffix, (type a, type b), a value >= b value), \
      WAVEGATE_COMPARE(f_##suffix, (type, type), false), WAVEGATE_COMPARE(t_##suffix, (type, type), true)

#define WAVEGATE_COMPARE_FLOATS(suffix, type, value)                                               \
  WAVEGATE_COMPARE(lt_##suffix, (type a, type b), a value < b value),                              \
      WAVEGATE_COMPARE(eq_##suffix, (type a, type b), a value == b value),                         \
      WAVEGATE_COMPARE(le_##suffix, (type a, type b), a value <= b value),                         \
      WAVEGATE_COMPARE(gt_##suffix, (type a, type b), a value > b value),                          \
      WAVEGATE_COMPARE(lg_##suffix, (type a, type b), a value<b value || a value> b value),        \
      WAVEGATE_COMPARE(ge_##suffix, (type a, type b), a value >= b value),                         \
      WAVEGATE_COMPARE(o_##suffix, (type a, type b), !(is_nan(a value) || is_nan(b value))),       \
      WAVEGATE_COMPARE(u_##suffix, (type a, type b), is_nan(a value) || is_nan(b value)),          \
      WAVEGATE_COMPARE(nge_##suffix, (type a, type b), !(a value >= b value)),                     \
      WAVEGATE_COMPARE(nlg_##suffix, (type a, type b), !(a value < b value || a value > b value)), \
      WAVEGATE_COMPARE(ngt_##suffix, (type a, type b), !(a value > b value)),                      \
      WAVEGATE_COMPARE(nle_##suffix, (type a, type b), !(a value <= b value)),                     \
      WAVEGATE_COMPARE(neq_##suffix, (type a, type b), !(a value == b value)),                     \
      WAVEGATE_COMPARE(nlt_##suffix, (type a, type b), !(a value < b value)),                      \
      WAVEGATE_COMPARE(f_##suffix, (type, type), false), WAVEGATE_COMPARE(tru_##suffix, (type, type), true)

constexpr std::array kRows{
    WAVEGATE_COMPARE_INTEGERS(i32, i32, ),
    WAVEGATE_COMPARE_INTEGERS(u32, u32, ),
    WAVEGATE_COMPARE_INTEGERS(i64, i64, ),
    WAVEGATE_COMPARE_INTEGERS(u64, u64, ),
    WAVEGATE_COMPARE_INTEGERS(i16, I16, .value),
    WAVEGATE_COMPARE_INTEGERS(u16, U16, .value),
    WAVEGATE_COMPARE_FLOATS(f32, float, ),
    WAVEGATE_COMPARE_FLOATS(f64, double, ),
    WAVEGATE_COMPARE_FLOATS(f16, F16, .value),
    WAVEGATE_COMPARE(class_f32, (float a, u32 b), is_of_class(a, b)),
    WAVEGATE_COMPARE(class_f64, (double a, u32 b), is_of_class(a, b)),
    WAVEGATE_COMPARE(class_f16, (U16 a, u32 b), is_of_half_class(a.value, b)),
};

}  // namespace

std::span<const Operation> compare_operations() {
  return kRows;
}

}  // namespace wavegate::amdgpu::wave
