#include "wavegate/kir/builder.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "wavegate/base/format.h"
#include "wavegate/kir/text.h"

namespace wavegate::kir {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string finished_text(Builder& b) {
  const Result<Kernel> kernel = b.finish();
  return kernel.ok() ? print(*kernel) : "error: " + kernel.error().message;
}

/// The text of a kernel whose body `build` writes.
std::string built(const std::function<void(Builder&)>& build) {
  Builder b("k");
  build(b);
  return finished_text(b);
}

TEST(Builder, builds_saxpy) {
  Builder b("saxpy", {64});
  const MemoryRef x = b.buffer("x", Type::f32, Access::read);
  const MemoryRef y = b.buffer("y", Type::f32, Access::read_write);
  const Expr n = b.parameter("n", Type::i32);
  const Expr a = b.parameter("a", Type::f32);
  const Expr i = b.global_id();
  b.if_(i < n, [&] {
    const Expr scaled = a * x[i];
    y[i] = scaled + y[i];
  });
  EXPECT_EQ(finished_text(b), R"(kernel saxpy {
  workgroup_size 64 1 1
  buffer x f32 read
  buffer y f32 read_write
  parameter n i32
  parameter a f32

  %0: i32 = parameter n
  %1: f32 = parameter a
  %2: i32 = builtin global_id 0
  %3: bool = less_u %2, %0
  if %3 {
    %4: f32 = load x[%2]
    %5: f32 = mul_f %1, %4
    %6: f32 = load y[%2]
    %7: f32 = add_f %5, %6
    store y[%2], %7
  }
}
)");
}

// Operators.

struct Operator {
  std::string_view name;
  Expr (*apply)(Expr, Expr);
  Type type;
  std::string_view line;
};

class Operators : public testing::TestWithParam<Operator> {};

TEST_P(Operators, choose_the_operation_by_type) {
  Builder b("k");
  const Expr left = b.parameter("l", GetParam().type);
  const Expr right = b.parameter("r", GetParam().type);
  GetParam().apply(left, right);
  EXPECT_THAT(finished_text(b), HasSubstr(format("%2: {}\n", GetParam().line)));
}

#define WAVEGATE_BINARY(symbol, type, line)                              \
  Operator {                                                             \
#symbol, [](Expr l, Expr r) { return l symbol r; }, Type::type, line \
  }
#define WAVEGATE_UNARY(symbol, type, line)                           \
  Operator {                                                         \
#symbol, [](Expr l, Expr) { return symbol l; }, Type::type, line \
  }

INSTANTIATE_TEST_SUITE_P(
    Builder, Operators,
    testing::Values(
        WAVEGATE_BINARY(+, i32, "i32 = add %0, %1"), WAVEGATE_BINARY(+, f32, "f32 = add_f %0, %1"),
        WAVEGATE_BINARY(-, i64, "i64 = sub %0, %1"), WAVEGATE_BINARY(-, f64, "f64 = sub_f %0, %1"),
        WAVEGATE_BINARY(*, i32, "i32 = mul %0, %1"), WAVEGATE_BINARY(*, f16, "f16 = mul_f %0, %1"),
        WAVEGATE_BINARY(/, i32, "i32 = div_u %0, %1"), WAVEGATE_BINARY(/, f32, "f32 = div_f %0, %1"),
        WAVEGATE_BINARY(%, i32, "i32 = rem_u %0, %1"), WAVEGATE_BINARY(&, i32, "i32 = and %0, %1"),
        WAVEGATE_BINARY(|, i32, "i32 = or %0, %1"), WAVEGATE_BINARY(^, i32, "i32 = xor %0, %1"),
        WAVEGATE_BINARY(<<, i32, "i32 = shift_left %0, %1"), WAVEGATE_BINARY(>>, i32, "i32 = shift_right_u %0, %1"),
        WAVEGATE_BINARY(==, i32, "bool = equal %0, %1"), WAVEGATE_BINARY(==, f32, "bool = equal_f %0, %1"),
        WAVEGATE_BINARY(!=, i32, "bool = not_equal %0, %1"), WAVEGATE_BINARY(!=, f32, "bool = not_equal_f %0, %1"),
        WAVEGATE_BINARY(<, i32, "bool = less_u %0, %1"), WAVEGATE_BINARY(<, f32, "bool = less_f %0, %1"),
        WAVEGATE_BINARY(<=, i32, "bool = less_equal_u %0, %1"), WAVEGATE_BINARY(<=, f32, "bool = less_equal_f %0, %1"),
        WAVEGATE_BINARY(>, i32, "bool = less_u %1, %0"), WAVEGATE_BINARY(>, f32, "bool = less_f %1, %0"),
        WAVEGATE_BINARY(>=, i32, "bool = less_equal_u %1, %0"), WAVEGATE_BINARY(>=, f32, "bool = less_equal_f %1, %0"),
        WAVEGATE_UNARY(-, f32, "f32 = neg_f %0"), WAVEGATE_UNARY(~, i32, "i32 = not %0")));

TEST(Builder, integer_negation_subtracts_from_zero) {
  EXPECT_THAT(built([](Builder& b) { -b.parameter("i", Type::i32); }),
              HasSubstr("%1: i32 = constant 0\n  %2: i32 = sub %1, %0\n"));
}

TEST(Builder, logical_not_inverts_a_condition) {
  EXPECT_THAT(built([](Builder& b) { !b.boolean(true); }), HasSubstr("%1: bool = not %0\n"));
}

TEST(Builder, a_number_on_either_side_takes_the_type_of_the_other) {
  const std::string text = built([](Builder& b) {
    const Expr f = b.parameter("f", Type::f32);
    0.5f * f + 1;
  });
  EXPECT_THAT(text, HasSubstr("%1: f32 = constant 0.5\n  %2: f32 = mul_f %1, %0\n"));
  EXPECT_THAT(text, HasSubstr("%3: f32 = constant 1.0\n  %4: f32 = add_f %2, %3\n"));
}

TEST(Builder, elements_variables_and_scalars_read_as_values_beside_numbers) {
  const std::string text = built([](Builder& b) {
    const MemoryRef y = b.buffer("y", Type::i32, Access::read_write);
    const ScalarRef s = b.scalar("s", Type::i32, Access::read_write);
    const Variable v = b.variable(b.u32(7));
    s = y[3] + 1;
    y[0] = s;
    y[1] = 2 * v;
    v = 9;
    y[2] = v;
    s = 4;
    y[4] = 5;
    y[5] = y[6];
  });
  EXPECT_THAT(text, Not(HasSubstr("error")));
  EXPECT_THAT(text, HasSubstr("load_scalar s"));
}

TEST(Builder, large_64_bit_numbers_keep_every_bit) {
  EXPECT_THAT(built([](Builder& b) { b.parameter("i", Type::i64) + 0x7123456789abcdef; }),
              HasSubstr(format("constant {}\n", 0x7123456789abcdef)));
}

// Numbers that fit and numbers that do not.

struct FittingNumber {
  std::string_view name;
  Expr (*make)(Builder&);
  std::string_view expected;
};

class FittingNumbers : public testing::TestWithParam<FittingNumber> {};

TEST_P(FittingNumbers, are_checked_against_the_type) {
  EXPECT_THAT(built([](Builder& b) { GetParam().make(b); }), HasSubstr(GetParam().expected));
}

#define WAVEGATE_NUMBER(type, value, expected)                                \
  FittingNumber {                                                             \
#value, [](Builder & b) { return b.number(Type::type, value); }, expected \
  }

INSTANTIATE_TEST_SUITE_P(
    Builder, FittingNumbers,
    testing::Values(WAVEGATE_NUMBER(i32, -1, "constant -1\n"), WAVEGATE_NUMBER(i32, 4294967295u, "constant -1\n"),
                    WAVEGATE_NUMBER(i32, 2.0, "constant 2\n"), WAVEGATE_NUMBER(i8, -128, "constant -128\n"),
                    WAVEGATE_NUMBER(i8, 255, "constant -1\n"), WAVEGATE_NUMBER(boolean, 1, "constant true\n"),
                    WAVEGATE_NUMBER(f32, 0.1, "constant 0.1\n"), WAVEGATE_NUMBER(f16, 0.1, "constant 0.1\n"),
                    WAVEGATE_NUMBER(f32, 16777217, "constant 16777216.0\n"),
                    WAVEGATE_NUMBER(f32, INFINITY, "constant 0x7f800000\n"),
                    WAVEGATE_NUMBER(i32, 0.5, "the number 0.5 does not fit i32"),
                    WAVEGATE_NUMBER(i32, NAN, "the number nan does not fit i32"),
                    WAVEGATE_NUMBER(i32, 4294967296, "the number 4294967296 does not fit i32"),
                    WAVEGATE_NUMBER(i64, 1e30, "the number 1e+30 does not fit i64"),
                    WAVEGATE_NUMBER(i64, -0x1p63 * 1.5, "does not fit i64"),
                    WAVEGATE_NUMBER(i8, -129, "the number -129 does not fit i8"),
                    WAVEGATE_NUMBER(boolean, 2, "the number 2 does not fit bool"),
                    WAVEGATE_NUMBER(boolean, -1, "the number -1 does not fit bool"),
                    WAVEGATE_NUMBER(f32, 1e39, "the number 1e+39 does not fit f32"),
                    WAVEGATE_NUMBER(f16, 70000, "the number 70000 does not fit f16"),
                    WAVEGATE_NUMBER(none, 1, "the number 1 does not fit none")));

// Control flow.

TEST(Builder, a_counting_loop_carries_its_counter_as_a_value) {
  const std::string text = built([](Builder& b) {
    const MemoryRef y = b.buffer("y", Type::i32, Access::write);
    const Expr step = b.u32(1);
    const Expr end = b.u32(4);
    const Expr begin = b.u32(0);
    b.for_(begin, end, step, [&](Expr i) { y[i] = i; });
  });
  EXPECT_THAT(text, HasSubstr(R"(
  loop (%3: i32 = %2) {
    %4: bool = less_u %3, %1
    if %4 {
    } else {
      break
    }
    %5: i32 = add %3, %0
    store y[%3], %3
    continue %5
  }
)"));
}

TEST(Builder, continue_in_a_counting_loop_goes_on_with_the_next_value) {
  const std::string text =
      built([](Builder& b) { b.for_(b.u32(0), b.u32(4), b.u32(1), [&](Expr) { b.continue_(); }); });
  EXPECT_THAT(text, HasSubstr("continue %"));
}

TEST(Builder, break_ends_a_branch_without_a_yield) {
  const std::string text = built([](Builder& b) { b.loop([&] { b.if_(b.boolean(true), [&] { b.break_(); }); }); });
  EXPECT_THAT(text,
              HasSubstr("  loop {\n    %0: bool = constant true\n    if %0 {\n      break\n    }\n    continue\n"));
}

TEST(Builder, what_follows_a_break_is_dropped) {
  const std::string text = built([](Builder& b) {
    b.loop([&] {
      b.break_();
      b.u32(42) + 1;
      b.barrier();
      b.continue_();
    });
  });
  EXPECT_THAT(text, EndsWith("  loop {\n    break\n  }\n}\n"));
}

TEST(Builder, a_while_loop_tests_before_its_body) {
  const std::string text = built([](Builder& b) {
    const ScalarRef s = b.scalar("s", Type::i32, Access::read_write);
    b.while_([&] { return s != 0; }, [&] { s = s - 1; });
  });
  EXPECT_LT(text.find("not_equal"), text.find("store_scalar"));
}

TEST(Builder, a_switch_has_a_block_for_each_case) {
  const std::string text = built([](Builder& b) {
    const ScalarRef s = b.scalar("s", Type::i32, Access::read_write);
    b.switch_(s, {{0, [&] { s = 1; }}, {7, [&] { s = 2; }}}, [&] { s = 3; });
  });
  EXPECT_THAT(text, HasSubstr("case 0 {"));
  EXPECT_THAT(text, HasSubstr("case 7 {"));
  EXPECT_THAT(text, HasSubstr("default {"));
}

TEST(Builder, a_boolean_variable_becomes_a_value) {
  const std::string text = built([](Builder& b) {
    const Variable found = b.variable(b.boolean(false));
    b.if_(b.boolean(true), [&] { found = b.boolean(true); });
    b.if_(found, [&] { b.return_(); });
  });
  EXPECT_THAT(text, HasSubstr("= if %"));
  EXPECT_THAT(text, Not(HasSubstr("local")));
}

TEST(Builder, a_barrier_in_a_loop_over_a_variable_is_provably_uniform) {
  Builder b("k", {64});
  const MemoryRef tile = b.workgroup_array("tile", Type::i32, 64);
  b.for_(b.u32(0), b.u32(4), b.u32(1), [&](Expr i) {
    tile[b.local_id()] = i;
    b.barrier();
  });
  EXPECT_THAT(finished_text(b), HasSubstr("barrier workgroup"));
}

TEST(Builder, length_of_an_array_is_a_constant_and_of_a_buffer_an_operation) {
  const std::string text = built([](Builder& b) {
    b.buffer("y", Type::i32, Access::read).length();
    b.local_array("l", Type::i32, 12).length();
  });
  EXPECT_THAT(text, HasSubstr("array_length y"));
  EXPECT_THAT(text, HasSubstr("constant 12"));
}

TEST(Builder, memory_and_subgroup_functions_give_their_operations) {
  const std::string text = built([](Builder& b) {
    const MemoryRef y = b.buffer("y", Type::i32, Access::read_write);
    const Expr i = b.u32(0);
    const std::vector<Expr> pair = b.load(y, i, 2);
    b.store(y, i, {pair[1], pair[0]});
    b.store_pointer(b.parameter("p", Type::i64), b.load_pointer(Type::f64, b.parameter("q", Type::i64)));
    b.atomic(Op::atomic_max_s, y, i, i, Scope::workgroup, Order::acquire);
    b.atomic_compare_exchange(y, i, i, i);
    b.fence(Scope::device, Order::release);
    b.assume_uniform(b.ballot(b.boolean(true))[2], Scope::subgroup);
    b.apply(Op::subgroup_shuffle, {i, i});
    b.select(b.boolean(true), i, i);
    b.convert(Op::convert_u_to_f, Type::f32, i);
    b.bitcast(Type::f32, i);
  });
  for (const std::string_view line :
       {"= load y[%0]\n", "store y[%0], %2, %1\n", "f64 = load [%", "atomic_max_s y[%0], %0 workgroup acquire\n",
        "atomic_compare_exchange y[%0], %0, %0 device relaxed\n", "fence device release\n", "= subgroup_ballot %",
        "assume_uniform %", "= subgroup_shuffle %0, %0\n", "= select %", "f32 = convert_u_to_f %0\n",
        "f32 = bitcast %0\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

// Mistakes.

struct Mistake {
  std::string_view name;
  void (*make)(Builder&);
  std::string_view message;
};

class BuilderMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(BuilderMistakes, are_returned_by_finish) {
  EXPECT_THAT(built(GetParam().make), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Builder, BuilderMistakes,
    testing::Values(
        Mistake{"mixed types", [](Builder& b) { b.u32(1) + b.f32(1); },
                "kernel \"k\": add of i32 has operand 2 of f32; convert one of them"},
        Mistake{"mixed comparison", [](Builder& b) { b.u32(1) < b.f32(1); }, "less_u takes an integer as operand 2"},
        Mistake{"compared widths", [](Builder& b) { b.u32(1) == b.constant(Type::i64, 1); },
                "equal compares i32 with i64"},
        Mistake{"float remainder", [](Builder& b) { b.f32(1) % b.f32(1); }, "rem_u gives an integer, not f32"},
        Mistake{"float bits", [](Builder& b) { b.f32(1) & b.f32(1); }, "and takes an integer or bool"},
        Mistake{"not of a number", [](Builder& b) { !b.u32(1); }, "operator ! does not apply to i32"},
        Mistake{"complement of a float", [](Builder& b) { ~b.f32(1); }, "operator ~ does not apply to f32"},
        Mistake{"empty expression", [](Builder& b) { b.u32(1) + Expr(); }, "add uses an expression that was never"},
        Mistake{"empty left expression", [](Builder& b) { Expr() - b.u32(1); }, "sub uses an expression that was"},
        Mistake{"empty condition", [](Builder& b) { b.if_(Expr(), {}); }, "if_ uses an expression that was never"},
        Mistake{"empty selector", [](Builder& b) { b.switch_({}, {}); }, "switch_ uses an expression that was never"},
        Mistake{"empty variable", [](Builder& b) { b.variable({}) = 1; }, "variable uses an expression that was never"},
        Mistake{"empty while", [](Builder& b) { b.while_({}, {}); }, "if_ uses an expression that was never"},
        Mistake{"empty ballot", [](Builder& b) { b.ballot({})[3] + 1; }, "subgroup_ballot uses an expression"},
        Mistake{"empty claim", [](Builder& b) { b.assume_uniform({}, Scope::subgroup); }, "assume_uniform uses"},
        Mistake{"integer condition", [](Builder& b) { b.if_(b.u32(1), {}); }, "if takes bool as operand 1, not i32"},
        Mistake{"expression of another builder",
                [](Builder& b) {
                  Builder other("other");
                  b.u32(1) + other.u32(2);
                },
                "add uses an expression of another builder"},
        Mistake{"memory of another builder",
                [](Builder& b) {
                  Builder other("other");
                  b.load(other.buffer("x", Type::i32, Access::read), b.u32(0)) + 1;
                },
                "load uses a memory of another builder"},
        Mistake{"value out of its block",
                [](Builder& b) {
                  Expr inner;
                  b.if_(b.boolean(true), [&] { inner = b.u32(1); });
                  inner + 1;
                },
                "is used outside the block that defines it"},
        Mistake{"break outside", [](Builder& b) { b.break_(); }, "break_ stands outside every loop"},
        Mistake{"continue outside", [](Builder& b) { b.continue_(); }, "continue_ stands outside every loop"},
        Mistake{"endless loop", [](Builder& b) { b.loop({}); }, "loop never ends"},
        Mistake{"finish in a body", [](Builder& b) { b.if_(b.boolean(true), [&] { EXPECT_FALSE(b.finish().ok()); }); },
                "finish was called inside a body"},
        Mistake{"index of a float", [](Builder& b) { b.buffer("x", Type::i32, Access::read)[b.f32(0)] + 1; },
                "load takes an integer as operand 1, not f32"},
        Mistake{"stored type", [](Builder& b) { b.buffer("x", Type::i32, Access::write)[0] = b.f32(0); },
                "store of i32 has a value of f32"},
        Mistake{"number into an element", [](Builder& b) { b.buffer("x", Type::i32, Access::write)[0] = 0.5; },
                "the number 0.5 does not fit i32"},
        Mistake{"stored to read-only", [](Builder& b) { b.buffer("x", Type::i32, Access::read)[0] = 1; },
                "store on \"x\", whose access is read"},
        Mistake{"five loads", [](Builder& b) { b.load(b.buffer("x", Type::i32, Access::read), b.u32(0), 5); },
                "a load has 1 to 4 results, not 5"},
        Mistake{"no values", [](Builder& b) { b.store(b.buffer("x", Type::i32, Access::write), b.u32(0), {}); },
                "store takes an index and 1 to 4 values"},
        Mistake{"conversion through apply", [](Builder& b) { b.apply(Op::bitcast, {b.u32(0)}); },
                "bitcast needs more than operands"},
        Mistake{"load through apply", [](Builder& b) { b.apply(Op::load, {b.u32(0)}); }, "load needs more than"},
        Mistake{"too few operands", [](Builder& b) { b.apply(Op::fma, {b.f32(0)}); }, "fma takes 3 operands, not 1"},
        Mistake{"no operands", [](Builder& b) { b.apply(Op::sqrt, {}); }, "sqrt takes 1 operands, not 0"},
        Mistake{"no conversion", [](Builder& b) { b.convert(Op::add, Type::i32, b.u32(0)); },
                "add is not a conversion"},
        Mistake{"narrowing extension", [](Builder& b) { b.convert(Op::extend_u, Type::i16, b.u32(0)); },
                "extend_u takes a result wider than its operand, not i16 from i32"},
        Mistake{"no atomic",
                [](Builder& b) { b.atomic(Op::add, b.local_array("l", Type::i32, 2), b.u32(0), b.u32(0)); },
                "atomic: add is not an atomic operation of one value"},
        Mistake{"wide constant", [](Builder& b) { b.constant(Type::i8, 256); }, "the bits 0x100 do not fit i8"},
        Mistake{"twin names",
                [](Builder& b) {
                  b.parameter("n", Type::i32);
                  b.buffer("n", Type::i32, Access::read);
                },
                "two things are called \"n\""}));

TEST(Builder, the_first_mistake_is_the_one_reported) {
  const std::string text = built([](Builder& b) {
    b.number(Type::i32, 0.5);
    b.break_();
  });
  EXPECT_THAT(text, HasSubstr("0.5"));
  EXPECT_THAT(text, Not(HasSubstr("break")));
}

TEST(Builder, finish_works_once) {
  Builder b("k");
  EXPECT_TRUE(b.finish().ok());
  b.u32(1) + 1;
  EXPECT_THAT(finished_text(b), HasSubstr("finish was called before"));
}

TEST(Builder, a_workgroup_has_three_dimensions) {
  Builder b("k", {1, 1, 1, 1});
  EXPECT_THAT(finished_text(b), HasSubstr("a workgroup size has at most 3 dimensions, not 4"));
}

TEST(Builder, empty_expressions_combine_to_an_empty_one) {
  EXPECT_EQ((-(Expr() + Expr()) * 2).type(), Type::none);
  EXPECT_EQ((!Expr()).builder(), nullptr);
}

}  // namespace
}  // namespace wavegate::kir
