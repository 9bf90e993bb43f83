#include "wavegate/device/reference/lane_ops.h"

#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <type_traits>

#include "wavegate/kir/evaluate.h"

namespace wavegate::device::reference {
namespace {

using kir::Op;
using kir::Type;

template <typename T>
T unpack(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

// Arithmetic makes one NaN, whatever the host's rules of propagation: see kir::evaluate.
constexpr uint64_t kNan32 = 0x7fc00000;
constexpr uint64_t kNan64 = 0x7ff8000000000000;

template <typename T>
uint64_t pack(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? 1 : 0;
  } else if constexpr (std::is_same_v<T, float>) {
    return value != value ? kNan32 : std::bit_cast<uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return value != value ? kNan64 : std::bit_cast<uint64_t>(value);
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

template <typename T, typename F>
LaneFunction unary(F) {
  return [](const LaneCall& call) {
    for (size_t i = 0; i < call.count; ++i) call.result[i] = pack(F{}(unpack<T>(call.a[i])));
  };
}

template <typename T, typename F>
LaneFunction binary(F) {
  return [](const LaneCall& call) {
    for (size_t i = 0; i < call.count; ++i) call.result[i] = pack(F{}(unpack<T>(call.a[i]), unpack<T>(call.b[i])));
  };
}

void evaluate_lanes(const LaneCall& call) {
  const std::array<const uint64_t*, 3> sources = {call.a, call.b, call.c};
  const size_t operand_count = call.c ? 3 : call.b ? 2 : 1;
  std::array<uint64_t, 3> operands = {};
  for (size_t i = 0; i < call.count; ++i) {
    for (size_t k = 0; k < operand_count; ++k) operands[k] = sources[k][i];
    call.result[i] = kir::evaluate(call.op, call.type, call.operand_type, std::span(operands.data(), operand_count));
  }
}

/// Operations that treat the zero-extended bits alike whatever the type.
LaneFunction bits_function(Op op, Type type) {
  using U = uint64_t;
  switch (op) {
    case Op::select:
      return [](const LaneCall& call) {
        for (size_t i = 0; i < call.count; ++i) call.result[i] = call.a[i] ? call.b[i] : call.c[i];
      };
    case Op::and_: return binary<U>([](U a, U b) { return a & b; });
    case Op::or_: return binary<U>([](U a, U b) { return a | b; });
    case Op::xor_: return binary<U>([](U a, U b) { return a ^ b; });
    case Op::not_:
      switch (kir::bit_width(type)) {
        case 1: return unary<U>([](U a) { return a ^ 1; });
        case 32: return unary<uint32_t>([](uint32_t a) { return ~a; });
        case 64: return unary<U>([](U a) { return ~a; });
        default: return nullptr;
      }
    case Op::neg_f:
      switch (kir::bit_width(type)) {
        case 32: return unary<uint32_t>([](uint32_t a) { return a ^ 0x80000000u; });
        case 64: return unary<U>([](U a) { return a ^ U { 1 } << 63; });
        default: return nullptr;
      }
    case Op::abs_f:
      switch (kir::bit_width(type)) {
        case 32: return unary<uint32_t>([](uint32_t a) { return a & 0x7fffffffu; });
        case 64: return unary<U>([](U a) { return a & ~U{0} >> 1; });
        default: return nullptr;
      }
    case Op::equal: return binary<U>([](U a, U b) { return a == b; });
    case Op::not_equal: return binary<U>([](U a, U b) { return a != b; });
    case Op::less_u: return binary<U>([](U a, U b) { return a < b; });
    case Op::less_equal_u: return binary<U>([](U a, U b) { return a <= b; });
    case Op::min_u: return binary<U>([](U a, U b) { return a < b ? a : b; });
    case Op::max_u: return binary<U>([](U a, U b) { return a < b ? b : a; });
    case Op::div_u: return binary<U>([](U a, U b) { return b == 0 ? a : a / b; });
    case Op::rem_u: return binary<U>([](U a, U b) { return b == 0 ? 0 : a % b; });
    case Op::bitcast:
    case Op::extend_u: return unary<U>([](U a) { return a; });
    case Op::truncate:
      return kir::bit_width(type) == 32 ? unary<U>([](U a) { return static_cast<uint32_t>(a); }) : nullptr;
    default: return nullptr;
  }
}

template <typename U>
LaneFunction integer_function(Op op) {
  using S = std::make_signed_t<U>;
  constexpr U kShiftMask = sizeof(U) * 8 - 1;
  switch (op) {
    case Op::add: return binary<U>([](U a, U b) { return static_cast<U>(a + b); });
    case Op::sub: return binary<U>([](U a, U b) { return static_cast<U>(a - b); });
    case Op::mul: return binary<U>([](U a, U b) { return static_cast<U>(a * b); });
    case Op::min_s: return binary<S>([](S a, S b) { return a < b ? a : b; });
    case Op::max_s: return binary<S>([](S a, S b) { return a < b ? b : a; });
    case Op::shift_left: return binary<U>([](U a, U b) { return static_cast<U>(a << (b & kShiftMask)); });
    case Op::shift_right_u: return binary<U>([](U a, U b) { return static_cast<U>(a >> (b & kShiftMask)); });
    case Op::shift_right_s:
      return binary<U>([](U a, U b) { return static_cast<U>(static_cast<S>(a) >> (b & kShiftMask)); });
    case Op::less_s: return binary<S>([](S a, S b) { return a < b; });
    case Op::less_equal_s: return binary<S>([](S a, S b) { return a <= b; });
    case Op::count_bits: return unary<U>([](U a) { return static_cast<U>(std::popcount(a)); });
    default: return nullptr;
  }
}

template <typename T>
LaneFunction float_function(Op op) {
  switch (op) {
    case Op::add_f: return binary<T>([](T a, T b) { return a + b; });
    case Op::sub_f: return binary<T>([](T a, T b) { return a - b; });
    case Op::mul_f: return binary<T>([](T a, T b) { return a * b; });
    case Op::div_f: return binary<T>([](T a, T b) { return a / b; });
    case Op::fma:
      return [](const LaneCall& call) {
        for (size_t i = 0; i < call.count; ++i)
          call.result[i] = pack(std::fma(unpack<T>(call.a[i]), unpack<T>(call.b[i]), unpack<T>(call.c[i])));
      };
    case Op::equal_f: return binary<T>([](T a, T b) { return a == b; });
    case Op::not_equal_f: return binary<T>([](T a, T b) { return a != b; });
    case Op::less_f: return binary<T>([](T a, T b) { return a < b; });
    case Op::less_equal_f: return binary<T>([](T a, T b) { return a <= b; });
    case Op::is_nan: return unary<T>([](T a) { return a != a; });
    default: return nullptr;
  }
}

/// Conversions between 32 and 64 bits and the conversions of an index to a float.
LaneFunction conversion_function(Op op, Type type, Type from) {
  if (from == Type::i32) {
    if (op == Op::extend_s && type == Type::i64) return unary<int32_t>([](int32_t a) { return int64_t{a}; });
    if (op == Op::convert_u_to_f && type == Type::f32) {
      return unary<uint32_t>([](uint32_t a) { return static_cast<float>(a); });
    }
    if (op == Op::convert_s_to_f && type == Type::f32) {
      return unary<int32_t>([](int32_t a) { return static_cast<float>(a); });
    }
  }
  if (op == Op::convert_f && type == Type::f64 && from == Type::f32) {
    return unary<float>([](float a) { return static_cast<double>(a); });
  }
  return nullptr;
}

}  // namespace

LaneFunction lane_function(Op op, Type type, Type operand_type) {
  LaneFunction function = bits_function(op, type);
  if (!function) function = conversion_function(op, type, operand_type);
  if (!function) {
    switch (operand_type) {
      case Type::i32: function = integer_function<uint32_t>(op); break;
      case Type::i64: function = integer_function<uint64_t>(op); break;
      case Type::f32: function = float_function<float>(op); break;
      case Type::f64: function = float_function<double>(op); break;
      default: break;
    }
  }
  return function ? function : evaluate_lanes;
}

}  // namespace wavegate::device::reference
