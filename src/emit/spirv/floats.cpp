#include "wavegate/emit/spirv/arithmetic.h"

namespace wavegate::emit::spirv::floats {
namespace {

using enum spv::Op;
using kir::Type;

/// 2^exponent as the bits of an f32 or f64, the sign included if negative.
uint64_t power_of_two(Type type, uint32_t exponent, bool negative) {
  const uint64_t sign = negative ? 1 : 0;
  return type == Type::f64 ? (sign << 63 | uint64_t{1023 + exponent} << 52)
                           : (sign << 31 | uint64_t{127 + exponent} << 23);
}

bool is_zero_or_nan(Type type, uint64_t bits) {
  const uint64_t infinity = type == Type::f16 ? 0x7c00 : type == Type::f32 ? 0x7f800000 : uint64_t{0x7ff} << 52;
  const uint64_t sign = uint64_t{1} << (kir::bit_width(type) - 1);
  const uint64_t magnitude = bits & (sign - 1);
  return magnitude == 0 || magnitude > infinity;
}

/// The SPIR-V type that holds the bits of a float without asking for 16- or 64-bit integers.
Id bits_type(Context& context, Type type) {
  return type == Type::f64 ? context.module.vector_type(Type::i32, 2) : context.type(Type::i32);
}

/// An f64 with the magnitude of one and the sign of another, by their high words.
Id copy_sign_64(Context& context, Id magnitude, Id sign) {
  constexpr uint32_t kSign = 0x80000000;
  Halves halves = split(context, magnitude);
  const Id sign_word = split(context, sign).high;
  const Id positive = context.op(OpBitwiseAnd, Type::i32, {halves.high, context.module.constant_u32(~kSign)});
  const Id sign_bit = context.op(OpBitwiseAnd, Type::i32, {sign_word, context.module.constant_u32(kSign)});
  halves.high = context.op(OpBitwiseOr, Type::i32, {positive, sign_bit});
  return join(context, Type::f64, halves);
}

}  // namespace

namespace {

/// The type in which a quotient or root comes out exact once it is rounded back: a type of q bits serves one of p bits
/// if q >= 2p + 2 (Figueroa, "When is double rounding innocuous?", 1995), which holds from f16 to f32 and from f32 to
/// f64. Nothing where the operation is exact as it is, or the device has no such type.
std::optional<Type> exact_type(const Context& context, Type type, bool is_exact_f32) {
  if (type == Type::f64 || (type == Type::f32 && is_exact_f32)) return std::nullopt;
  if (is_exact_f32) return Type::f32;
  return context.profile.features.float64 ? std::optional(Type::f64) : std::nullopt;
}

}  // namespace

Id divide(Context& context, const kir::Instruction& instruction) {
  const Id a = context.value(instruction.operands[0]);
  const Id b = context.value(instruction.operands[1]);
  const auto wide = exact_type(context, instruction.type, context.profile.floats.exact_division_f32);
  if (!wide) return context.exact(context.op(OpFDiv, instruction.type, {a, b}));
  const Id wide_a = context.op(OpFConvert, *wide, {a});
  const Id wide_b = context.op(OpFConvert, *wide, {b});
  return context.op(OpFConvert, instruction.type, {context.exact(context.op(OpFDiv, *wide, {wide_a, wide_b}))});
}

Id square_root(Context& context, const kir::Instruction& instruction) {
  const Id value = context.value(instruction.operands[0]);
  const auto wide = exact_type(context, instruction.type, context.profile.floats.exact_square_root_f32);
  if (!wide) return context.exact(context.extended(GLSLstd450Sqrt, instruction.type, {value}));
  const Id wide_value = context.op(OpFConvert, *wide, {value});
  const Id root = context.exact(context.extended(GLSLstd450Sqrt, *wide, {wide_value}));
  return context.op(OpFConvert, instruction.type, {root});
}

Id truncate(Context& context, const kir::Instruction& instruction) {
  const Id value = context.value(instruction.operands[0]);
  const Id result = context.exact(context.extended(GLSLstd450Trunc, instruction.type, {value}));
  // Drivers that build f64 from integers lose the sign of a zero.
  return instruction.type == Type::f64 ? copy_sign_64(context, result, value) : result;
}

Id round_even(Context& context, const kir::Instruction& instruction) {
  const Type type = instruction.type;
  const Id value = context.value(instruction.operands[0]);
  if (type != Type::f64) return context.exact(context.extended(GLSLstd450RoundEven, type, {value}));
  // Drivers that build f64 from integers round 1.5 to 1. Numbers from 2^52 on are integers, and so the sum with 2^52
  // rounds any smaller one to an integer, ties to even.
  const Id limit = context.constant(type, power_of_two(type, 52, false));
  const Id magnitude = context.exact(context.extended(GLSLstd450FAbs, type, {value}));
  const Id sum = context.exact(context.op(OpFAdd, type, {magnitude, limit}));
  const Id rounded = copy_sign_64(context, context.exact(context.op(OpFSub, type, {sum, limit})), value);
  const Id is_small = context.exact(context.op(OpFOrdLessThan, Type::boolean, {magnitude, limit}));
  return context.select(type, is_small, rounded, value);
}

Id minimum_or_maximum(Context& context, const kir::Instruction& instruction) {
  const Type type = instruction.type;
  const bool is_minimum = instruction.op == kir::Op::min_f;
  Id a = context.value(instruction.operands[0]);
  Id b = context.value(instruction.operands[1]);
  const auto code = is_minimum ? GLSLstd450NMin : GLSLstd450NMax;

  for (kir::Value operand : instruction.operands) {
    const auto known = context.bits(operand);
    if (known && !is_zero_or_nan(type, *known)) return context.exact(context.extended(code, type, {a, b}));
  }
  // NMin may give either of -0 and +0, kir the smaller one. Of equal values only zeros differ, in the sign: the or
  // of their bits is the smaller, the and the larger. Half floats take the way over f32, which is exact.
  const Type wide = type == Type::f16 ? Type::f32 : type;
  if (type == Type::f16) {
    a = context.op(OpFConvert, wide, {a});
    b = context.op(OpFConvert, wide, {b});
  }
  const Id number = context.exact(context.extended(code, wide, {a, b}));
  const Id bits = bits_type(context, wide);
  const Id bits_a = context.module.put(OpBitcast, bits, {a});
  const Id bits_b = context.module.put(OpBitcast, bits, {b});
  const Id bits_zero = context.module.put(is_minimum ? OpBitwiseOr : OpBitwiseAnd, bits, {bits_a, bits_b});
  const Id zero = context.op(OpBitcast, wide, {bits_zero});
  const Id equal = context.exact(context.op(OpFOrdEqual, Type::boolean, {a, b}));
  const Id result = context.select(wide, equal, zero, number);
  return type == Type::f16 ? context.op(OpFConvert, type, {result}) : result;
}

Id to_integer(Context& context, const kir::Instruction& instruction) {
  const bool with_sign = instruction.op == kir::Op::convert_f_to_s;
  const uint32_t width = kir::bit_width(instruction.type);
  Type from = context.kernel.type_of(instruction.operands[0]);
  Id value = context.value(instruction.operands[0]);
  if (from == Type::f16) {
    from = Type::f32;
    value = context.op(OpFConvert, from, {value});
  }
  // The conversion is defined for what fits, and only such values reach it. Narrow integers are clamped in 32 bits.
  const Type to = width < 32 ? Type::i32 : instruction.type;
  const uint64_t largest = (width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1) >> (with_sign ? 1 : 0);
  const Id lower = context.constant(from, with_sign ? power_of_two(from, width - 1, true) : 0);
  const Id upper = context.constant(from, power_of_two(from, with_sign ? width - 1 : width, false));
  const Id zero = context.constant(from, 0);

  const Id at_least = context.exact(context.op(OpFOrdGreaterThanEqual, Type::boolean, {value, lower}));
  const Id below = context.exact(context.op(OpFOrdLessThan, Type::boolean, {value, upper}));
  const Id fits = context.op(OpLogicalAnd, Type::boolean, {at_least, below});
  const Id safe = context.select(from, fits, value, zero);
  Id result = context.op(with_sign ? OpConvertFToS : OpConvertFToU, to, {safe});
  const Id too_large = context.exact(context.op(OpFOrdGreaterThanEqual, Type::boolean, {value, upper}));
  result = context.select(to, too_large, context.constant(to, largest), result);
  if (with_sign) {
    const Id too_small = context.exact(context.op(OpFOrdLessThan, Type::boolean, {value, lower}));
    result = context.select(to, too_small, context.constant(to, ~largest), result);
  }
  return to == instruction.type ? result : context.op(OpUConvert, instruction.type, {result});
}

Id from_integer(Context& context, const kir::Instruction& instruction) {
  const bool with_sign = instruction.op == kir::Op::convert_s_to_f;
  Id value = context.value(instruction.operands[0]);
  if (kir::bit_width(context.kernel.type_of(instruction.operands[0])) < 32)
    value = context.op(with_sign ? OpSConvert : OpUConvert, Type::i32, {value});
  // Over f32 to f16: what f32 cannot hold is past the largest f16, so that nothing is rounded twice.
  const Type to = instruction.type == Type::f16 ? Type::f32 : instruction.type;
  const Id result = context.exact(context.op(with_sign ? OpConvertSToF : OpConvertUToF, to, {value}));
  return to == instruction.type ? result : context.op(OpFConvert, instruction.type, {result});
}

Id resize(Context& context, const kir::Instruction& instruction) {
  const Id value = context.value(instruction.operands[0]);
  if (context.kernel.type_of(instruction.operands[0]) == instruction.type) return value;
  return context.exact(context.op(OpFConvert, instruction.type, {value}));
}

Id bitcast(Context& context, const kir::Instruction& instruction) {
  const Id value = context.value(instruction.operands[0]);
  if (context.kernel.type_of(instruction.operands[0]) == instruction.type) return value;
  return context.op(OpBitcast, instruction.type, {value});
}

}  // namespace wavegate::emit::spirv::floats
