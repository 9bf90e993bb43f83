#include "wavegate/kir/passes/structure_returns.h"

#include <gmock/gmock.h>

#include <string>

#include "kir/pass_testing.h"
#include "wavegate/base/format.h"

namespace wavegate::kir {
namespace {

using testing::HasSubstr;

constexpr std::string_view kDeclarations = R"(
  workgroup_size 64 1 1
  buffer x i32 read_write
  parameter n i32
  %i: i32 = builtin local_id 0
  %n: i32 = parameter n
  %a: bool = less_u %i, %n
  %b: bool = equal %i, %n
  %u: bool = equal %n, %n
)";  // %a and %b differ between invocations, %u does not

std::string with_body(std::string_view body) {
  return format("kernel k {{ {} {} }}", kDeclarations, body);
}

void expect_structured(std::string_view before, std::string_view after) {
  expect_pass(structure_returns, with_body(before), with_body(after));
}

TEST(StructureReturns, leaves_a_kernel_alone_that_returns_at_its_end_only) {
  expect_unchanged(structure_returns, with_body("store x[%i], %n return"));
  expect_unchanged(structure_returns, with_body(R"(
    if %a { store x[%i], %n }
    loop { if %u { break } continue }
    store x[%i], %n)"));
}

TEST(StructureReturns, moves_what_follows_an_early_return_into_the_branch_that_goes_on) {
  expect_structured(R"(
    if %a { return }
    store x[%i], %n)",
                    R"(
    if %a { } else { store x[%i], %n })");
  expect_structured(R"(
    if %a { store x[%i], %n } else { return }
    store x[%i], %i)",
                    R"(
    if %a { store x[%i], %n store x[%i], %i })");
}

TEST(StructureReturns, gives_what_moved_the_values_that_the_branch_yields) {
  expect_structured(R"(
    %v: i32 = if %a { return } else { %w: i32 = add %n, %i yield %w }
    store x[%i], %v
    if %b { store x[%i], %v })",
                    R"(
    if %a { } else {
      %w: i32 = add %n, %i
      store x[%i], %w
      if %b { store x[%i], %w }
    })");
}

TEST(StructureReturns, nests_one_early_return_in_another) {
  expect_structured(R"(
    if %a { return }
    store x[%i], %n
    if %b { store x[%i], %i return }
    store x[%n], %n)",
                    R"(
    if %a { } else {
      store x[%i], %n
      if %b { store x[%i], %i } else { store x[%n], %n }
    })");
}

TEST(StructureReturns, drops_a_branch_that_only_returned_at_the_end) {
  expect_structured("store x[%i], %n if %a { return }", "store x[%i], %n");
  expect_structured("store x[%i], %n if %a { store x[%i], %i return }", "store x[%i], %n if %a { store x[%i], %i }");
}

TEST(StructureReturns, drops_what_nobody_reaches) {
  expect_structured(R"(
    if %a { store x[%i], %n return } else { return }
    store x[%i], %i)",
                    R"(
    if %a { store x[%i], %n })");
  expect_structured(R"(
    if %u { if %a { return } else { return } store x[%n], %n }
    store x[%i], %i)",
                    R"(
    if %u { if %a { } } else { store x[%i], %i })");
}

TEST(StructureReturns, asks_who_left_where_several_branches_go_on) {
  expect_structured(R"(
    %v: i32 = switch %n {
      case 1 { yield %i }
      case 2 { return }
      default { yield %n }
    }
    store x[%i], %v)",
                    R"(
    %v: i32, %left: bool = switch %n {
      case 1 { %f: bool = constant false yield %i, %f }
      case 2 { %z: i32 = constant 0 %t: bool = constant true yield %z, %t }
      default { %g: bool = constant false yield %n, %g }
    }
    if %left { } else { store x[%i], %v })");
}

TEST(StructureReturns, carries_out_of_a_branch_that_some_left_what_it_yields) {
  expect_structured(R"(
    %v: i32 = if %u {
      if %a { return }
      %w: i32 = add %n, %i
      yield %w
    } else { yield %i }
    store x[%i], %v)",
                    R"(
    %v: i32, %left: bool = if %u {
      %v2: i32, %left2: bool = if %a {
        %z: i32 = constant 0 %t: bool = constant true yield %z, %t
      } else {
        %w: i32 = add %n, %i
        %f: bool = constant false
        yield %w, %f
      }
      yield %v2, %left2
    } else { %g: bool = constant false yield %i, %g }
    if %left { } else { store x[%i], %v })");
}

TEST(StructureReturns, needs_no_answer_where_nothing_follows) {
  expect_structured(R"(
    if %u {
      if %a { return }
      store x[%i], %i
    } else { store x[%i], %n })",
                    R"(
    if %u {
      if %a { } else { store x[%i], %i }
    } else { store x[%i], %n })");
}

TEST(StructureReturns, leaves_a_loop_by_break_and_says_so) {
  expect_structured(R"(
    %s: i32 = loop (%k: i32 = %i) {
      if %a { return }
      %next: i32 = add %k, %n
      if %b { break %next }
      continue %next
    }
    store x[%i], %s)",
                    R"(
    %s: i32, %left: bool = loop (%k: i32 = %i) {
      if %a { %z: i32 = constant 0 %t: bool = constant true break %z, %t }
      %next: i32 = add %k, %n
      if %b { %f: bool = constant false break %next, %f }
      continue %next
    }
    if %left { } else { store x[%i], %s })");
}

TEST(StructureReturns, leaves_loops_inside_loops_one_by_one) {
  expect_structured(R"(
    loop {
      loop {
        if %a { return }
        if %b { break }
        continue
      }
      store x[%i], %i
      if %u { break }
      continue
    }
    store x[%i], %n)",
                    R"(
    %left: bool = loop {
      %left2: bool = loop {
        if %a { %t: bool = constant true break %t }
        if %b { %f: bool = constant false break %f }
        continue
      }
      if %left2 { %t2: bool = constant true break %t2 }
      store x[%i], %i
      if %u { %f2: bool = constant false break %f2 }
      continue
    }
    if %left { } else { store x[%i], %n })");
}

TEST(StructureReturns, turns_a_loop_that_only_returns_leave_into_the_kernels_end) {
  expect_structured(R"(
    loop {
      store x[%i], %n
      if %a { return }
      continue
    }
    store x[%i], %i)",
                    R"(
    loop {
      store x[%i], %n
      if %a { break }
      continue
    })");
  expect_structured(R"(
    loop {
      loop { if %a { return } continue }
      if %b { break }
      continue
    }
    store x[%i], %i)",
                    R"(
    loop {
      loop { if %a { break } continue }
      break
    })");
}

TEST(StructureReturns, keeps_barriers_in_uniform_flow) {
  for (const char* body : {
           "if %u { return } barrier workgroup",
           "barrier workgroup if %a { return }",
           "loop { if %u { return } barrier workgroup if %u { break } continue } barrier workgroup",
           "if %u { if %u { return } barrier workgroup } barrier workgroup",
           "if %u { loop { if %u { return } if %u { break } continue } } else { if %u { return } } barrier workgroup",
           "switch %n { case 1 { return } case 2 { barrier workgroup } default { } } barrier workgroup",
       }) {
    Result<Kernel> kernel = parse(with_body(body));
    ASSERT_TRUE(kernel.ok()) << body << kernel.error().to_string();
    const Result<PassStats> stats = structure_returns(*kernel);
    ASSERT_TRUE(stats.ok()) << stats.error().to_string();
    EXPECT_TRUE(stats->any());
    EXPECT_TRUE(verify(*kernel).ok()) << verify(*kernel).error().to_string() << print(*kernel);
  }
}

TEST(StructureReturns, refuses_what_would_nest_too_deep_and_leaves_it_as_it_was) {
  const auto returns = [](size_t count) {
    std::string body;
    for (size_t i = 0; i < count; ++i) body += "if %a { return } store x[%i], %n\n";
    return with_body(body);
  };
  Result<Kernel> fits = parse(returns(kMaximumDepth - 1));
  ASSERT_TRUE(fits.ok());
  EXPECT_TRUE(structure_returns(*fits).ok());
  EXPECT_TRUE(verify(*fits).ok());

  Result<Kernel> kernel = parse(returns(1000));
  ASSERT_TRUE(kernel.ok());
  const std::string before = print(*kernel);
  const Result<PassStats> stats = structure_returns(*kernel);
  ASSERT_FALSE(stats.ok());
  EXPECT_EQ(stats.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(stats.error().message, HasSubstr("kernel \"k\": its returns, as branches, nest blocks deeper than 256"));
  EXPECT_EQ(print(*kernel), before);
}

}  // namespace
}  // namespace wavegate::kir
