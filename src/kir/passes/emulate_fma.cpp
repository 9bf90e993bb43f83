#include "wavegate/kir/passes/emulate_fma.h"

#include <map>
#include <utility>

#include "wavegate/base/format.h"

namespace wavegate::kir {
namespace {

class Code;

/// A value of the code that replaces an fma. `< >=` and `>>` are unsigned.
struct Term {
  Code* code = nullptr;
  Value value;
};

/// Writes instructions into a block that is being rebuilt. Constants go to the kernel's start, each one once.
class Code {
 public:
  explicit Code(Kernel& kernel) : kernel_(kernel) {}

  void start(std::vector<Instruction>& block) { block_ = &block; }
  const std::vector<Instruction>& constants() const { return constants_; }
  Type type_of(Term term) const { return kernel_.type_of(term.value); }

  Term emit(Op op, Type type, std::initializer_list<Term> operands) {
    return emit_into(kernel_.new_value(type), op, operands);
  }

  Term emit_into(Value result, Op op, std::initializer_list<Term> operands) {
    Instruction instruction{.op = op, .type = kernel_.type_of(result), .results = {result}};
    for (const Term operand : operands) instruction.operands.push_back(operand.value);
    block_->push_back(std::move(instruction));
    return {this, result};
  }

  Term number(Type type, uint64_t bits) {
    bits &= ~uint64_t{0} >> (64 - bit_width(type));
    const auto [found, is_new] = numbers_.try_emplace({type, bits});
    if (is_new) {
      found->second = kernel_.new_value(type);
      constants_.push_back({.op = Op::constant, .type = type, .bits = bits, .results = {found->second}});
    }
    return {this, found->second};
  }

 private:
  Kernel& kernel_;
  std::vector<Instruction>* block_ = nullptr;
  std::vector<Instruction> constants_;
  std::map<std::pair<Type, uint64_t>, Value> numbers_;
};

Term apply(Op op, Term a, Term b) {
  return a.code->emit(op, a.code->type_of(a), {a, b});
}
Term apply(Op op, Term a, uint64_t b) {
  return apply(op, a, a.code->number(a.code->type_of(a), b));
}
Term compare(Op op, Term a, Term b) {
  return a.code->emit(op, Type::boolean, {a, b});
}
Term compare(Op op, Term a, uint64_t b) {
  return compare(op, a, a.code->number(a.code->type_of(a), b));
}
Term convert(Op op, Type to, Term a) {
  return a.code->emit(op, to, {a});
}

Term operator+(Term a, Term b) {
  return apply(Op::add, a, b);
}
Term operator+(Term a, uint64_t b) {
  return apply(Op::add, a, b);
}
Term operator-(Term a, Term b) {
  return apply(Op::sub, a, b);
}
Term operator-(Term a, uint64_t b) {
  return apply(Op::sub, a, b);
}
Term operator&(Term a, Term b) {
  return apply(Op::and_, a, b);
}
Term operator&(Term a, uint64_t b) {
  return apply(Op::and_, a, b);
}
Term operator|(Term a, Term b) {
  return apply(Op::or_, a, b);
}
Term operator|(Term a, uint64_t b) {
  return apply(Op::or_, a, b);
}
Term operator^(Term a, Term b) {
  return apply(Op::xor_, a, b);
}
Term operator<<(Term a, Term b) {
  return apply(Op::shift_left, a, b);
}
Term operator<<(Term a, uint64_t b) {
  return apply(Op::shift_left, a, b);
}
Term operator>>(Term a, Term b) {
  return apply(Op::shift_right_u, a, b);
}
Term operator>>(Term a, uint64_t b) {
  return apply(Op::shift_right_u, a, b);
}
Term operator~(Term a) {
  return a.code->emit(Op::not_, a.code->type_of(a), {a});
}

Term is_zero(Term a) {
  return compare(Op::equal, a, 0);
}
Term is_nonzero(Term a) {
  return compare(Op::not_equal, a, 0);
}
Term is_negative(Term a) {
  return compare(Op::less_s, a, 0);
}
Term equals(Term a, uint64_t b) {
  return compare(Op::equal, a, b);
}
Term exceeds(Term a, uint64_t b) {
  return compare(Op::less_u, a.code->number(a.code->type_of(a), b), a);
}
Term minimum(Term a, uint64_t b) {
  return apply(Op::min_u, a, b);
}
Term select(Term condition, Term a, Term b) {
  return a.code->emit(Op::select, a.code->type_of(a), {condition, a, b});
}
Term select(Term condition, uint64_t a, Term b) {
  return select(condition, b.code->number(b.code->type_of(b), a), b);
}
/// 0 or 1 in the given type.
Term as_number(Term condition, Type type) {
  return condition.code->emit(Op::select, type,
                              {condition, condition.code->number(type, 1), condition.code->number(type, 0)});
}
/// 0 or all ones in the given type.
Term as_mask(Term condition, Type type) {
  return condition.code->emit(Op::select, type,
                              {condition, condition.code->number(type, ~uint64_t{0}), condition.code->number(type, 0)});
}
Term count_leading_zeros(Term a) {
  return a.code->emit(Op::count_leading_zeros, a.code->type_of(a), {a});
}

// ---- Through a float type with more than twice the precision.

/// p + c, rounded to odd: where the sum is inexact, of the two neighbours the one with an odd last bit. What is then
/// rounded to a type two or more bits narrower is as if rounded once (Boldo and Melquiond).
Term sum_rounded_to_odd(Term p, Term c) {
  Code& code = *p.code;
  const Type type = code.type_of(p);
  // Knuth's TwoSum: the error of a sum is a float, and this is it. Of an infinite sum it is NaN.
  const Term sum = apply(Op::add_f, p, c);
  const Term c_part = apply(Op::sub_f, sum, p);
  const Term p_part = apply(Op::sub_f, sum, c_part);
  const Term error = apply(Op::add_f, apply(Op::sub_f, p, p_part), apply(Op::sub_f, c, c_part));

  const Term zero = code.number(type, 0);
  const Term above = compare(Op::less_f, zero, error);
  const Term below = compare(Op::less_f, error, zero);
  const Term bits = convert(Op::bitcast, type == Type::f64 ? Type::i64 : Type::i32, sum);
  const Term away_from_zero = above ^ is_negative(bits);
  const Term inexact_and_even = (above | below) & is_zero(bits & 1);
  const Term neighbour = select(away_from_zero, bits + 1, bits - 1);
  return convert(Op::bitcast, type, select(inexact_and_even, neighbour, bits));
}

void fma_through(Type wide, Value result, Term a, Term b, Term c) {
  const Term product = apply(Op::mul_f, convert(Op::convert_f, wide, a), convert(Op::convert_f, wide, b));  // exact
  const Term sum = sum_rounded_to_odd(product, convert(Op::convert_f, wide, c));
  a.code->emit_into(result, Op::convert_f, {sum});
}

// ---- In integers.

/// A float type as integers of its own width see it.
struct Format {
  Type word;
  uint32_t width;      ///< bits of a word
  uint32_t precision;  ///< bits of a mantissa, the implicit one too

  uint64_t sign() const { return uint64_t{1} << (width - 1); }
  uint64_t implicit() const { return uint64_t{1} << (precision - 1); }
  uint64_t largest_exponent() const { return (uint64_t{1} << (width - precision)) - 1; }
  uint64_t bias() const { return largest_exponent() >> 1; }
  uint64_t infinity() const { return largest_exponent() << (precision - 1); }
  uint64_t nan() const { return infinity() | implicit() >> 1; }
};

constexpr Format kF32 = {Type::i32, 32, 24};
constexpr Format kF64 = {Type::i64, 64, 53};

/// Bits below a product's last one: enough for a sum to be rounded right after its terms were aligned with the lost
/// bits collected in the last one.
constexpr uint32_t kGuardBits = 3;

/// mantissa * 2^(exponent - bias - (precision - 1)); the mantissa's top bit is set also of denormals.
struct Number {
  Term magnitude;  ///< the float's bits without the sign
  Term mantissa;
  Term exponent;  ///< of zero, any
};

Number decode(const Format& format, Term bits) {
  const Term magnitude = bits & ~format.sign();
  const Term exponent = magnitude >> (format.precision - 1);
  const Term fraction = magnitude & (format.implicit() - 1);
  const Term mantissa = select(is_zero(exponent), fraction, fraction | format.implicit());
  const Term shift = count_leading_zeros(mantissa) - (format.width - format.precision);
  return {magnitude, mantissa << shift, apply(Op::max_u, exponent, 1) - shift};
}

/// An integer of two words.
struct Pair {
  Term low;
  Term high;
};

Pair select(Term condition, Pair a, Pair b) {
  return {select(condition, a.low, b.low), select(condition, a.high, b.high)};
}

/// a + b, or a - b where the mask is all ones.
Pair add_or_subtract(Pair a, Pair b, Term subtract, Term mask) {
  const Type word = mask.code->type_of(mask);
  const Term b_low = b.low ^ mask;
  const Term sum = a.low + b_low;
  const Term low = sum - mask;
  const Term carry = as_number(compare(Op::less_u, sum, b_low) | (subtract & is_zero(low)), word);
  return {low, a.high + (b.high ^ mask) + carry};
}

/// The magnitude, given whether it is negative.
Pair absolute(Pair a, Term negative) {
  const Type word = a.low.code->type_of(a.low);
  const Term mask = as_mask(negative, word);
  const Term low = (a.low ^ mask) - mask;
  return {low, (a.high ^ mask) + as_number(negative & is_zero(low), word)};
}

/// The bits below an amount. Shift amounts count modulo the width, here and below.
Term low_bits(Term a, Term amount) {
  return a & ((a.code->number(a.code->type_of(a), 1) << amount) - 1);
}

/// a >> amount, with the last bit set if any that fell out was. Precondition: amount < width.
Term shift_right_sticky(Term a, Term amount) {
  const Term lost = is_nonzero(low_bits(a, amount));
  return (a >> amount) | as_number(lost, a.code->type_of(a));
}

/// The same of two words. Precondition: amount < 2 * width.
Pair shift_right_sticky(const Format& format, Pair a, Term amount) {
  const Term whole_word = exceeds(amount, format.width - 1);
  const Term zero = amount.code->number(format.word, 0);
  const Term lost_word = select(whole_word, a.low, zero);
  const Pair rest = select(whole_word, Pair{a.high, zero}, a);
  const Term lost = is_nonzero(lost_word | low_bits(rest.low, amount));
  // ~amount is width - 1 - amount modulo the width, so that an amount of 0 takes no bit.
  const Term low = (rest.low >> amount) | ((rest.high << 1) << ~amount);
  return {low | as_number(lost, format.word), rest.high >> amount};
}

/// Precondition: amount < 2 * width, or a is zero.
Pair shift_left(const Format& format, Pair a, Term amount) {
  const Term whole_word = exceeds(amount, format.width - 1);
  const Term zero = amount.code->number(format.word, 0);
  const Pair rest = select(whole_word, Pair{zero, a.low}, a);
  return {rest.low << amount, (rest.high << amount) | ((rest.low >> 1) >> ~amount)};
}

Term count_leading_zeros(const Format& format, Pair a) {
  return select(is_zero(a.high), count_leading_zeros(a.low) + format.width, count_leading_zeros(a.high));
}

/// The float's bits without the sign of sum * 2^(exponent - bias - 2 * (precision - 1) - kGuardBits), rounded to
/// nearest even. The last bit of the sum may stand for bits that were lost.
Term round_to_nearest(const Format& format, Pair sum, Term exponent) {
  const Term leading = count_leading_zeros(format, sum);
  const Pair normal = shift_left(format, sum, leading);
  const Term top = normal.high | as_number(is_nonzero(normal.low), format.word);
  const Term biased = exponent + (2 * format.width + 1 - 2 * format.precision - kGuardBits) - leading;

  const Term is_denormal = compare(Op::less_s, biased, 1);
  const Term one = biased.code->number(format.word, 1);
  const Term zero = biased.code->number(format.word, 0);
  const Term shift = select(is_denormal, minimum(one - biased, format.width - 1), zero);
  const Term shifted = shift_right_sticky(top, shift);

  const uint32_t dropped = format.width - format.precision;
  const Term mantissa = shifted >> dropped;
  const Term rest = shifted & ((uint64_t{1} << dropped) - 1);
  const Term up = as_number(exceeds(rest + (mantissa & 1), uint64_t{1} << (dropped - 1)), format.word);
  // The implicit bit, or a carry into it, adds the last 1 to the exponent; a carry out of the largest gives infinity.
  // An exponent beyond the largest has one bit more than the field, which is where the sign will be.
  const Term below = select(is_denormal, zero, biased - 1);
  const Term magnitude = minimum((below << (format.precision - 1)) + mantissa + up, format.infinity());
  return select(is_zero(sum.low | sum.high), 0, magnitude);
}

void fma_in_integers(const Format& format, Value result, Term a_float, Term b_float, Term c_float) {
  const Term a_bits = convert(Op::bitcast, format.word, a_float);
  const Term b_bits = convert(Op::bitcast, format.word, b_float);
  const Term c_bits = convert(Op::bitcast, format.word, c_float);
  const Number a = decode(format, a_bits);
  const Number b = decode(format, b_bits);
  const Number c = decode(format, c_bits);
  const Term product_sign = (a_bits ^ b_bits) & format.sign();
  const Term c_sign = c_bits & format.sign();

  // Both terms as two words with the same scale but for the exponent. Zero takes the other term's exponent.
  const Term guarded = a.mantissa << kGuardBits;
  const Pair product = {apply(Op::mul, guarded, b.mantissa), apply(Op::mul_high_u, guarded, b.mantissa)};
  const uint32_t scale = format.precision - 1 + kGuardBits;
  const Pair addend = {c.mantissa << scale, c.mantissa >> (format.width - scale)};
  const Term product_is_zero = is_zero(a.mantissa) | is_zero(b.mantissa);
  const Term product_exponent = select(product_is_zero, c.exponent, a.exponent + b.exponent - format.bias());
  const Term addend_exponent = select(is_zero(c.mantissa), product_exponent, c.exponent);

  const Term distance = product_exponent - addend_exponent;
  const Term addend_leads = is_negative(distance);
  const Term swap_mask = as_mask(addend_leads, format.word);
  const Term gap = minimum((distance ^ swap_mask) - swap_mask, 2 * format.width - 1);
  const Pair leading = select(addend_leads, addend, product);
  const Pair trailing = shift_right_sticky(format, select(addend_leads, product, addend), gap);
  const Term exponent = select(addend_leads, addend_exponent, product_exponent);

  const Term signs_differ = is_nonzero(product_sign ^ c_sign);
  const Pair signed_sum = add_or_subtract(leading, trailing, signs_differ, as_mask(signs_differ, format.word));
  const Term negative = is_negative(signed_sum.high);
  const Pair sum = absolute(signed_sum, negative);
  const Term magnitude = round_to_nearest(format, sum, exponent);
  const Term leading_sign = select(addend_leads, c_sign, product_sign);
  const Term sum_sign = leading_sign ^ (as_mask(negative, format.word) & format.sign());
  const Term sign = select(is_zero(sum.low | sum.high), product_sign & c_sign, sum_sign);

  const uint64_t infinity = format.infinity();
  const Term product_is_infinite = equals(a.magnitude, infinity) | equals(b.magnitude, infinity);
  const Term c_is_infinite = equals(c.magnitude, infinity);
  const Term is_nan = exceeds(a.magnitude, infinity) | exceeds(b.magnitude, infinity) | exceeds(c.magnitude, infinity) |
                      (product_is_infinite & product_is_zero) | (product_is_infinite & c_is_infinite & signs_differ);
  const Term finite = sign | magnitude;
  const Term number = select(product_is_infinite, product_sign | infinity, select(c_is_infinite, c_bits, finite));
  a_float.code->emit_into(result, Op::bitcast, {select(is_nan, format.nan(), number)});
}

// ---- The pass.

bool is_replaced(const Instruction& instruction, const FmaSupport& support) {
  if (instruction.op != Op::fma) return false;
  return !(instruction.type == Type::f32 && support.fused_f32) && !(instruction.type == Type::f64 && support.fused_f64);
}

void emulate(Code& code, const FmaSupport& support, const Instruction& fma) {
  const Term a{&code, fma.operands[0]};
  const Term b{&code, fma.operands[1]};
  const Term c{&code, fma.operands[2]};
  if (fma.type == Type::f16) {
    fma_through(Type::f32, fma.result(), a, b, c);
  } else if (fma.type == Type::f64) {
    fma_in_integers(kF64, fma.result(), a, b, c);
  } else if (support.has_f64 && support.has_i64) {
    fma_through(Type::f64, fma.result(), a, b, c);
  } else {
    fma_in_integers(kF32, fma.result(), a, b, c);
  }
}

/// The number of fma replaced in the block.
uint32_t emulate_block(Code& code, const FmaSupport& support, Block& block) {
  uint32_t replaced = 0;
  std::vector<Instruction> rebuilt;
  rebuilt.reserve(block.instructions.size());
  for (Instruction& instruction : block.instructions) {
    for (Block& inner : instruction.blocks) replaced += emulate_block(code, support, inner);
    if (!is_replaced(instruction, support)) {
      rebuilt.push_back(std::move(instruction));
      continue;
    }
    code.start(rebuilt);
    emulate(code, support, instruction);
    ++replaced;
  }
  block.instructions = std::move(rebuilt);
  return replaced;
}

}  // namespace

Result<PassStats> emulate_fma(Kernel& kernel, const FmaSupport& support) {
  bool impossible = false;
  walk(kernel.body, [&](const Instruction& instruction) {
    if (instruction.type == Type::f64 && !support.has_i64 && is_replaced(instruction, support)) impossible = true;
  });
  if (impossible) {
    return unsupported(format("kernel \"{}\": the device rounds an f64 fma twice and has no i64 to emulate it in; "
                              "use mul_f and add_f where one rounding does not matter",
                              kernel.interface.name),
                       "emulate_fma");
  }
  Code code(kernel);
  PassStats stats;
  stats.changed = emulate_block(code, support, kernel.body);
  kernel.body.instructions.insert(kernel.body.instructions.begin(), code.constants().begin(), code.constants().end());
  return stats;
}

}  // namespace wavegate::kir
