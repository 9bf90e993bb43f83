#include <array>
#include <bit>
#include <cmath>

#include "wavegate/amdgpu/wave/numeric.h"
#include "wavegate/amdgpu/wave/step.h"

/// Scalar arithmetic. Each function has two operands of 32 or 64 bits, zero where there is none, and SCC.
namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

/// What an operation may look at and change besides its operands.
struct Scalars {
  u32& scc;
  u64 third = 0;  ///< the third operand, or the destination's old value
};

template <auto function>
const Step* run(Wave& wave, const Step& step) {
  Scalars scalars{wave.scc, read(wave, step.sources[2])};
  const u64 result = function(read(wave, step.sources[0]), read(wave, step.sources[1]), scalars);
  if (step.destination.mode == SourceMode::scalar) write(wave, step.destination, result);
  return step.next;
}

/// SCC is whether the result is not zero, of as many bits as it has.
template <typename T, auto function>
const Step* run_logic(Wave& wave, const Step& step) {
  const T result = static_cast<T>(
      function(static_cast<T>(read(wave, step.sources[0])), static_cast<T>(read(wave, step.sources[1]))));
  write(wave, step.destination, static_cast<u64>(result));
  wave.scc = result != 0 ? 1 : 0;
  return step.next;
}

template <typename T, auto function>
const Step* run_compare(Wave& wave, const Step& step) {
  wave.scc = function(static_cast<T>(read(wave, step.sources[0])), static_cast<T>(read(wave, step.sources[1]))) ? 1 : 0;
  return step.next;
}

/// D = exec, exec = function(source, exec), SCC = exec != 0.
template <typename T, bool saves, auto function>
const Step* run_exec(Wave& wave, const Step& step) {
  const T source = static_cast<T>(read(wave, step.sources[0]));
  const T old = sizeof(T) == 8 ? static_cast<T>(wave.pair(scalar::kExec)) : static_cast<T>(wave.scalars[scalar::kExec]);
  const T exec = static_cast<T>(function(source, old));
  wave.scalars[scalar::kExec] = static_cast<u32>(exec);
  if constexpr (sizeof(T) == 8) wave.scalars[scalar::kExec + 1] = static_cast<u32>(exec >> 32);
  write(wave, step.destination, saves ? old : exec);
  wave.scc = exec != 0 ? 1 : 0;
  return step.next;
}

constexpr auto kAnd = [](auto a, auto b) { return a & b; };
constexpr auto kOr = [](auto a, auto b) { return a | b; };
constexpr auto kXor = [](auto a, auto b) { return a ^ b; };
constexpr auto kAndNot = [](auto a, auto b) { return a & ~b; };
constexpr auto kOrNot = [](auto a, auto b) { return a | ~b; };
constexpr auto kNotAnd = [](auto a, auto b) { return ~a & b; };
constexpr auto kNotOr = [](auto a, auto b) { return ~a | b; };
constexpr auto kNand = [](auto a, auto b) { return ~(a & b); };
constexpr auto kNor = [](auto a, auto b) { return ~(a | b); };
constexpr auto kXnor = [](auto a, auto b) { return ~(a ^ b); };
constexpr auto kNot = [](auto a, auto) { return ~a; };
constexpr auto kShiftLeft = [](auto a, auto b) { return a << (b & (sizeof(a) * 8 - 1)); };
constexpr auto kShiftRight = [](auto a, auto b) { return a >> (b & static_cast<decltype(b)>(sizeof(a) * 8 - 1)); };

template <typename T>
T wide_or(u64 a) {
  // s_wqm: each group of four bits is all ones if any is.
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; i += 4)
    if ((a >> i & 0xf) != 0) result |= T{0xf} << i;
  return result;
}
template <typename T>
T quad_mask(u64 a) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8 / 4; ++i)
    if ((a >> (i * 4) & 0xf) != 0) result |= T{1} << i;
  return result;
}
template <typename T>
T reverse(T value) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) result |= (value >> i & 1) << (sizeof(T) * 8 - 1 - i);
  return result;
}
template <typename T>
u64 extract_bits(T value, u64 field) {
  constexpr unsigned kBits = sizeof(T) * 8;
  const unsigned offset = static_cast<unsigned>(field) & (kBits - 1);
  const unsigned width = std::min(static_cast<unsigned>(field >> 16) & 0x7f, kBits);
  if (width == 0) return 0;
  // What lies beyond the value's end is zero, or its sign.
  const T shifted = static_cast<T>(value >> offset);
  if (width + offset >= kBits) return static_cast<u64>(static_cast<std::make_unsigned_t<T>>(shifted));
  const unsigned unused = kBits - width;
  const T result = static_cast<T>(static_cast<T>(static_cast<std::make_unsigned_t<T>>(shifted) << unused) >> unused);
  return static_cast<u64>(static_cast<std::make_unsigned_t<T>>(result));
}
u64 replicate(u64 a) {
  u64 result = 0;
  for (unsigned i = 0; i < 32; ++i) result |= (a >> i & 1) * (u64{3} << (2 * i));
  return result;
}
/// The place of the first bit that differs from the sign; -1 if none does.
template <typename T>
u64 sign_bits(T value) {
  const auto changed = static_cast<std::make_unsigned_t<T>>(value < 0 ? ~value : value);
  return changed == 0 ? 0xffffffffu : static_cast<u64>(std::countl_zero(changed));
}
template <typename T>
u64 first_one(T value) {
  return value == 0 ? 0xffffffffu : static_cast<u64>(std::countr_zero(value));
}
template <typename T>
u64 last_one(T value) {
  return value == 0 ? 0xffffffffu : static_cast<u64>(std::countl_zero(value));
}

u64 add(u64 a, u64 b, u64 carry, u32& scc) {
  const u64 sum = static_cast<u32>(a) + u64{static_cast<u32>(b)} + carry;
  scc = static_cast<u32>(sum >> 32);
  return static_cast<u32>(sum);
}
u64 subtract(u64 a, u64 b, u64 borrow, u32& scc) {
  const u64 difference = static_cast<u32>(a) - u64{static_cast<u32>(b)} - borrow;
  scc = (difference >> 32) != 0 ? 1 : 0;
  return static_cast<u32>(difference);
}
u64 signed_result(i64 wide, u32& scc) {
  scc = wide != static_cast<i32>(wide) ? 1 : 0;
  return static_cast<u32>(wide);
}
i64 sx(u64 value) {
  return static_cast<i32>(value);
}
u64 shift_add(u64 a, u64 b, unsigned count, u32& scc) {
  const u64 sum = (u64{static_cast<u32>(a)} << count) + static_cast<u32>(b);
  scc = (sum >> 32) != 0 ? 1 : 0;
  return static_cast<u32>(sum);
}
/// Of a difference that has wrapped: s_absdiff_i32 of 0x80000000 and 1 is 0x7fffffff.
u64 magnitude(u32 value) {
  return (value >> 31) != 0 ? 0u - value : value;
}
u64 not_zero(u64 value, u32& scc) {
  scc = value != 0 ? 1 : 0;
  return value;
}
/// The greater or lesser; SCC is whether it is the first.
u64 pick(bool first, u64 a, u64 b, u32& scc) {
  scc = first ? 1 : 0;
  return first ? a : b;
}
u64 word(float value) {
  return bits(value);
}
float number(u64 value) {
  return real(static_cast<u32>(value));
}
u64 half(float value) {
  return half_bits(value, Rounding::nearest_even);
}
float half_number(u64 value) {
  return of_half(static_cast<u32>(value) & 0xffffu);
}

struct ScalarRow {
  isa::Opcode opcode;
  Handler handler;
};

#define WAVEGATE_SCALAR(opcode, expression)                                                              \
  ScalarRow {                                                                                            \
    opcode, run<[]([[maybe_unused]] u64 a, [[maybe_unused]] u64 b, [[maybe_unused]] Scalars& s) -> u64 { \
      return expression;                                                                                 \
    }>                                                                                                   \
  }
#define WAVEGATE_BOTH(name, function)                              \
  ScalarRow{s_##name##_b32, run_logic<u32, function>}, ScalarRow { \
    s_##name##_b64, run_logic<u64, function>                       \
  }
#define WAVEGATE_EXEC(name, saves, function)                             \
  ScalarRow{s_##name##_b32, run_exec<u32, saves, function>}, ScalarRow { \
    s_##name##_b64, run_exec<u64, saves, function>                       \
  }
#define WAVEGATE_COMPARES(suffix, type)                                                                  \
  ScalarRow{s_cmp_eq_##suffix, run_compare<type, [](type a, type b) { return a == b; }>},                \
      ScalarRow{s_cmp_lg_##suffix, run_compare<type, [](type a, type b) { return a != b; }>},            \
      ScalarRow{s_cmp_gt_##suffix, run_compare<type, [](type a, type b) { return b < a; }>},             \
      ScalarRow{s_cmp_ge_##suffix, run_compare<type, [](type a, type b) { return b <= a; }>},            \
      ScalarRow{s_cmp_lt_##suffix, run_compare<type, [](type a, type b) { return a < b; }>}, ScalarRow { \
    s_cmp_le_##suffix, run_compare<type, [](type a, type b) { return a <= b; }>                          \
  }
#define WAVEGATE_COMPARES_K(suffix, type)                                                                 \
  ScalarRow{s_cmpk_eq_##suffix, run_compare<type, [](type a, type b) { return a == b; }>},                \
      ScalarRow{s_cmpk_lg_##suffix, run_compare<type, [](type a, type b) { return a != b; }>},            \
      ScalarRow{s_cmpk_gt_##suffix, run_compare<type, [](type a, type b) { return b < a; }>},             \
      ScalarRow{s_cmpk_ge_##suffix, run_compare<type, [](type a, type b) { return b <= a; }>},            \
      ScalarRow{s_cmpk_lt_##suffix, run_compare<type, [](type a, type b) { return a < b; }>}, ScalarRow { \
    s_cmpk_le_##suffix, run_compare<type, [](type a, type b) { return a <= b; }>                          \
  }
#define WAVEGATE_COMPARE_FLOAT(name, expression)                            \
  ScalarRow{s_cmp_##name##_f32, run<[](u64 ua, u64 ub, Scalars& s) -> u64 { \
              const float a = number(ua), b = number(ub);                   \
              return s.scc = (expression) ? 1 : 0;                          \
            }>},                                                            \
      ScalarRow {                                                           \
    s_cmp_##name##_f16, run<[](u64 ua, u64 ub, Scalars& s) -> u64 {         \
      const float a = half_number(ua), b = half_number(ub);                 \
      return s.scc = (expression) ? 1 : 0;                                  \
    }>                                                                      \
  }

// clang-format off
constexpr std::array kRows{
    WAVEGATE_BOTH(and, kAnd), WAVEGATE_BOTH(or, kOr), WAVEGATE_BOTH(xor, kXor), WAVEGATE_BOTH(andn2, kAndNot),
    WAVEGATE_BOTH(orn2, kOrNot), WAVEGATE_BOTH(nand, kNand), WAVEGATE_BOTH(nor, kNor), WAVEGATE_BOTH(xnor, kXnor),
    WAVEGATE_BOTH(not, kNot), WAVEGATE_BOTH(lshl, kShiftLeft), WAVEGATE_BOTH(lshr, kShiftRight),
    ScalarRow{s_ashr_i32, run_logic<i32, kShiftRight>}, ScalarRow{s_ashr_i64, run_logic<i64, kShiftRight>},
    WAVEGATE_EXEC(and_saveexec, true, kAnd), WAVEGATE_EXEC(or_saveexec, true, kOr), WAVEGATE_EXEC(xor_saveexec, true, kXor),
    WAVEGATE_EXEC(andn2_saveexec, true, kAndNot), WAVEGATE_EXEC(orn2_saveexec, true, kOrNot),
    WAVEGATE_EXEC(nand_saveexec, true, kNand), WAVEGATE_EXEC(nor_saveexec, true, kNor), WAVEGATE_EXEC(xnor_saveexec, true, kXnor),
    WAVEGATE_EXEC(andn1_saveexec, true, kNotAnd), WAVEGATE_EXEC(orn1_saveexec, true, kNotOr),
    WAVEGATE_EXEC(andn1_wrexec, false, kNotAnd), WAVEGATE_EXEC(andn2_wrexec, false, kAndNot),
    WAVEGATE_COMPARES(i32, i32), WAVEGATE_COMPARES(u32, u32), WAVEGATE_COMPARES_K(i32, i32), WAVEGATE_COMPARES_K(u32, u32),
    ScalarRow{s_cmp_eq_u64, run_compare<u64, [](u64 a, u64 b) { return a == b; }>},
    ScalarRow{s_cmp_lg_u64, run_compare<u64, [](u64 a, u64 b) { return a != b; }>},
    ScalarRow{s_bitcmp0_b32, run_compare<u64, [](u64 a, u64 b) { return ((a >> (b & 31)) & 1) == 0; }>},
    ScalarRow{s_bitcmp1_b32, run_compare<u64, [](u64 a, u64 b) { return ((a >> (b & 31)) & 1) != 0; }>},
    ScalarRow{s_bitcmp0_b64, run_compare<u64, [](u64 a, u64 b) { return ((a >> (b & 63)) & 1) == 0; }>},
    ScalarRow{s_bitcmp1_b64, run_compare<u64, [](u64 a, u64 b) { return ((a >> (b & 63)) & 1) != 0; }>},
    WAVEGATE_SCALAR(s_mov_b32, a), WAVEGATE_SCALAR(s_mov_b64, a), WAVEGATE_SCALAR(s_movk_i32, a),
    WAVEGATE_SCALAR(s_cmov_b32, s.scc != 0 ? a : b), WAVEGATE_SCALAR(s_cmov_b64, s.scc != 0 ? a : b), WAVEGATE_SCALAR(s_cmovk_i32, s.scc != 0 ? a : b),
    WAVEGATE_SCALAR(s_cselect_b32, s.scc != 0 ? a : b), WAVEGATE_SCALAR(s_cselect_b64, s.scc != 0 ? a : b),
    WAVEGATE_SCALAR(s_add_u32, add(a, b, 0, s.scc)), WAVEGATE_SCALAR(s_addc_u32, add(a, b, s.scc, s.scc)),
    WAVEGATE_SCALAR(s_sub_u32, subtract(a, b, 0, s.scc)), WAVEGATE_SCALAR(s_subb_u32, subtract(a, b, s.scc, s.scc)),
    WAVEGATE_SCALAR(s_add_i32, signed_result(sx(a) + sx(b), s.scc)), WAVEGATE_SCALAR(s_sub_i32, signed_result(sx(a) - sx(b), s.scc)),
    WAVEGATE_SCALAR(s_addk_i32, signed_result(sx(a) + sx(b), s.scc)),
    WAVEGATE_SCALAR(s_mul_i32, static_cast<u32>(a * b)), WAVEGATE_SCALAR(s_mulk_i32, static_cast<u32>(a * b)),
    WAVEGATE_SCALAR(s_mul_hi_u32, static_cast<u64>(a * b) / (u64{1} << 32)),
    WAVEGATE_SCALAR(s_mul_hi_i32, static_cast<u64>(sx(a) * sx(b)) / (u64{1} << 32)),
    WAVEGATE_SCALAR(s_mul_u64, a * b), WAVEGATE_SCALAR(s_add_nc_u64, a + b), WAVEGATE_SCALAR(s_sub_nc_u64, a - b),
    WAVEGATE_SCALAR(s_lshl1_add_u32, shift_add(a, b, 1, s.scc)), WAVEGATE_SCALAR(s_lshl2_add_u32, shift_add(a, b, 2, s.scc)),
    WAVEGATE_SCALAR(s_lshl3_add_u32, shift_add(a, b, 3, s.scc)), WAVEGATE_SCALAR(s_lshl4_add_u32, shift_add(a, b, 4, s.scc)),
    WAVEGATE_SCALAR(s_abs_i32, not_zero(static_cast<u32>(sx(a) < 0 ? -sx(a) : sx(a)), s.scc)),
    WAVEGATE_SCALAR(s_absdiff_i32, not_zero(magnitude(static_cast<u32>(a - b)), s.scc)),
    WAVEGATE_SCALAR(s_min_i32, pick(sx(a) < sx(b), a, b, s.scc)), WAVEGATE_SCALAR(s_max_i32, pick(sx(b) < sx(a), a, b, s.scc)),
    WAVEGATE_SCALAR(s_min_u32, pick(a < b, a, b, s.scc)), WAVEGATE_SCALAR(s_max_u32, pick(b < a, a, b, s.scc)),
    WAVEGATE_SCALAR(s_bfm_b32, static_cast<u32>(((1u << (a & 31)) - 1) << (b & 31))),
    WAVEGATE_SCALAR(s_bfm_b64, ((u64{1} << (a & 63)) - 1) << (b & 63)),
    WAVEGATE_SCALAR(s_bfe_u32, not_zero(extract_bits(static_cast<u32>(a), b), s.scc)),
    WAVEGATE_SCALAR(s_bfe_i32, not_zero(extract_bits(static_cast<i32>(a), b), s.scc)),
    WAVEGATE_SCALAR(s_bfe_u64, not_zero(extract_bits(a, b), s.scc)),
    WAVEGATE_SCALAR(s_bfe_i64, not_zero(extract_bits(static_cast<i64>(a), b), s.scc)),
    WAVEGATE_SCALAR(s_bitset0_b32, b & ~(u64{1} << (a & 31))), WAVEGATE_SCALAR(s_bitset1_b32, b | u64{1} << (a & 31)),
    WAVEGATE_SCALAR(s_bitset0_b64, b & ~(u64{1} << (a & 63))), WAVEGATE_SCALAR(s_bitset1_b64, b | u64{1} << (a & 63)),
    WAVEGATE_SCALAR(s_brev_b32, reverse(static_cast<u32>(a))), WAVEGATE_SCALAR(s_brev_b64, reverse(a)),
    WAVEGATE_SCALAR(s_bcnt0_i32_b32, not_zero(32u - static_cast<u32>(std::popcount(static_cast<u32>(a))), s.scc)),
    WAVEGATE_SCALAR(s_bcnt0_i32_b64, not_zero(64u - static_cast<u32>(std::popcount(a)), s.scc)),
    WAVEGATE_SCALAR(s_bcnt1_i32_b32, not_zero(static_cast<u32>(std::popcount(static_cast<u32>(a))), s.scc)),
    WAVEGATE_SCALAR(s_bcnt1_i32_b64, not_zero(static_cast<u32>(std::popcount(a)), s.scc)),
    WAVEGATE_SCALAR(s_ff1_i32_b32, first_one(static_cast<u32>(a))), WAVEGATE_SCALAR(s_ff1_i32_b64, first_one(a)),
    WAVEGATE_SCALAR(s_ff0_i32_b32, first_one(static_cast<u32>(~a))), WAVEGATE_SCALAR(s_ff0_i32_b64, first_one(~a)),
    WAVEGATE_SCALAR(s_flbit_i32_b32, last_one(static_cast<u32>(a))), WAVEGATE_SCALAR(s_flbit_i32_b64, last_one(a)),
    WAVEGATE_SCALAR(s_flbit_i32, sign_bits(static_cast<i32>(a))), WAVEGATE_SCALAR(s_flbit_i32_i64, sign_bits(static_cast<i64>(a))),
    WAVEGATE_SCALAR(s_sext_i32_i8, static_cast<u32>(static_cast<i32>(static_cast<std::int8_t>(a)))),
    WAVEGATE_SCALAR(s_sext_i32_i16, static_cast<u32>(static_cast<i32>(static_cast<std::int16_t>(a)))),
    WAVEGATE_SCALAR(s_pack_ll_b32_b16, (a & 0xffffu) | (b & 0xffffu) << 16), WAVEGATE_SCALAR(s_pack_lh_b32_b16, (a & 0xffffu) | (b & 0xffff0000u)),
    WAVEGATE_SCALAR(s_pack_hh_b32_b16, (a & 0xffff0000u) / 65536 | (b & 0xffff0000u)), WAVEGATE_SCALAR(s_pack_hl_b32_b16, (a & 0xffff0000u) / 65536 | (b & 0xffffu) << 16),
    WAVEGATE_SCALAR(s_wqm_b32, not_zero(wide_or<u32>(a), s.scc)), WAVEGATE_SCALAR(s_wqm_b64, not_zero(wide_or<u64>(a), s.scc)),
    WAVEGATE_SCALAR(s_quadmask_b32, not_zero(quad_mask<u32>(a), s.scc)), WAVEGATE_SCALAR(s_quadmask_b64, not_zero(quad_mask<u64>(a), s.scc)),
    WAVEGATE_SCALAR(s_bitreplicate_b64_b32, replicate(a)),
    // gfx11.5 and later: floats in scalar registers.
    WAVEGATE_SCALAR(s_add_f32, word(number(a) + number(b))), WAVEGATE_SCALAR(s_sub_f32, word(number(a) - number(b))),
    WAVEGATE_SCALAR(s_mul_f32, word(number(a) * number(b))), WAVEGATE_SCALAR(s_fmac_f32, word(std::fma(number(a), number(b), number(s.third)))),
    WAVEGATE_SCALAR(s_fmaak_f32, word(std::fma(number(a), number(b), number(s.third)))), WAVEGATE_SCALAR(s_fmamk_f32, word(std::fma(number(a), number(b), number(s.third)))),
    WAVEGATE_SCALAR(s_min_f32, word(minimum_number(number(a), number(b), true))), WAVEGATE_SCALAR(s_max_f32, word(maximum_number(number(a), number(b), true))),
    WAVEGATE_SCALAR(s_minimum_f32, word(minimum_nan(number(a), number(b)))), WAVEGATE_SCALAR(s_maximum_f32, word(maximum_nan(number(a), number(b)))),
    WAVEGATE_SCALAR(s_ceil_f32, word(round_up(number(a)))), WAVEGATE_SCALAR(s_floor_f32, word(round_down(number(a)))),
    WAVEGATE_SCALAR(s_trunc_f32, word(std::trunc(number(a)))), WAVEGATE_SCALAR(s_rndne_f32, word(nearest_even(number(a)))),
    WAVEGATE_SCALAR(s_cvt_f32_i32, word(static_cast<float>(static_cast<i32>(a)))), WAVEGATE_SCALAR(s_cvt_f32_u32, word(static_cast<float>(static_cast<u32>(a)))),
    WAVEGATE_SCALAR(s_cvt_i32_f32, static_cast<u32>(to_signed(number(a)))), WAVEGATE_SCALAR(s_cvt_u32_f32, to_unsigned(number(a))),
    WAVEGATE_SCALAR(s_cvt_f16_f32, half(number(a))), WAVEGATE_SCALAR(s_cvt_f32_f16, word(half_number(a))), WAVEGATE_SCALAR(s_cvt_hi_f32_f16, word(half_number(a / 65536))),
    WAVEGATE_SCALAR(s_cvt_pk_rtz_f16_f32, half_bits(number(a), Rounding::to_zero) | half_bits(number(b), Rounding::to_zero) << 16),
    WAVEGATE_SCALAR(s_add_f16, half(half_number(a) + half_number(b))), WAVEGATE_SCALAR(s_sub_f16, half(half_number(a) - half_number(b))),
    WAVEGATE_SCALAR(s_mul_f16, half(half_number(a) * half_number(b))), WAVEGATE_SCALAR(s_fmac_f16, half(fused_half(half_number(a), half_number(b), half_number(s.third)))),
    WAVEGATE_SCALAR(s_min_f16, half(minimum_number(half_number(a), half_number(b), true))), WAVEGATE_SCALAR(s_max_f16, half(maximum_number(half_number(a), half_number(b), true))),
    WAVEGATE_SCALAR(s_minimum_f16, half(minimum_nan(half_number(a), half_number(b)))), WAVEGATE_SCALAR(s_maximum_f16, half(maximum_nan(half_number(a), half_number(b)))),
    WAVEGATE_SCALAR(s_ceil_f16, half(round_up(half_number(a)))), WAVEGATE_SCALAR(s_floor_f16, half(round_down(half_number(a)))),
    WAVEGATE_SCALAR(s_trunc_f16, half(std::trunc(half_number(a)))), WAVEGATE_SCALAR(s_rndne_f16, half(nearest_even(half_number(a)))),
    WAVEGATE_COMPARE_FLOAT(eq, a == b), WAVEGATE_COMPARE_FLOAT(lg, a < b || b < a), WAVEGATE_COMPARE_FLOAT(lt, a < b), WAVEGATE_COMPARE_FLOAT(le, a <= b),
    WAVEGATE_COMPARE_FLOAT(gt, b < a), WAVEGATE_COMPARE_FLOAT(ge, b <= a), WAVEGATE_COMPARE_FLOAT(o, !is_nan(a) && !is_nan(b)),
    WAVEGATE_COMPARE_FLOAT(u, is_nan(a) || is_nan(b)), WAVEGATE_COMPARE_FLOAT(neq, !(a == b)), WAVEGATE_COMPARE_FLOAT(nlg, !(a < b || b < a)),
    WAVEGATE_COMPARE_FLOAT(nlt, !(a < b)), WAVEGATE_COMPARE_FLOAT(nle, !(a <= b)), WAVEGATE_COMPARE_FLOAT(ngt, !(b < a)), WAVEGATE_COMPARE_FLOAT(nge, !(b <= a)),
};
// clang-format on

std::array<Handler, isa::kOpcodeCount> all_handlers() {
  std::array<Handler, isa::kOpcodeCount> handlers{};
  for (const ScalarRow& row : kRows) handlers[static_cast<std::size_t>(row.opcode)] = row.handler;
  return handlers;
}

}  // namespace

Handler scalar_handler(isa::Opcode opcode) {
  static const std::array<Handler, isa::kOpcodeCount> kHandlers = all_handlers();
  return kHandlers[static_cast<std::size_t>(opcode)];
}

}  // namespace wavegate::amdgpu::wave
