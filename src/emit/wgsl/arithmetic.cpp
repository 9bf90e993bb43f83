#include "wavegate/emit/wgsl/arithmetic.h"

#include <algorithm>
#include <array>

#include "wavegate/base/format.h"
#include "wavegate/emit/wgsl/literal.h"

namespace wavegate::emit::wgsl {
namespace {

using kir::Op;
using kir::Type;

/// How an operation is written. In a pattern $a, $b, $c stand for the operands, $A and $B for integers as i32, and $T
/// for the type of the result. `special` is the pattern for bool, or for f16; empty where it is no other.
struct Row {
  Op op = Op::constant;
  std::string_view pattern = {};
  std::string_view special = {};
  std::optional<Helper> helper = std::nullopt;  ///< that the pattern calls
};

// kir's results are total, and so are WGSL's once the operands are not literals: integers wrap, x / 0 is x, x % 0 is 0,
// and the smallest integer divided by -1 is itself. Shift amounts are masked for compilers that leave it to the device.
constexpr Row kRows[] = {
    {Op::select, "select($c, $b, $a)"},
    {Op::add, "$a + $b"},
    {Op::sub, "$a - $b"},
    {Op::mul, "$a * $b"},
    {Op::mul_high_u, "mul_high_u($a, $b)", {}, Helper::mul_high_u},
    {Op::mul_high_s, "mul_high_s($a, $b)", {}, Helper::mul_high_s},
    {Op::div_u, "$a / $b"},
    {Op::div_s, "u32($A / $B)"},
    {Op::rem_u, "$a % $b"},
    {Op::rem_s, "u32($A % $B)"},
    // Not min() and max(): see emit/spirv/integers.cpp.
    {Op::min_u, "select($b, $a, $a < $b)"},
    {Op::min_s, "select($b, $a, $A < $B)"},
    {Op::max_u, "select($a, $b, $a < $b)"},
    {Op::max_s, "select($a, $b, $A < $B)"},
    {Op::and_, "$a & $b"},
    {Op::or_, "$a | $b"},
    {Op::xor_, "$a ^ $b", "$a != $b"},
    {Op::not_, "~$a", "!$a"},
    {Op::shift_left, "$a << ($b & 31u)"},
    {Op::shift_right_u, "$a >> ($b & 31u)"},
    {Op::shift_right_s, "u32($A >> ($b & 31u))"},
    {Op::count_bits, "countOneBits($a)"},
    {Op::count_leading_zeros, "countLeadingZeros($a)"},
    {Op::count_trailing_zeros, "countTrailingZeros($a)"},
    {Op::reverse_bits, "reverseBits($a)"},

    {Op::add_f, "$a + $b"},
    {Op::sub_f, "$a - $b"},
    {Op::mul_f, "$a * $b"},
    {Op::div_f, "$a / $b"},
    {Op::fma, "fma($a, $b, $c)"},
    {Op::neg_f, "-$a"},
    {Op::abs_f, "abs($a)"},
    {Op::min_f, "min_f($a, $b)", "f16(min_f(f32($a), f32($b)))", Helper::min_f},
    {Op::max_f, "max_f($a, $b)", "f16(max_f(f32($a), f32($b)))", Helper::max_f},
    {Op::sqrt, "sqrt($a)"},
    {Op::floor, "floor($a)"},
    {Op::ceil, "ceil($a)"},
    {Op::trunc, "trunc($a)"},
    {Op::round_even, "round($a)"},
    {Op::exp2, "exp2($a)"},
    {Op::log2, "log2($a)"},
    {Op::sin, "sin($a)"},
    {Op::cos, "cos($a)"},

    {Op::equal, "$a == $b"},
    {Op::not_equal, "$a != $b"},
    {Op::less_u, "$a < $b"},
    {Op::less_s, "$A < $B"},
    {Op::less_equal_u, "$a <= $b"},
    {Op::less_equal_s, "$A <= $B"},
    {Op::equal_f, "$a == $b"},
    {Op::not_equal_f, "!($a == $b)"},  // != need not be true of NaN where it is compiled to an ordered comparison
    {Op::less_f, "$a < $b"},
    {Op::less_equal_f, "$a <= $b"},
    {Op::is_nan, "is_nan($a)", "is_nan(f32($a))", Helper::is_nan},

    {Op::bitcast, "bitcast<$T>($a)"},
    {Op::convert_u_to_f, "f32($a)", "f16(f32($a))"},
    {Op::convert_s_to_f, "f32($A)", "f16(f32($A))"},
    {Op::convert_f_to_u, "f32_to_u32($a)", "f32_to_u32(f32($a))", Helper::f32_to_u32},
    {Op::convert_f_to_s, "f32_to_i32($a)", "f32_to_i32(f32($a))", Helper::f32_to_i32},
    {Op::convert_f, "$T($a)"},
};

constexpr auto kTable = [] {
  std::array<Row, kir::kOpCount> table = {};
  for (const Row& row : kRows) table[static_cast<size_t>(row.op)] = row;
  return table;
}();

bool divides(Op op) {
  return op >= Op::div_u && op <= Op::rem_s;
}
bool computes_float(Op op) {
  return op >= Op::add_f && op <= Op::fma;
}
bool shifts(Op op) {
  return op >= Op::shift_left && op <= Op::shift_right_s;
}

/// The operands of one instruction, as its pattern names them.
struct Operands {
  std::array<std::string, 3> plain;
  std::array<std::string, 3> as_signed;
};

Operands operands_of(Context& context, const kir::Instruction& instruction) {
  const auto& values = instruction.operands;
  const bool all_known = std::ranges::all_of(values, [&](kir::Value v) { return context.bits(v).has_value(); });
  Operands operands;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto bits = context.bits(values[i]);
    if (computes_float(instruction.op) && bits == 0) {
      operands.plain[i] = context.unknown_float(instruction.type, 0);
      continue;
    }
    const bool is_bad_divisor = divides(instruction.op) && i == 1 && bits == 0;
    const bool by_name = all_known || is_bad_divisor;
    operands.plain[i] = by_name ? context.runtime_value(values[i], instruction.result(), static_cast<char>('a' + i))
                                : context.value(values[i]);
    operands.as_signed[i] = bits && !all_known ? signed_literal(*bits) : wavegate::format("i32({})", operands.plain[i]);
  }
  return operands;
}

/// The text of a pattern.
std::string fill(std::string_view pattern, const Operands& operands, std::string_view type) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$') {
      text += pattern[i];
      continue;
    }
    const char name = pattern[++i];
    if (name == 'T')
      text += type;
    else if (name >= 'a')
      text += operands.plain[static_cast<size_t>(name - 'a')];
    else
      text += operands.as_signed[static_cast<size_t>(name - 'A')];
  }
  return text;
}

/// `x` of `x & 31u` is known: the amount is a literal.
std::string_view shift_pattern(Op op) {
  switch (op) {
    case Op::shift_left: return "$a << $b";
    case Op::shift_right_u: return "$a >> $b";
    default: return "u32($A >> $b)";
  }
}

}  // namespace

void emit_arithmetic(Context& context, const kir::Instruction& instruction) {
  const Type from = context.type_of(instruction.operands.back());
  if (instruction.op == Op::bitcast) {
    if (const auto bits = context.bits(instruction.operands[0]))
      return context.define_constant(instruction.result(), *bits);
    if (from == instruction.type) return context.alias(instruction.result(), context.value(instruction.operands[0]));
  }
  if (divides(instruction.op) && context.bits(instruction.operands[1]) == 0) {  // which no compiler wants to see
    if (instruction.op >= Op::rem_u) return context.define_constant(instruction.result(), 0);
    return context.alias(instruction.result(), context.value(instruction.operands[0]));
  }
  const Row& row = kTable[static_cast<size_t>(instruction.op)];
  if (row.helper) context.helpers.need(*row.helper);
  const bool is_special = from == Type::boolean || from == Type::f16 || instruction.type == Type::f16;
  std::string_view pattern = is_special && !row.special.empty() ? row.special : row.pattern;
  Operands operands = operands_of(context, instruction);
  if (shifts(instruction.op)) {
    const auto amount = context.bits(instruction.operands[1]);
    if (amount && !context.bits(instruction.operands[0])) {
      pattern = shift_pattern(instruction.op);
      operands.plain[1] = *literal(Type::i32, *amount & 31);
    }
  }
  context.define(instruction.result(), fill(pattern, operands, type_name(instruction.type)));
}

}  // namespace wavegate::emit::wgsl
