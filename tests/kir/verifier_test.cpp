#include "wavegate/kir/verifier.h"

#include <gmock/gmock.h>

#include <string>

#include "wavegate/base/format.h"
#include "wavegate/kir/text.h"

namespace wavegate::kir {
namespace {

using testing::HasSubstr;

constexpr std::string_view kDeclarations = R"(
  buffer input i32 read
  buffer floats f32 read
  buffer output i32 write
  buffer data i32 read_write
  buffer shorts i16 read_write
  buffer reals f32 read_write
  scalar flag i32 read
  scalar norm f32 write
  parameter n i32
  workgroup tile i32 64
  local scratch i32 8
  %0: i32 = parameter n
  %1: bool = constant true
  %2: f32 = constant 1.0
  %3: i64 = constant 64
)";

/// "accepted", or why a kernel with these declarations and this body is refused.
std::string verdict(std::string_view body) {
  const Result<Kernel> kernel = parse(format("kernel k {{ {} {} }}", kDeclarations, body));
  return kernel.ok() ? "accepted" : kernel.error().message;
}

struct Case {
  std::string_view body;
  std::string_view message;
};

class Refused : public testing::TestWithParam<Case> {};

TEST_P(Refused, with_its_rule) {
  EXPECT_THAT(verdict(GetParam().body), HasSubstr(GetParam().message)) << GetParam().body;
}

INSTANTIATE_TEST_SUITE_P(
    Types, Refused,
    testing::Values(Case{"%9: f32 = add %2, %2", "add gives an integer, not f32"},
                    Case{"%9: i32 = add_f %0, %0", "add_f gives a float, not i32"},
                    Case{"%9: i32 = add %0", "add takes 2 operands, not 1"},
                    Case{"%9: i32 = add %0, %3", "add of i32 has operand 2 of i64"},
                    Case{"%9: i32 = add %0, %0, %0", "add takes 2 operands, not 3"},
                    Case{"add %0, %0", "add gives an integer, not none"},
                    Case{"%8: i32, %9: i32 = add %0, %0", "add has 1 results, not 2"},
                    Case{"%9: i32 = select %0, %0, %0", "select takes bool as operand 1, not i32"},
                    Case{"%9: f32 = and %2, %2", "and takes an integer or bool"},
                    Case{"%9: i32 = less_u %0, %0", "less_u gives bool, not i32"},
                    Case{"%9: bool = less_u %0, %3", "less_u compares i32 with i64"},
                    Case{"%9: bool = equal %2, %2",
                         "equal takes integers or bools; equal_f and not_equal_f compare floats"},
                    Case{"%9: bool = equal_f %0, %0", "equal_f takes a float as operand 1, not i32"},
                    Case{"%9: i64 = bitcast %0", "bitcast takes two types of equal width, not bool, not i64 from i32"},
                    Case{"%9: bool = bitcast %1", "bitcast takes two types of equal width, not bool"},
                    Case{"%9: i32 = extend_u %0", "extend_u takes a result wider than its operand"},
                    Case{"%9: i32 = truncate %0", "truncate takes a result narrower than its operand"},
                    Case{"%9: i32 = truncate %1", "truncate takes an integer as operand 1, not bool"},
                    Case{"%9: f32 = convert_f %2", "convert_f takes two different floats"},
                    Case{"%9: i64 = parameter n", "parameter \"n\" is i32, not i64"},
                    Case{"%9: i64 = builtin global_id 0", "builtin gives i32, not i64"},
                    Case{"%9: i32 = builtin global_id 3", "builtin global_id has no dimension 3"}));

INSTANTIATE_TEST_SUITE_P(
    Values, Refused,
    testing::Values(Case{"if %1 { %8: i32 = constant 1 } %9: i32 = not %8", "%4 is used outside the block"},
                    Case{"%8: i32 = loop (%9: i32 = %0) { %10: i32 = not %8 break %10 }", "%8 is used before it"},
                    Case{"%8: i32 = loop (%9: i32 = %0) { break %9 } %10: i32 = not %9", "%5 is used outside"}));

INSTANTIATE_TEST_SUITE_P(
    Memory, Refused,
    testing::Values(
        Case{"%9: i32 = load output[%0]", "load on \"output\", whose access is write"},
        Case{"store input[%0], %0", "store on \"input\", whose access is read"},
        Case{"%9: i32 = load input[%3]", "load is addressed by i64; an index takes i32"},
        Case{"%9: i32 = load [%0]", "load is addressed by i32; a pointer takes i64"},
        Case{"%9: bool = load [%3]", "load through a pointer cannot be of bool"},
        Case{"store [%3], %1", "store through a pointer cannot be of bool"},
        Case{"%9: f32 = load input[%0]", "load of f32, but \"input\" holds i32"},
        Case{"%8: i32, %9: f32 = load input[%0]", "a result of load is f32, but the instruction says i32"},
        Case{"%5: i32, %6: i32, %7: i32, %8: i32, %9: i32 = load input[%0]", "load has 1 to 4 results, not 5"},
        Case{"load input[%0]", "load gives a value, not none"},
        Case{"store output[%0], %0, %0, %0, %0, %0", "store takes an index and 1 to 4 values"},
        Case{"store output[%0], %0, %2", "store of i32 has a value of f32"},
        Case{"store output[%0], %2", "store of f32, but \"output\" holds i32"},
        Case{"%9: i32 = array_length tile", "array_length takes a buffer"},
        Case{"store_scalar flag, %0", "store_scalar on \"flag\", whose access is read"},
        Case{"%9: f32 = load_scalar norm", "load_scalar on \"norm\", whose access is write"},
        Case{"%9: f32 = load_scalar flag", "load_scalar of f32, but \"flag\" is i32"},
        Case{"store_scalar norm, %0", "store_scalar of i32, but \"norm\" is f32"},
        Case{"%9: i32 = atomic_add input[%0], %0 device relaxed", "atomic_add on \"input\", whose access is read"},
        Case{"%9: i32 = atomic_add output[%0], %0 device relaxed", "atomic_add on \"output\", whose access is write"},
        Case{"%9: i32 = atomic_add scratch[%0], %0 device relaxed", "which no other invocation sees"},
        Case{"%8: i16 = constant 1 %9: i16 = atomic_add shorts[%0], %8 device relaxed", "atomics are i32 or i64"},
        Case{"%9: f32 = atomic_exchange reals[%0], %2 device relaxed", "atomic_exchange gives an integer, not f32"},
        Case{"%9: i32 = atomic_compare_exchange data[%0], %0 device relaxed", "takes 3 operands, not 2"}));

INSTANTIATE_TEST_SUITE_P(
    Convergence, Refused,
    testing::Values(Case{"barrier device", "a barrier is over a subgroup or workgroup, not device"},
                    Case{"fence device relaxed", "a relaxed fence orders nothing"},
                    Case{"%9: i32 = assume_uniform %0 invocation", "assume_uniform over an invocation claims nothing"},
                    Case{"%9: i32 = subgroup_ballot %1", "subgroup_ballot has 4 results, not 1"}));

INSTANTIATE_TEST_SUITE_P(
    ControlFlow, Refused,
    testing::Values(
        Case{"if %0 { }", "if takes bool as operand 1, not i32"},
        Case{"switch %1 { }", "switch takes i32 as operand 1, not bool"},
        Case{"switch %0 { case 1 { } case 2 { } case 1 { } }", "switch has case 1 twice"},
        Case{"%9: i32 = if %1 { yield %0 } else { }", "yield has 0 values for 1 results"},
        Case{"%9: i32 = if %1 { yield %0 } else { yield %2 }", "value 1 of yield is f32, but the result is i32"},
        Case{"%9: i32 = if %1 { return } else { return }", "if has results, but none of its blocks yields them"},
        Case{"if %1 { yield %0 }", "yield has 1 values for 0 results"},
        Case{"%9: i32 = switch %0 { case 1 { yield %0 } }", "yield has 0 values for 1 results"},
        Case{"loop (%9: i32 = %2) { break }", "value 1 of loop is f32, but the loop-carried value is i32"},
        Case{"loop (%9: i32 = %0) { if %1 { break } continue }", "continue has 0 values for 1 loop-carried values"},
        Case{"loop (%9: i32 = %0) { if %1 { break } continue %2 }", "value 1 of continue is f32"},
        Case{"%9: i32 = loop { break }", "break has 0 values for 1 results"},
        Case{"%9: i32 = loop { break %2 }", "value 1 of break is f32, but the result is i32"},
        Case{"%9: i32 = loop { return }", "loop has results, but nothing in it breaks with them"},
        Case{"loop { continue }", "loop never ends"}, Case{"loop { loop { break } continue }", "loop never ends"},
        Case{"loop { yield }", "yield ends a block of an if or switch only"},
        Case{"yield", "yield ends a block of an if or switch only"}, Case{"break", "break stands outside every loop"},
        Case{"if %1 { continue }", "continue stands outside every loop"}));

class Accepted : public testing::TestWithParam<std::string_view> {};

TEST_P(Accepted, as_it_is) {
  EXPECT_EQ(verdict(GetParam()), "accepted") << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Verifier, Accepted,
                         testing::Values("return", "if %1 { return } else { return }",
                                         "loop { if %1 { return } continue }", "loop { loop { return } continue }",
                                         "loop { switch %0 { case 0 { break } } continue }",
                                         "%9: i32 = if %1 { yield %0 } else { return }", "%9: bool = equal %1, %1",
                                         "%9: i32 = atomic_add tile[%0], %0 workgroup acquire_release",
                                         "%9: i64 = atomic_add [%3], %3 device relaxed",
                                         "loop { if %1 { break } else { continue } continue }"));

// Declarations.

struct Declaration {
  std::string_view text;
  std::string_view message;
};

class RefusedDeclarations : public testing::TestWithParam<Declaration> {};

TEST_P(RefusedDeclarations, are_named) {
  const Result<Kernel> kernel = parse(format("kernel k {{ {} }}", GetParam().text));
  ASSERT_FALSE(kernel.ok());
  EXPECT_THAT(kernel.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Verifier, RefusedDeclarations,
    testing::Values(Declaration{"workgroup_size 1 0 1", "a workgroup size of 0"},
                    Declaration{"workgroup_size 1024 1024 2", "a workgroup of more than 1048576 invocations"},
                    Declaration{"workgroup_size 4294967295 4294967295 4294967295", "a workgroup of more than"},
                    Declaration{"buffer x bool read", "buffer \"x\" cannot have elements of bool"},
                    Declaration{"scalar s i64 read", "scalar \"s\" is i64; a scalar is i32 or f32"},
                    Declaration{"scalar s i8 read", "scalar \"s\" is i8"},
                    Declaration{"parameter p bool", "parameter \"p\" cannot be bool"},
                    Declaration{"workgroup w bool 4", "array \"w\" cannot have elements of bool"},
                    Declaration{"local l bool 2", "array \"l\" cannot have elements of bool"},
                    Declaration{"local l i32 0", "array \"l\" has no elements"},
                    Declaration{"workgroup a i8 1048576 workgroup b i8 1",
                                "array \"b\" takes the workgroup memory beyond 1048576 bytes"},
                    Declaration{"local a i64 4294967295", "array \"a\" takes the local memory beyond"},
                    Declaration{"buffer x i32 read local x i32 1", "two things are called \"x\""},
                    Declaration{"parameter x i32 scalar x i32 read", "two things are called \"x\""}));

TEST(Verifier, a_boolean_variable_is_a_memory) {
  EXPECT_TRUE(parse("kernel k { local flag bool 1 }").ok());
}

// Kernels that no text can spell.

Kernel kernel_with(std::vector<Instruction> instructions) {
  Kernel kernel;
  kernel.interface.name = "k";
  kernel.body.instructions = std::move(instructions);
  return kernel;
}

std::string message_of(const Kernel& kernel) {
  const Result<void> verified = verify(kernel);
  return verified.ok() ? "accepted" : verified.error().message;
}

const Instruction kReturn = {.op = Op::return_};

TEST(Verifier, refuses_an_empty_block) {
  EXPECT_THAT(message_of(kernel_with({})), HasSubstr("a block is empty"));
}

TEST(Verifier, refuses_a_block_without_a_terminator) {
  EXPECT_THAT(message_of(kernel_with({{.op = Op::barrier}})), HasSubstr("a block ends with barrier"));
}

TEST(Verifier, refuses_a_terminator_inside_a_block) {
  EXPECT_THAT(message_of(kernel_with({kReturn, kReturn})), HasSubstr("return ends a block, but instructions follow"));
}

TEST(Verifier, refuses_values_beyond_the_table) {
  EXPECT_THAT(message_of(kernel_with({{.op = Op::not_, .type = Type::i32, .operands = {Value{9}}}, kReturn})),
              HasSubstr("%9 is no value of the kernel"));
}

TEST(Verifier, refuses_results_beyond_the_table) {
  EXPECT_THAT(message_of(kernel_with({{.op = Op::constant, .type = Type::i32, .results = {Value{}}}, kReturn})),
              HasSubstr("is no value of the kernel"));
}

TEST(Verifier, refuses_results_of_a_construct_beyond_the_table) {
  Kernel kernel = kernel_with({});
  const Value condition = kernel.new_value(Type::boolean);
  const Block yields{{}, {{.op = Op::yield, .operands = {condition}}}};
  kernel.body.instructions = {
      {.op = Op::constant, .type = Type::boolean, .results = {condition}},
      {.op = Op::if_, .results = {Value{77}}, .operands = {condition}, .blocks = {yields, yields}},
      kReturn};
  EXPECT_THAT(message_of(kernel), HasSubstr("%77 is no value of the kernel"));
}

TEST(Verifier, refuses_a_value_defined_twice) {
  Kernel kernel = kernel_with({});
  const Instruction constant = {.op = Op::constant, .type = Type::i32, .results = {kernel.new_value(Type::i32)}};
  kernel.body.instructions = {constant, constant, kReturn};
  EXPECT_THAT(message_of(kernel), HasSubstr("%0 is defined twice"));
}

TEST(Verifier, refuses_a_value_without_a_type) {
  Kernel kernel = kernel_with({});
  kernel.body.instructions = {{.op = Op::constant, .type = Type::i32, .results = {kernel.new_value(Type::none)}},
                              kReturn};
  EXPECT_THAT(message_of(kernel), HasSubstr("%0 has no type"));
}

TEST(Verifier, refuses_constants_wider_than_their_type) {
  Kernel kernel = kernel_with({});
  kernel.body.instructions = {
      {.op = Op::constant, .type = Type::i8, .bits = 256, .results = {kernel.new_value(Type::i8)}}, kReturn};
  EXPECT_THAT(message_of(kernel), HasSubstr("constant 0x100 does not fit i8"));
}

TEST(Verifier, refuses_a_parameter_that_is_not_declared) {
  Kernel kernel = kernel_with({});
  kernel.body.instructions = {
      {.op = Op::parameter, .type = Type::i32, .index = 3, .results = {kernel.new_value(Type::i32)}}, kReturn};
  EXPECT_THAT(message_of(kernel), HasSubstr("there is no parameter 3"));
}

TEST(Verifier, refuses_an_access_to_no_memory) {
  Kernel kernel = kernel_with({});
  const Value index = kernel.new_value(Type::i32);
  kernel.body.instructions = {
      {.op = Op::constant, .type = Type::i32, .results = {index}},
      {.op = Op::load, .type = Type::i32, .memory = 5, .results = {kernel.new_value(Type::i32)}, .operands = {index}},
      kReturn};
  EXPECT_THAT(message_of(kernel), HasSubstr("load names memory 5, which does not exist"));
}

TEST(Verifier, refuses_an_if_without_two_blocks) {
  Kernel kernel = kernel_with({});
  const Value condition = kernel.new_value(Type::boolean);
  kernel.body.instructions = {{.op = Op::constant, .type = Type::boolean, .results = {condition}},
                              {.op = Op::if_, .operands = {condition}},
                              kReturn};
  EXPECT_THAT(message_of(kernel), HasSubstr("if has 2 blocks, not 0"));
}

TEST(Verifier, refuses_blocks_of_an_operation_that_has_none) {
  EXPECT_THAT(message_of(kernel_with({{.op = Op::barrier, .blocks = {Block{{}, {kReturn}}}}, kReturn})),
              HasSubstr("barrier has no blocks"));
}

TEST(Verifier, refuses_names_that_the_text_form_cannot_spell) {
  Kernel kernel = kernel_with({kReturn});
  kernel.interface.name = "two words";
  EXPECT_THAT(message_of(kernel), HasSubstr("\"two words\" is not a name"));
}

TEST(Verifier, refuses_a_buffer_without_a_memory) {
  Kernel kernel = kernel_with({kReturn});
  kernel.interface.bindings = {{"x", BindingKind::buffer, Type::i32, Access::read}};
  EXPECT_THAT(message_of(kernel), HasSubstr("buffer \"x\" has no memory"));
}

TEST(Verifier, refuses_a_buffer_with_two_memories) {
  Kernel kernel = kernel_with({kReturn});
  kernel.interface.bindings = {{"x", BindingKind::buffer, Type::i32, Access::read}};
  kernel.memories = {{"x", MemorySpace::buffer, Type::i32, 0, 0}, {"x", MemorySpace::buffer, Type::i32, 0, 0}};
  EXPECT_THAT(message_of(kernel), HasSubstr("buffer \"x\" has two memories"));
}

TEST(Verifier, refuses_a_memory_that_differs_from_its_binding) {
  Kernel kernel = kernel_with({kReturn});
  kernel.interface.bindings = {{"x", BindingKind::buffer, Type::i32, Access::read}};
  kernel.memories = {{"x", MemorySpace::buffer, Type::f32, 0, 0}};
  EXPECT_THAT(message_of(kernel), HasSubstr("differs from its binding"));
}

TEST(Verifier, refuses_a_memory_of_no_binding) {
  Kernel kernel = kernel_with({kReturn});
  kernel.memories = {{"x", MemorySpace::buffer, Type::f32, 0, 0}};
  EXPECT_THAT(message_of(kernel), HasSubstr("memory \"x\" names no buffer binding"));
}

TEST(Verifier, places_a_violation_in_the_order_of_walk) {
  Kernel kernel = kernel_with({});
  const Value condition = kernel.new_value(Type::boolean);
  const Block empty{{}, {{.op = Op::yield}}};
  kernel.body.instructions = {{.op = Op::constant, .type = Type::boolean, .results = {condition}},
                              {.op = Op::if_, .operands = {condition}, .blocks = {empty, empty}},
                              {.op = Op::break_}};
  const auto violation = find_violation(kernel);
  ASSERT_TRUE(violation.has_value());
  EXPECT_EQ(violation->instruction, 4);
}

}  // namespace
}  // namespace wavegate::kir
