#include "wavegate/kir/passes/pair_arithmetic.h"

#include <bit>
#include <utility>

#include "wavegate/kir/appender.h"

namespace wavegate::kir {

Value PairArithmetic::put(Op op, Type type, std::initializer_list<Value> operands) {
  return Appender(kernel_, list_).value(op, type, operands);
}

Value PairArithmetic::number(uint32_t bits) {
  return Appender(kernel_, list_).constant(Type::i32, bits);
}

Value PairArithmetic::real(float value) {
  return Appender(kernel_, list_).constant(Type::f32, std::bit_cast<uint32_t>(value));
}

Value PairArithmetic::select(Value condition, Value if_true, Value if_false) {
  return put(Op::select, kernel_.type_of(if_true), {condition, if_true, if_false});
}

Pair PairArithmetic::constant(uint64_t bits) {
  const Value low = number(static_cast<uint32_t>(bits));
  return {low, number(static_cast<uint32_t>(bits >> 32))};
}

Pair PairArithmetic::select(Value condition, Pair if_true, Pair if_false) {
  const Value low = select(condition, if_true.low, if_false.low);
  return {low, select(condition, if_true.high, if_false.high)};
}

Value PairArithmetic::is_negative(Pair a) {
  return test(Op::less_s, a.high, number(0));
}

Value PairArithmetic::as_word(Value condition) {
  const Value one = number(1);
  return select(condition, one, number(0));
}

Pair PairArithmetic::add(Pair a, Pair b) {
  const Value low = word(Op::add, a.low, b.low);
  const Value carry = as_word(test(Op::less_u, low, a.low));
  return {low, word(Op::add, word(Op::add, a.high, b.high), carry)};
}

Pair PairArithmetic::subtract(Pair a, Pair b) {
  const Value borrow = as_word(test(Op::less_u, a.low, b.low));
  const Value low = word(Op::sub, a.low, b.low);
  return {low, word(Op::sub, word(Op::sub, a.high, b.high), borrow)};
}

Pair PairArithmetic::multiply(Pair a, Pair b) {
  const Value low = word(Op::mul, a.low, b.low);
  const Value carried = word(Op::mul_high_u, a.low, b.low);
  const Value low_high = word(Op::mul, a.low, b.high);
  const Value cross = word(Op::add, low_high, word(Op::mul, a.high, b.low));
  return {low, word(Op::add, carried, cross)};
}

/// The high half of the unsigned product.
Pair PairArithmetic::multiply_high(Pair a, Pair b) {
  const auto product = [&](Value x, Value y) {
    const Value low = word(Op::mul, x, y);
    return Pair{low, word(Op::mul_high_u, x, y)};
  };
  const Pair low_low = product(a.low, b.low), low_high = product(a.low, b.high);
  const Pair high_low = product(a.high, b.low), high_high = product(a.high, b.high);
  const Value zero = number(0);
  // The second word of the product: its carries, at most two, go up.
  const Pair middle = add(add(Pair{low_low.high, zero}, Pair{low_high.low, zero}), Pair{high_low.low, zero});
  const Pair upper = add(add(Pair{low_high.high, zero}, Pair{high_low.high, zero}), Pair{middle.high, zero});
  return add(high_high, upper);
}

Pair PairArithmetic::negate_if(Value condition, Pair a) {
  return select(condition, subtract(constant(0), a), a);
}

/// By the amount modulo 64. What leaves one word enters the other shifted by one and by the rest, since a shift by 32
/// would be one by nothing.
Pair PairArithmetic::shift(Op op, Pair a, Value amount) {
  const Value rest = word(Op::and_, amount, number(31));
  const Value complement = word(Op::sub, number(31), rest);
  const Value crosses = put(Op::not_equal, Type::boolean, {word(Op::and_, amount, number(32)), number(0)});
  if (op == Op::shift_left) {
    const Value low = word(Op::shift_left, a.low, rest);
    const Value moved = word(Op::shift_right_u, word(Op::shift_right_u, a.low, number(1)), complement);
    const Value high = word(Op::or_, word(Op::shift_left, a.high, rest), moved);
    return select(crosses, Pair{number(0), low}, Pair{low, high});
  }
  const Value high = word(op, a.high, rest);
  const Value moved = word(Op::shift_left, word(Op::shift_left, a.high, number(1)), complement);
  const Value low = word(Op::or_, word(Op::shift_right_u, a.low, rest), moved);
  const Value filled = op == Op::shift_right_s ? word(op, a.high, number(31)) : number(0);
  return select(crosses, Pair{high, filled}, Pair{low, high});
}

/// Bit by bit, from the top: a loop of 64 steps that carries the remainder, and the dividend as it becomes the
/// quotient.
Pair PairArithmetic::divide_in_steps(Pair a, Pair b, bool remainder) {
  const Value zero = number(0);
  Instruction loop{.op = Op::loop, .type = Type::i32, .operands = {zero, zero, zero, a.low, a.high}};
  const auto values = [&](size_t count) {
    std::vector<Value> made;
    for (size_t i = 0; i < count; ++i) made.push_back(kernel_.new_value(Type::i32));
    return made;
  };
  loop.results = values(2);
  Block body;
  body.parameters = values(5);
  const Value step = body.parameters[0];
  const Pair rest = {body.parameters[1], body.parameters[2]};
  const Pair quotient = {body.parameters[3], body.parameters[4]};

  PairArithmetic inner(kernel_, body.instructions);
  const Value done = inner.test(Op::equal, step, inner.number(64));
  const Pair result = remainder ? rest : quotient;
  Appender(kernel_, body.instructions)
      .if_(done, {{.op = Op::break_, .operands = {result.low, result.high}}}, {{.op = Op::yield}});
  const Value top = inner.word(Op::shift_right_u, quotient.high, inner.number(31));
  const Value overflows = inner.test(Op::less_s, rest.high, inner.number(0));
  const Value one = inner.number(1);
  const Pair doubled = inner.shift(Op::shift_left, rest, one);
  const Pair next_rest = {inner.word(Op::or_, doubled.low, top), doubled.high};
  const Pair next_quotient = inner.shift(Op::shift_left, quotient, one);
  const Value fits = inner.put(Op::or_, Type::boolean, {overflows, inner.compare(Op::less_equal_u, b, next_rest)});
  const Pair left = inner.select(fits, inner.subtract(next_rest, b), next_rest);
  const Value low = inner.word(Op::or_, next_quotient.low, inner.as_word(fits));
  const Value next_step = inner.word(Op::add, step, one);
  Appender(kernel_, body.instructions)
      .put({.op = Op::continue_, .operands = {next_step, left.low, left.high, low, next_quotient.high}});
  loop.blocks.push_back(std::move(body));
  const Pair results = {loop.results[0], loop.results[1]};
  list_.push_back(std::move(loop));
  return results;
}

/// Of unsigned numbers, the divisor not zero. Most fit a word and are divided as such.
Pair PairArithmetic::divide_unsigned(Pair a, Pair b, bool remainder) {
  const Value is_short = put(Op::equal, Type::boolean, {word(Op::or_, a.high, b.high), number(0)});
  Instruction branch{.op = Op::if_, .type = Type::i32, .operands = {is_short}};
  branch.results = {kernel_.new_value(Type::i32), kernel_.new_value(Type::i32)};
  branch.blocks.resize(2);
  std::vector<Instruction>& short_way = branch.blocks[0].instructions;
  PairArithmetic in_words(kernel_, short_way);
  const Value result = in_words.word(remainder ? Op::rem_u : Op::div_u, a.low, b.low);
  const Value zero = in_words.number(0);
  short_way.push_back({.op = Op::yield, .operands = {result, zero}});
  std::vector<Instruction>& long_way = branch.blocks[1].instructions;
  const Pair stepped = PairArithmetic(kernel_, long_way).divide_in_steps(a, b, remainder);
  long_way.push_back({.op = Op::yield, .operands = {stepped.low, stepped.high}});
  const Pair results = {branch.results[0], branch.results[1]};
  list_.push_back(std::move(branch));
  return results;
}

/// By a divisor of zero the quotient is the dividend, as by one, and the remainder zero. The magnitude of the smallest
/// number is right as an unsigned one.
Pair PairArithmetic::divide(Op op, Pair a, Pair b) {
  const bool is_signed = op == Op::div_s || op == Op::rem_s;
  const bool is_remainder = op == Op::rem_u || op == Op::rem_s;
  const Value divisor_is_zero = put(Op::equal, Type::boolean, {word(Op::or_, b.low, b.high), number(0)});
  Pair divisor = select(divisor_is_zero, constant(1), b);
  if (!is_signed) return divide_unsigned(a, divisor, is_remainder);
  const Value a_negative = is_negative(a);
  const Value b_negative = is_negative(divisor);
  const Pair dividend = negate_if(a_negative, a);
  divisor = negate_if(b_negative, divisor);
  const Pair result = divide_unsigned(dividend, divisor, is_remainder);
  const Value negative = is_remainder ? a_negative : put(Op::xor_, Type::boolean, {a_negative, b_negative});
  return negate_if(negative, result);
}

Pair PairArithmetic::integer(Op op, Pair a, Pair b) {
  const auto each = [&](Op of_words) {
    const Value low = word(of_words, a.low, b.low);
    return Pair{low, word(of_words, a.high, b.high)};
  };
  // Zeros counted in `first`, and on in `second` where `first` is zero.
  const auto count = [&](Value first, Value second) {
    const Value in_both = put(Op::add, Type::i32, {word(op, second), number(32)});
    const Value in_first = word(op, first);
    const Value counted = select(test(Op::equal, first, number(0)), in_both, in_first);
    return Pair{counted, number(0)};
  };
  switch (op) {
    case Op::add: return add(a, b);
    case Op::sub: return subtract(a, b);
    case Op::mul: return multiply(a, b);
    case Op::mul_high_u: return multiply_high(a, b);
    case Op::mul_high_s: {
      const Pair zero = constant(0);
      const Pair high = multiply_high(a, b);
      const Pair corrected = subtract(high, select(is_negative(a), b, zero));
      return subtract(corrected, select(is_negative(b), a, zero));
    }
    case Op::div_u:
    case Op::div_s:
    case Op::rem_u:
    case Op::rem_s: return divide(op, a, b);
    case Op::min_u: return select(compare(Op::less_u, a, b), a, b);
    case Op::min_s: return select(compare(Op::less_s, a, b), a, b);
    case Op::max_u: return select(compare(Op::less_u, a, b), b, a);
    case Op::max_s: return select(compare(Op::less_s, a, b), b, a);
    case Op::and_:
    case Op::or_:
    case Op::xor_: return each(op);
    case Op::not_: {
      const Value low = word(op, a.low);
      return {low, word(op, a.high)};
    }
    case Op::shift_left:
    case Op::shift_right_u:
    case Op::shift_right_s: return shift(op, a, b.low);
    case Op::count_bits: {
      const Value sum = put(Op::add, Type::i32, {word(op, a.low), word(op, a.high)});
      return {sum, number(0)};
    }
    case Op::count_leading_zeros: return count(a.high, a.low);
    case Op::count_trailing_zeros: return count(a.low, a.high);
    default: {
      const Value low = word(Op::reverse_bits, a.high);
      return {low, word(Op::reverse_bits, a.low)};
    }
  }
}

Value PairArithmetic::compare(Op op, Pair a, Pair b) {
  switch (op) {
    case Op::equal: return put(Op::and_, Type::boolean, {test(op, a.low, b.low), test(op, a.high, b.high)});
    case Op::not_equal: return put(Op::or_, Type::boolean, {test(op, a.low, b.low), test(op, a.high, b.high)});
    case Op::less_equal_u:
    case Op::less_equal_s:
      return put(Op::not_, Type::boolean, {compare(op == Op::less_equal_u ? Op::less_u : Op::less_s, b, a)});
    default: {
      const Value low_less = test(Op::less_u, a.low, b.low);
      const Value high_less = test(op, a.high, b.high);
      return select(test(Op::equal, a.high, b.high), low_less, high_less);
    }
  }
}

/// The 32 bits from the highest one that is set, the last of them set if any below is: f32 rounds such a number as it
/// would the whole one. Scaling back by a power of two is exact. f16 goes through f32, which holds all that f16 can.
Value PairArithmetic::to_float(Op op, Type type, Pair a) {
  const bool is_signed = op == Op::convert_s_to_f;
  const Value negative = is_signed ? is_negative(a) : Value{};
  const Pair magnitude = is_signed ? negate_if(negative, a) : a;
  const Pair zeros = integer(Op::count_leading_zeros, magnitude, magnitude);
  const Pair aligned = shift(Op::shift_left, magnitude, zeros.low);
  const Value sticky = as_word(test(Op::not_equal, aligned.low, number(0)));
  const Value leading = put(Op::convert_u_to_f, Type::f32, {word(Op::or_, aligned.high, sticky)});
  const Value exponent = word(Op::sub, number(127 + 32), zeros.low);
  const Value scale = put(Op::bitcast, Type::f32, {word(Op::shift_left, exponent, number(23))});
  Value result = put(Op::mul_f, Type::f32, {leading, scale});
  if (is_signed) result = select(negative, put(Op::neg_f, Type::f32, {result}), result);
  return type == Type::f32 ? result : put(Op::convert_f, type, {result});
}

/// Of an f32 above zero, rounded down; zero of others. Each step is exact: scaling, floor, and what is left.
Pair PairArithmetic::magnitude_of(Value value) {
  const Value zero = real(0);
  const Value positive = select(put(Op::less_f, Type::boolean, {zero, value}), value, zero);
  const Value scaled = put(Op::mul_f, Type::f32, {positive, real(0x1p-32f)});
  const Value upper = put(Op::floor, Type::f32, {scaled});
  const Value taken = put(Op::mul_f, Type::f32, {upper, real(0x1p32f)});
  const Value lower = put(Op::sub_f, Type::f32, {positive, taken});
  const Value low = put(Op::convert_f_to_u, Type::i32, {lower});
  return {low, put(Op::convert_f_to_u, Type::i32, {upper})};
}

Pair PairArithmetic::from_float(Op op, Value value) {
  if (kernel_.type_of(value) == Type::f16) value = put(Op::convert_f, Type::f32, {value});
  const auto at_least = [&](Value x, float limit) { return put(Op::less_equal_f, Type::boolean, {real(limit), x}); };
  if (op == Op::convert_f_to_u) {
    const Pair whole = magnitude_of(value);
    const Value too_large = at_least(value, 0x1p64f);
    return select(too_large, constant(~uint64_t{0}), whole);
  }
  const Value magnitude = put(Op::abs_f, Type::f32, {value});
  const Value negative = put(Op::less_f, Type::boolean, {value, real(0)});
  const Pair number_of = negate_if(negative, magnitude_of(magnitude));
  const Pair smallest = constant(uint64_t{1} << 63);
  const Pair limit = select(negative, smallest, constant(~uint64_t{0} >> 1));
  return select(at_least(magnitude, 0x1p63f), limit, number_of);
}

Pair PairArithmetic::reduce(Op op, Pair a) {
  if (op == Op::subgroup_min_u || op == Op::subgroup_max_u) {
    // The high words decide; among the lanes that have the deciding one, the low words do.
    const Value high = word(op, a.high);
    const Value takes_part = test(Op::equal, a.high, high);
    const Value neutral = number(op == Op::subgroup_min_u ? 0xffffffff : 0);
    return {word(op, select(takes_part, a.low, neutral)), high};
  }
  // Sums of the 16-bit pieces, none of which overflows with the few lanes that a subgroup has.
  Pair sum = {};
  for (uint32_t piece = 0; piece < 4; ++piece) {
    const Value half = piece < 2 ? a.low : a.high;
    const Value bits =
        piece % 2 == 0 ? word(Op::and_, half, number(0xffff)) : word(Op::shift_right_u, half, number(16));
    const Value total = word(op, bits);
    const Pair wide = {total, number(0)};
    const Pair placed = shift(Op::shift_left, wide, number(16 * piece));
    sum = piece == 0 ? placed : add(sum, placed);
  }
  return sum;
}

}  // namespace wavegate::kir
