#include "wavegate/kir/text.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "wavegate/base/format.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::kir {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Uses every operation of the table, every builtin, every type of constant and every kind of declaration.
constexpr std::string_view kEverything = R"(kernel everything {
  workgroup_size 64 1 1
  buffer x f32 read
  buffer y i32 read_write
  buffer w i64 write
  scalar rr f32 read
  scalar out i32 write
  parameter n i32
  parameter address i64
  workgroup tile i32 64
  local scratch f64 4

  %0: i32 = builtin global_id 0
  %1: i32 = builtin local_id 1
  %2: i32 = builtin workgroup_id 2
  %3: i32 = builtin grid 0
  %4: i32 = builtin local_index
  %5: i32 = builtin subgroup_lane
  %6: i32 = builtin subgroup_size
  %7: i32 = parameter n
  %8: i64 = parameter address
  %9: bool = constant true
  %10: bool = constant false
  %11: i8 = constant -1
  %12: i16 = constant 300
  %13: i32 = constant -65536
  %14: i32 = constant 0x9e3779b9
  %15: i64 = constant 0x8000000000000000
  %16: f16 = constant 0.1
  %17: f32 = constant -0.0
  %18: f32 = constant 0x7fc00001
  %19: f32 = constant 1e-45
  %20: f64 = constant 0.1
  %21: f64 = constant 0x7ff0000000000000
  %22: i32 = select %9, %0, %1
  %23: i32 = add %0, %1
  %24: i32 = sub %0, %1
  %25: i32 = mul %0, %1
  %26: i32 = mul_high_u %0, %1
  %27: i32 = mul_high_s %0, %1
  %28: i32 = div_u %0, %1
  %29: i32 = div_s %0, %1
  %30: i32 = rem_u %0, %1
  %31: i32 = rem_s %0, %1
  %32: i32 = min_u %0, %1
  %33: i32 = min_s %0, %1
  %34: i32 = max_u %0, %1
  %35: i32 = max_s %0, %1
  %36: bool = and %9, %10
  %37: i32 = or %0, %1
  %38: i32 = xor %0, %1
  %39: bool = not %9
  %40: i32 = shift_left %0, %1
  %41: i32 = shift_right_u %0, %1
  %42: i32 = shift_right_s %0, %1
  %43: i32 = count_bits %0
  %44: i32 = count_leading_zeros %0
  %45: i32 = count_trailing_zeros %0
  %46: i32 = reverse_bits %0
  %47: f32 = add_f %17, %18
  %48: f32 = sub_f %17, %18
  %49: f32 = mul_f %17, %18
  %50: f32 = div_f %17, %18
  %51: f32 = fma %17, %18, %19
  %52: f32 = neg_f %17
  %53: f32 = abs_f %17
  %54: f32 = min_f %17, %18
  %55: f32 = max_f %17, %18
  %56: f32 = sqrt %17
  %57: f32 = floor %17
  %58: f32 = ceil %17
  %59: f32 = trunc %17
  %60: f32 = round_even %17
  %61: f32 = exp2 %17
  %62: f32 = log2 %17
  %63: f32 = sin %17
  %64: f32 = cos %17
  %65: bool = equal %0, %1
  %66: bool = not_equal %9, %10
  %67: bool = less_u %0, %1
  %68: bool = less_s %0, %1
  %69: bool = less_equal_u %0, %1
  %70: bool = less_equal_s %0, %1
  %71: bool = equal_f %17, %18
  %72: bool = not_equal_f %17, %18
  %73: bool = less_f %17, %18
  %74: bool = less_equal_f %17, %18
  %75: bool = is_nan %17
  %76: f32 = bitcast %0
  %77: i64 = extend_u %0
  %78: i64 = extend_s %0
  %79: i8 = truncate %0
  %80: f32 = convert_u_to_f %0
  %81: f32 = convert_s_to_f %0
  %82: i32 = convert_f_to_u %17
  %83: i32 = convert_f_to_s %17
  %84: f64 = convert_f %17
  %85: f32 = load x[%0]
  %86: i32, %87: i32, %88: i32, %89: i32 = load y[%0]
  %90: i64 = load [%8]
  store [%8], %20
  store y[%0], %0, %1
  store w[%0], %15
  store scratch[%0], %20
  %91: i32 = array_length y
  %92: f32 = load_scalar rr
  store_scalar out, %0
  %93: i32 = atomic_add y[%0], %1 device relaxed
  %94: i32 = atomic_and y[%0], %1 device acquire
  %95: i32 = atomic_or y[%0], %1 device release
  %96: i32 = atomic_xor y[%0], %1 device acquire_release
  %97: i32 = atomic_min_u tile[%0], %1 workgroup relaxed
  %98: i32 = atomic_min_s tile[%0], %1 workgroup relaxed
  %99: i32 = atomic_max_u tile[%0], %1 workgroup relaxed
  %100: i32 = atomic_max_s tile[%0], %1 workgroup relaxed
  %101: i32 = atomic_exchange tile[%0], %1 workgroup relaxed
  %102: i64 = atomic_compare_exchange [%8], %15, %8 subgroup relaxed
  barrier workgroup
  barrier subgroup
  fence device acquire_release
  %103: i32 = assume_uniform %0 subgroup
  %104: bool = subgroup_any %9
  %105: bool = subgroup_all %9
  %106: i32, %107: i32, %108: i32, %109: i32 = subgroup_ballot %9
  %110: i32 = subgroup_broadcast_first %0
  %111: i32 = subgroup_shuffle %0, %1
  %112: i32 = subgroup_shuffle_xor %0, %1
  %113: i32 = subgroup_add %0
  %114: f32 = subgroup_add_f %17
  %115: i32 = subgroup_min_u %0
  %116: i32 = subgroup_max_u %0
  %117: i32 = subgroup_exclusive_add %0
  %118: i32 = if %9 {
    yield %0
  } else {
    yield %1
  }
  if %9 {
    return
  }
  if %9 {
  } else {
    store_scalar out, %118
  }
  %119: i32, %120: f32 = switch %0 {
    case 0 {
      yield %1, %17
    }
    case 4294967295 {
      return
    }
    default {
      yield %2, %18
    }
  }
  switch %0 {
    case 7 {
      store_scalar out, %119
    }
  }
  %121: i32 = loop (%122: i32 = %0, %123: f32 = %17) {
    %124: bool = less_u %122, %7
    if %124 {
    } else {
      break %122
    }
    loop {
      if %9 {
        break
      }
      continue
    }
    continue %23, %123
  }
}
)";

std::set<Op> operations_of(const Kernel& kernel) {
  std::set<Op> used;
  walk(kernel.body, [&](const Instruction& instruction) { used.insert(instruction.op); });
  return used;
}

std::string parse_error(std::string_view text) {
  const Result<Kernel> kernel = parse(text);
  return kernel.ok() ? "parsed" : format("{}: {}", kernel.error().where, kernel.error().message);
}

TEST(Text, every_operation_survives_a_round_trip) {
  const Result<Kernel> kernel = parse(kEverything);
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  EXPECT_EQ(print(*kernel), kEverything);
}

TEST(Text, the_round_trip_kernel_uses_the_whole_table) {
  const Result<Kernel> kernel = parse(kEverything);
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  for (int i = 0; i < kOpCount; ++i)
    EXPECT_TRUE(operations_of(*kernel).contains(static_cast<Op>(i))) << info(static_cast<Op>(i)).name;
}

TEST(Text, the_kernel_of_the_documentation_prints_as_it_stands_there) {
  std::ifstream file(WAVEGATE_SOURCE_DIR "/docs/kir.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = page.find("```\n") + 4;
  const std::string text = page.substr(begin, page.find("```", begin) - begin);
  const Result<Kernel> kernel = parse(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  EXPECT_EQ(print(*kernel), text);
}

TEST(Text, printing_renumbers_values_in_order_of_definition) {
  const Result<Kernel> kernel = parse("kernel k { %70: i32 = constant 1 %3: i32 = add %70, %70 }");
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  EXPECT_THAT(print(*kernel), HasSubstr("%0: i32 = constant 1\n  %1: i32 = add %0, %0\n"));
}

TEST(Text, values_may_be_called_by_words) {
  const Result<Kernel> kernel = parse("kernel k { %one: i32 = constant 1 %2nd: i32 = add %one, %one }");
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  EXPECT_THAT(print(*kernel), HasSubstr("%0: i32 = constant 1\n  %1: i32 = add %0, %0\n"));
}

TEST(Text, terminators_without_values_may_be_spelled_out) {
  const Result<Kernel> kernel =
      parse("kernel k { %0: bool = constant true if %0 { yield } else { yield } return } # the end");
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  EXPECT_THAT(print(*kernel), HasSubstr("  if %0 {\n  }\n}\n"));
}

struct Literal {
  std::string_view type;
  std::string_view text;
  std::string_view printed;
};

class Constants : public testing::TestWithParam<Literal> {};

TEST_P(Constants, print_in_their_canonical_form) {
  const Literal& literal = GetParam();
  const Result<Kernel> kernel = parse(format("kernel k {{ %0: {} = constant {} }}", literal.type, literal.text));
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  EXPECT_THAT(print(*kernel), HasSubstr(format("constant {}\n", literal.printed)));
}

INSTANTIATE_TEST_SUITE_P(Text, Constants,
                         testing::Values(Literal{"i32", "0xff", "255"}, Literal{"i32", "4294967295", "-1"},
                                         Literal{"i32", "-2147483648", "0x80000000"}, Literal{"i8", "-128", "-128"},
                                         Literal{"i64", "18446744073709551615", "-1"}, Literal{"bool", "1", "true"},
                                         Literal{"f32", "1", "1.0"}, Literal{"f32", "0x3f800000", "1.0"},
                                         Literal{"f32", "1e9", "1000000000.0"}, Literal{"f32", "1e20", "1e+20"},
                                         Literal{"f32", "0x7f7fffff", "3.4028235e+38"},
                                         Literal{"f32", "0x00000001", "1e-45"},
                                         Literal{"f32", "0xff800000", "0xff800000"}, Literal{"f64", "5e-324", "5e-324"},
                                         Literal{"f64", "0.30000000000000004", "0.30000000000000004"},
                                         Literal{"f16", "65504", "65504.0"}, Literal{"f16", "6e-8", "6e-08"},
                                         Literal{"f16", "0x7e00", "0x7e00"}, Literal{"f16", "0.33325195", "0.3333"}));

TEST(Text, halves_of_every_exponent_read_back_as_themselves) {
  constexpr uint32_t kStep = 7;  // odd, so that all low bits occur
  std::string text = "kernel k {";
  for (uint32_t bits = 0; bits < 0x10000; bits += kStep) text += format(" %{}: f16 = constant {:#x}", bits, bits);
  const Result<Kernel> kernel = parse(text + " }");
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  const Result<Kernel> again = parse(print(*kernel));
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  for (uint32_t i = 0; i * kStep < 0x10000; ++i) ASSERT_EQ(again->body.instructions[i].bits, i * kStep);
}

struct Mistake {
  std::string_view text;
  std::string_view message;
};

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, are_named_with_line_and_column) {
  EXPECT_THAT(parse_error(GetParam().text), StartsWith(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Text, Mistakes,
    testing::Values(
        Mistake{"", "1:1: expected 'kernel', found the end of the text"},
        Mistake{"kernel {", "1:8: expected the kernel's name, found '{'"},
        Mistake{"kernel k {", "1:11: expected an operation, found the end of the text"},
        Mistake{"kernel k { } }", "1:14: expected the end of the text, found '}'"},
        Mistake{"kernel k {\n workgroup_size 64 1\n}", "3:1: expected a workgroup size"},
        Mistake{"kernel k { buffer x f33 read }", "1:21: expected a type"},
        Mistake{"kernel k { buffer x f32 reed }", "1:25: expected an access"},
        Mistake{"kernel k {\n\n  %0: i32 = ad %0 }", "3:13: expected an operation, found 'ad'"},
        Mistake{"kernel k { %0 i32 = constant 1 }", "1:15: expected ':', found 'i32'"},
        Mistake{"kernel k { %0: i32 = constant 0.5 }", "1:31: expected a constant that fits i32, found '0.5'"},
        Mistake{"kernel k { %0: i8 = constant 256 }", "1:30: expected a constant that fits i8"},
        Mistake{"kernel k { %0: i8 = constant -129 }", "1:30: expected a constant that fits i8"},
        Mistake{"kernel k { %0: f16 = constant 65520 }", "1:31: expected a constant that fits f16"},
        Mistake{"kernel k { %0: f32 = constant 1e39 }", "1:31: expected a constant that fits f32"},
        Mistake{"kernel k { %0: i32 = constant 1x }", "1:31: expected a constant that fits i32, found '1x'"},
        Mistake{"kernel k { constant 1 }", "1:21: expected '%', a number or word, ':' and a type before constant"},
        Mistake{"kernel k { %0: i32 = not %1 }", "1:26: %1 is used before it is defined"},
        Mistake{"kernel k { %0: i32 = not %0 }", "1:26: %0 is used before it is defined"},
        Mistake{"kernel k { %: i32 = constant 1 }", "1:12: expected a value (% and a number or word), found '%'"},
        Mistake{"kernel k { %0: i32 = not %.x }", "1:26: expected a value"},
        Mistake{"kernel k { %0: i32 = constant 1 %0: i32 = constant 1 }", "1:33: %0 is defined twice"},
        Mistake{"kernel k { %0: i32 = parameter n }", "1:32: expected the name of a parameter, found 'n'"},
        Mistake{"kernel k { %0: i32 = constant 1 %1: i32 = load x[%0] }", "1:48: expected the name of a memory"},
        Mistake{"kernel k { return barrier workgroup }", "1:19: expected '}' after the instruction that ends"},
        Mistake{"kernel k { loop { } }", "1:19: expected continue, break or return at the end of a loop's block"},
        Mistake{"kernel k { fence device strong }", "1:25: expected an order"},
        Mistake{"kernel k { %0: i32 = constant 1 switch %0 { default { } case 1 { } } }", "1:57: expected 'case'"},
        Mistake{"kernel k { $ }", "1:12: expected an operation, found '$'"},
        Mistake{"kernel k {\n  %0: i32 = constant 1\n  %1: f32 = not %0\n}",
                "3:3: kernel \"k\": not of f32 has operand 1 of i32; convert one of them"},
        Mistake{"kernel k { workgroup_size 0 1 1 }", "1:8: kernel \"k\": a workgroup size of 0"}));

TEST(Text, a_violation_after_an_omitted_else_is_reported_on_its_line) {
  EXPECT_THAT(parse_error("kernel k {\n%0: bool = constant true\nif %0 {\n}\n%1: f32 = neg_f %0\n}"),
              StartsWith("5:1: "));
}

std::string nested(uint32_t depth) {
  std::string text = "kernel k { %0: bool = constant true ";
  for (uint32_t i = 0; i < depth; ++i) text += "if %0 { ";
  return text.append(depth + 1, '}');
}

TEST(Text, nesting_up_to_the_limit_is_read) {
  EXPECT_EQ(parse_error(nested(kMaximumDepth - 1)), "parsed");
}

TEST(Text, nesting_beyond_the_limit_is_refused) {
  EXPECT_THAT(parse_error(nested(kMaximumDepth)), HasSubstr("nested deeper than 256"));
}

TEST(Text, a_hundred_thousand_open_blocks_are_refused) {
  EXPECT_THAT(parse_error(nested(100'000)), HasSubstr("nested deeper than 256"));
}

TEST(Text, a_long_word_is_shortened_in_the_message) {
  EXPECT_EQ(parse_error(std::string(100, 'a')), "1:1: expected 'kernel', found '" + std::string(40, 'a') + "...'");
}

TEST(Text, a_kernel_that_does_not_verify_still_prints) {
  Kernel kernel;
  kernel.interface.name = "broken";
  kernel.body.instructions.push_back({.op = Op::load, .memory = 9, .results = {Value{7}}, .operands = {Value{8}}});
  EXPECT_THAT(print(kernel), HasSubstr("%?: ? = load ?[%?]\n"));
}

}  // namespace
}  // namespace wavegate::kir
