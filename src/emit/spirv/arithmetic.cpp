#include "wavegate/emit/spirv/arithmetic.h"

#include <array>

namespace wavegate::emit::spirv {
namespace {

using enum spv::Op;

/// How an operation is written: one SPIR-V instruction (of the core or of GLSL.std.450) with the same operands, its
/// form on booleans where that differs, or a function.
struct Row {
  kir::Op op = kir::Op::constant;
  spv::Op core = OpNop;
  spv::Op boolean = OpNop;
  GLSLstd450 extended = GLSLstd450Bad;
  bool exact = false;  ///< a float result that must not be contracted
  Id (*function)(Context&, const kir::Instruction&) = nullptr;
};

constexpr Row core(kir::Op op, spv::Op code, spv::Op boolean = OpNop) {
  return {.op = op, .core = code, .boolean = boolean};
}
constexpr Row exact(kir::Op op, spv::Op code) {
  return {.op = op, .core = code, .exact = true};
}
constexpr Row exact_glsl(kir::Op op, GLSLstd450 code) {
  return {.op = op, .extended = code, .exact = true};
}
constexpr Row own(kir::Op op, Id (*function)(Context&, const kir::Instruction&)) {
  return {.op = op, .function = function};
}

constexpr Row kRows[] = {
    core(kir::Op::select, OpSelect),
    core(kir::Op::add, OpIAdd),
    core(kir::Op::sub, OpISub),
    core(kir::Op::mul, OpIMul),
    own(kir::Op::mul_high_u, integers::multiply_high),
    own(kir::Op::mul_high_s, integers::multiply_high),
    own(kir::Op::div_u, integers::divide),
    own(kir::Op::div_s, integers::divide),
    own(kir::Op::rem_u, integers::remainder),
    own(kir::Op::rem_s, integers::remainder),
    own(kir::Op::min_u, integers::minimum_or_maximum),
    own(kir::Op::min_s, integers::minimum_or_maximum),
    own(kir::Op::max_u, integers::minimum_or_maximum),
    own(kir::Op::max_s, integers::minimum_or_maximum),
    core(kir::Op::and_, OpBitwiseAnd, OpLogicalAnd),
    core(kir::Op::or_, OpBitwiseOr, OpLogicalOr),
    core(kir::Op::xor_, OpBitwiseXor, OpLogicalNotEqual),
    core(kir::Op::not_, OpNot, OpLogicalNot),
    own(kir::Op::shift_left, integers::shift),
    own(kir::Op::shift_right_u, integers::shift),
    own(kir::Op::shift_right_s, integers::shift),
    own(kir::Op::count_bits, integers::count_bits),
    own(kir::Op::count_leading_zeros, integers::count_leading_zeros),
    own(kir::Op::count_trailing_zeros, integers::count_trailing_zeros),
    own(kir::Op::reverse_bits, integers::reverse_bits),

    exact(kir::Op::add_f, OpFAdd),
    exact(kir::Op::sub_f, OpFSub),
    exact(kir::Op::mul_f, OpFMul),
    own(kir::Op::div_f, floats::divide),
    exact_glsl(kir::Op::fma, GLSLstd450Fma),
    exact(kir::Op::neg_f, OpFNegate),
    exact_glsl(kir::Op::abs_f, GLSLstd450FAbs),
    own(kir::Op::min_f, floats::minimum_or_maximum),
    own(kir::Op::max_f, floats::minimum_or_maximum),
    own(kir::Op::sqrt, floats::square_root),
    exact_glsl(kir::Op::floor, GLSLstd450Floor),
    exact_glsl(kir::Op::ceil, GLSLstd450Ceil),
    own(kir::Op::trunc, floats::truncate),
    own(kir::Op::round_even, floats::round_even),
    exact_glsl(kir::Op::exp2, GLSLstd450Exp2),
    exact_glsl(kir::Op::log2, GLSLstd450Log2),
    exact_glsl(kir::Op::sin, GLSLstd450Sin),
    exact_glsl(kir::Op::cos, GLSLstd450Cos),

    core(kir::Op::equal, OpIEqual, OpLogicalEqual),
    core(kir::Op::not_equal, OpINotEqual, OpLogicalNotEqual),
    core(kir::Op::less_u, OpULessThan),
    core(kir::Op::less_s, OpSLessThan),
    core(kir::Op::less_equal_u, OpULessThanEqual),
    core(kir::Op::less_equal_s, OpSLessThanEqual),
    // Comparisons are marked too: else a compiler may turn the negation of a < b into a >= b, which differs on NaN.
    exact(kir::Op::equal_f, OpFOrdEqual),
    exact(kir::Op::not_equal_f, OpFUnordNotEqual),
    exact(kir::Op::less_f, OpFOrdLessThan),
    exact(kir::Op::less_equal_f, OpFOrdLessThanEqual),
    exact(kir::Op::is_nan, OpIsNan),

    own(kir::Op::bitcast, floats::bitcast),
    own(kir::Op::extend_u, integers::resize),
    own(kir::Op::extend_s, integers::resize),
    own(kir::Op::truncate, integers::resize),
    own(kir::Op::convert_u_to_f, floats::from_integer),
    own(kir::Op::convert_s_to_f, floats::from_integer),
    own(kir::Op::convert_f_to_u, floats::to_integer),
    own(kir::Op::convert_f_to_s, floats::to_integer),
    own(kir::Op::convert_f, floats::resize),
};

constexpr auto kTable = [] {
  std::array<Row, kir::kOpCount> table = {};
  for (const Row& row : kRows) table[static_cast<size_t>(row.op)] = row;
  return table;
}();

}  // namespace

Id emit_arithmetic(Context& context, const kir::Instruction& instruction) {
  const Row& row = kTable[static_cast<size_t>(instruction.op)];
  if (row.function) return row.function(context, instruction);

  ModuleBuilder& module = context.module;
  const Id type = module.type(instruction.type);
  const auto& operands = instruction.operands;
  const auto write = [&](auto put) {
    const auto value = [&](size_t i) { return context.value(operands[i]); };
    switch (operands.size()) {
      case 1: return put({value(0)});
      case 2: return put({value(0), value(1)});
      default: return put({value(0), value(1), value(2)});
    }
  };
  Id result = 0;
  if (row.core != OpNop) {
    const bool is_boolean = context.kernel.type_of(operands.back()) == kir::Type::boolean;
    const spv::Op code = is_boolean && row.boolean != OpNop ? row.boolean : row.core;
    result = write([&](std::initializer_list<uint32_t> ids) { return module.put(code, type, ids); });
  } else {
    const auto code = static_cast<uint32_t>(row.extended);
    result = write([&](std::initializer_list<uint32_t> ids) { return module.put_extended(code, type, ids); });
  }
  return row.exact ? context.exact(result) : result;
}

}  // namespace wavegate::emit::spirv
