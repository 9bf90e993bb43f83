#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "wavegate/kir/kernel.h"

namespace wavegate::kir {

/// An i64 as two i32.
struct Pair {
  Value low, high;
};

/// Writes operations of i64 on pairs of words to the end of a list, for devices whose integers have 32 bits. The kernel
/// and the list must outlive it. Each result is what op.h says of the operation.
class PairArithmetic {
 public:
  PairArithmetic(Kernel& kernel, std::vector<Instruction>& list) : kernel_(kernel), list_(list) {}

  Pair constant(uint64_t bits);
  Pair select(Value condition, Pair if_true, Pair if_false);
  /// From `add` to `reverse_bits`; `b` is that of unary operations too, and is not looked at.
  Pair integer(Op op, Pair a, Pair b);
  /// From `equal` to `less_equal_s`.
  Value compare(Op op, Pair a, Pair b);
  /// convert_u_to_f and convert_s_to_f, to f32 or f16.
  Value to_float(Op op, Type type, Pair a);
  /// convert_f_to_u and convert_f_to_s, from f32 or f16.
  Pair from_float(Op op, Value value);
  /// subgroup_add, subgroup_exclusive_add, subgroup_min_u and subgroup_max_u.
  Pair reduce(Op op, Pair a);

 private:
  Value put(Op op, Type type, std::initializer_list<Value> operands);
  Value word(Op op, Value a, Value b) { return put(op, Type::i32, {a, b}); }
  Value word(Op op, Value a) { return put(op, Type::i32, {a}); }
  Value test(Op op, Value a, Value b) { return put(op, Type::boolean, {a, b}); }
  Value number(uint32_t bits);
  Value real(float value);
  Value select(Value condition, Value if_true, Value if_false);
  Value is_negative(Pair a);
  Value as_word(Value condition);

  Pair add(Pair a, Pair b);
  Pair subtract(Pair a, Pair b);
  Pair multiply(Pair a, Pair b);
  Pair multiply_high(Pair a, Pair b);
  Pair negate_if(Value condition, Pair a);
  Pair shift(Op op, Pair a, Value amount);
  Pair divide(Op op, Pair a, Pair b);
  Pair divide_unsigned(Pair a, Pair b, bool remainder);
  Pair divide_in_steps(Pair a, Pair b, bool remainder);
  Pair magnitude_of(Value value);

  Kernel& kernel_;
  std::vector<Instruction>& list_;
};

}  // namespace wavegate::kir
