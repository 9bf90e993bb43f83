#include "wavegate/emit/spirv/arithmetic.h"

namespace wavegate::emit::spirv::integers {
namespace {

using enum spv::Op;
using kir::Type;

constexpr uint64_t ones(uint32_t width) {
  return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

bool is_signed(kir::Op op) {
  return op == kir::Op::div_s || op == kir::Op::rem_s || op == kir::Op::mul_high_s;
}

/// The divisor, replaced by 1 where the division has no value (by zero, or the smallest integer by -1): the
/// dividend is then the quotient, and zero the remainder, as kir wants both.
Id safe_divisor(Context& context, const kir::Instruction& instruction) {
  const Type type = instruction.type;
  const uint64_t minus_one = ones(kir::bit_width(type));
  const Id dividend = context.value(instruction.operands[0]);
  const Id divisor = context.value(instruction.operands[1]);
  const Id one = context.constant(type, 1);
  const bool with_sign = is_signed(instruction.op);
  const auto known_dividend = context.bits(instruction.operands[0]);
  const uint64_t smallest = minus_one / 2 + 1;

  if (const auto known = context.bits(instruction.operands[1])) {
    if (*known == 0) return one;
    if (!with_sign || *known != minus_one) return divisor;
    const Id overflows = context.op(OpIEqual, Type::boolean, {dividend, context.constant(type, smallest)});
    return context.select(type, overflows, one, divisor);
  }
  Id bad = context.op(OpIEqual, Type::boolean, {divisor, context.constant(type, 0)});
  if (with_sign && (!known_dividend || *known_dividend == smallest)) {
    const Id is_smallest = context.op(OpIEqual, Type::boolean, {dividend, context.constant(type, smallest)});
    const Id is_minus_one = context.op(OpIEqual, Type::boolean, {divisor, context.constant(type, minus_one)});
    const Id overflows = context.op(OpLogicalAnd, Type::boolean, {is_smallest, is_minus_one});
    bad = context.op(OpLogicalOr, Type::boolean, {bad, overflows});
  }
  return context.select(type, bad, one, divisor);
}

/// An 8- or 16-bit value in 32 bits; wider ones as they are.
Id widen(Context& context, Type type, Id value, bool with_sign = false) {
  if (kir::bit_width(type) >= 32) return value;
  return context.op(with_sign ? OpSConvert : OpUConvert, Type::i32, {value});
}

Id narrow(Context& context, Type type, Id value) {
  return kir::bit_width(type) >= 32 ? value : context.op(OpUConvert, type, {value});
}

Id binary(Context& context, spv::Op op, Type type, Id a, uint64_t b) {
  return context.op(op, type, {a, context.constant(type, b)});
}

/// Leading zeros of a 32-bit value: FindUMsb gives -1 for zero.
Id leading_zeros_32(Context& context, Id value) {
  const Id highest = context.extended(GLSLstd450FindUMsb, Type::i32, {value});
  return context.op(OpISub, Type::i32, {context.module.constant_u32(31), highest});
}

/// Trailing zeros of a 32-bit value: FindILsb gives -1 for zero, the largest as unsigned.
Id trailing_zeros_32(Context& context, Id value) {
  const Id lowest = context.extended(GLSLstd450FindILsb, Type::i32, {value});
  return context.extended(GLSLstd450UMin, Type::i32, {lowest, context.module.constant_u32(32)});
}

/// Zeros of a 64-bit value counted in `first`, and on in `second` where `first` is zero.
Id zeros_of_halves(Context& context, Id first, Id second, Id (*count)(Context&, Id)) {
  const Id in_first = count(context, first);
  const Id in_both = binary(context, OpIAdd, Type::i32, count(context, second), 32);
  const Id first_is_zero = context.op(OpIEqual, Type::boolean, {first, context.module.constant_u32(0)});
  return context.select(Type::i32, first_is_zero, in_both, in_first);
}

/// The high half of the unsigned product of two 64-bit values, by halves: no driver has to have it.
Id multiply_high_64(Context& context, Id a, Id b) {
  const auto add = [&](Id x, Id y) { return context.op(OpIAdd, Type::i64, {x, y}); };
  const auto mul = [&](Id x, Id y) { return context.op(OpIMul, Type::i64, {x, y}); };
  const auto low = [&](Id x) { return binary(context, OpBitwiseAnd, Type::i64, x, 0xffffffff); };
  const auto high = [&](Id x) { return binary(context, OpShiftRightLogical, Type::i64, x, 32); };
  const Id a0 = low(a), a1 = high(a), b0 = low(b), b1 = high(b);
  const Id low_low = mul(a0, b0), high_low = mul(a1, b0), low_high = mul(a0, b1), high_high = mul(a1, b1);
  const Id carry = high(low_low);
  const Id middle = add(high_low, carry);  // at most (2^32-1)^2 + 2^32-1: no carry is lost
  const Id middle_low = low(middle);
  const Id cross = add(low_high, middle_low);
  const Id middle_high = high(middle);
  const Id cross_high = high(cross);
  return add(add(high_high, middle_high), cross_high);
}

/// x if `sign` is negative, else zero.
Id if_negative(Context& context, Type type, Id sign, Id x) {
  const Id zero = context.constant(type, 0);
  return context.select(type, context.op(OpSLessThan, Type::boolean, {sign, zero}), x, zero);
}

}  // namespace

Id divide(Context& context, const kir::Instruction& instruction) {
  return context.op(is_signed(instruction.op) ? OpSDiv : OpUDiv, instruction.type,
                    {context.value(instruction.operands[0]), safe_divisor(context, instruction)});
}

Id remainder(Context& context, const kir::Instruction& instruction) {
  const Type type = instruction.type;
  const Id dividend = context.value(instruction.operands[0]);
  const Id divisor = safe_divisor(context, instruction);
  if (!is_signed(instruction.op)) return context.op(OpUMod, type, {dividend, divisor});
  // Vulkan leaves OpSRem undefined for negative operands.
  const Id quotient = context.op(OpSDiv, type, {dividend, divisor});
  return context.op(OpISub, type, {dividend, context.op(OpIMul, type, {quotient, divisor})});
}

Id shift(Context& context, const kir::Instruction& instruction) {
  const Type type = instruction.type;
  const uint64_t mask = kir::bit_width(type) - 1;
  const auto known = context.bits(instruction.operands[1]);
  const Id amount = known ? context.constant(type, *known & mask)
                          : binary(context, OpBitwiseAnd, type, context.value(instruction.operands[1]), mask);
  const spv::Op code = instruction.op == kir::Op::shift_left      ? OpShiftLeftLogical
                       : instruction.op == kir::Op::shift_right_u ? OpShiftRightLogical
                                                                  : OpShiftRightArithmetic;
  return context.op(code, type, {context.value(instruction.operands[0]), amount});
}

Id multiply_high(Context& context, const kir::Instruction& instruction) {
  const Type type = instruction.type;
  const uint32_t width = kir::bit_width(type);
  const bool with_sign = is_signed(instruction.op);
  const Id a = context.value(instruction.operands[0]);
  const Id b = context.value(instruction.operands[1]);
  if (width < 32) {
    const Id product =
        context.op(OpIMul, Type::i32, {widen(context, type, a, with_sign), widen(context, type, b, with_sign)});
    return narrow(context, type, binary(context, OpShiftRightLogical, Type::i32, product, width));
  }
  if (width == 32) {
    const Id pair = context.module.put(with_sign ? OpSMulExtended : OpUMulExtended,
                                       context.module.pair_type(context.type(type)), {a, b});
    return context.op(OpCompositeExtract, type, {pair, 1});
  }
  const Id high = multiply_high_64(context, a, b);
  if (!with_sign) return high;
  const Id correction = context.op(OpIAdd, type, {if_negative(context, type, a, b), if_negative(context, type, b, a)});
  return context.op(OpISub, type, {high, correction});
}

Id count_bits(Context& context, const kir::Instruction& instruction) {
  const Type type = instruction.type;
  const Id value = context.value(instruction.operands[0]);
  if (type != Type::i64) return narrow(context, type, context.op(OpBitCount, Type::i32, {widen(context, type, value)}));
  const Halves halves = split(context, value);
  const Id sum =
      context.op(OpIAdd, Type::i32,
                 {context.op(OpBitCount, Type::i32, {halves.low}), context.op(OpBitCount, Type::i32, {halves.high})});
  return context.op(OpUConvert, type, {sum});
}

Id count_leading_zeros(Context& context, const kir::Instruction& instruction) {
  const Type type = instruction.type;
  const uint32_t width = kir::bit_width(type);
  const Id value = context.value(instruction.operands[0]);
  if (type == Type::i64) {
    const Halves halves = split(context, value);
    return context.op(OpUConvert, type, {zeros_of_halves(context, halves.high, halves.low, leading_zeros_32)});
  }
  const Id zeros = leading_zeros_32(context, widen(context, type, value));
  return width == 32 ? zeros : narrow(context, type, binary(context, OpISub, Type::i32, zeros, 32 - width));
}

Id count_trailing_zeros(Context& context, const kir::Instruction& instruction) {
  const Type type = instruction.type;
  const uint32_t width = kir::bit_width(type);
  const Id value = context.value(instruction.operands[0]);
  if (type == Type::i64) {
    const Halves halves = split(context, value);
    return context.op(OpUConvert, type, {zeros_of_halves(context, halves.low, halves.high, trailing_zeros_32)});
  }
  if (width == 32) return trailing_zeros_32(context, value);
  // A bit just above the value ends the count.
  const Id ended = binary(context, OpBitwiseOr, Type::i32, widen(context, type, value), uint64_t{1} << width);
  return narrow(context, type, trailing_zeros_32(context, ended));
}

Id reverse_bits(Context& context, const kir::Instruction& instruction) {
  const Type type = instruction.type;
  const uint32_t width = kir::bit_width(type);
  const Id value = context.value(instruction.operands[0]);
  const auto reverse = [&](Id x) { return context.op(OpBitReverse, Type::i32, {x}); };
  if (type == Type::i64) {
    const Halves halves = split(context, value);
    return join(context, type, {.low = reverse(halves.high), .high = reverse(halves.low)});
  }
  const Id reversed = reverse(widen(context, type, value));
  return width == 32 ? reversed
                     : narrow(context, type, binary(context, OpShiftRightLogical, Type::i32, reversed, 32 - width));
}

/// A comparison and a choice. Of GLSL.std.450's SMax NVIDIA's compiler (driver 580.159.04) makes one instruction where
/// a maximum is taken of a maximum, and gets that wrong where an operand is the negation of a sum.
Id minimum_or_maximum(Context& context, const kir::Instruction& instruction) {
  const kir::Op op = instruction.op;
  const Id a = context.value(instruction.operands[0]);
  const Id b = context.value(instruction.operands[1]);
  const bool with_sign = op == kir::Op::min_s || op == kir::Op::max_s;
  const Id less = context.op(with_sign ? OpSLessThan : OpULessThan, Type::boolean, {a, b});
  const bool is_minimum = op == kir::Op::min_u || op == kir::Op::min_s;
  return is_minimum ? context.select(instruction.type, less, a, b) : context.select(instruction.type, less, b, a);
}

Id resize(Context& context, const kir::Instruction& instruction) {
  const Id value = context.value(instruction.operands[0]);
  if (context.kernel.type_of(instruction.operands[0]) == instruction.type) return value;
  return context.op(instruction.op == kir::Op::extend_s ? OpSConvert : OpUConvert, instruction.type, {value});
}

}  // namespace wavegate::emit::spirv::integers
