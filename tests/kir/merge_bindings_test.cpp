#include "wavegate/kir/passes/merge_bindings.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kir/kernel_testing.h"

namespace wavegate::kir {
namespace {

using testing::HasSubstr;
using Indices = std::vector<uint32_t>;

Result<Kernel> merged(std::string_view text, const Indices& same_as) {
  Kernel kernel = kernel_of(text);
  WAVEGATE_CHECK(merge_bindings(kernel, same_as));
  return kernel;
}

TEST(MergeBindings, joins_accesses_and_renumbers_what_follows) {
  expect_kernel(merged(R"(kernel k {
      buffer a i32 read
      scalar s f32 write
      buffer b i32 write
      scalar t f32 read
      buffer c i32 read
      local l i32 4
      %i: i32 = builtin global_id 0
      %a: i32 = load a[%i]
      %c: i32 = load c[%i]
      %n: i32 = array_length b
      store b[%i], %a
      store l[%i], %c
      %t: f32 = load_scalar t
      store_scalar s, %t
    })",
                       {0, 1, 0, 1, 4}),
                R"(kernel k {
      buffer a i32 read_write
      scalar s f32 read_write
      buffer c i32 read
      local l i32 4
      %i: i32 = builtin global_id 0
      %a: i32 = load a[%i]
      %c: i32 = load c[%i]
      %n: i32 = array_length a
      store a[%i], %a
      store l[%i], %c
      %t: f32 = load_scalar s
      store_scalar s, %t
    })");
}

TEST(MergeBindings, keeps_the_promise_that_both_make) {
  expect_kernel(merged(R"(kernel k {
      buffer a i32 write
      buffer b i32 write
      buffer c i32 read
      buffer d i32 read
    })",
                       {0, 0, 2, 2}),
                "kernel k { buffer a i32 write buffer c i32 read }");
}

TEST(MergeBindings, changes_nothing_where_nothing_is_the_same) {
  Kernel kernel = kernel_of("kernel k { buffer a i32 read scalar s i32 read }");
  const std::string before = print(kernel);
  const Result<PassStats> stats = merge_bindings(kernel, Indices{0, 1});
  ASSERT_TRUE(stats.ok());
  EXPECT_FALSE(stats->any());
  EXPECT_EQ(print(kernel), before);
}

TEST(MergeBindings, keeps_barriers_legal_that_a_read_only_binding_made_so) {
  expect_kernel(merged(R"(kernel k {
      workgroup_size 64 1 1
      scalar count i32 write
      scalar bound i32 read
      buffer x i32 read_write
      buffer y i32 read
      %z: i32 = constant 0
      %i: i32 = builtin local_id 0
      store_scalar count, %z
      barrier workgroup
      %n: i32 = load_scalar bound
      %y0: i32, %y1: i32 = load y[%z]
      %yi: i32 = load y[%i]
      %c: bool = equal %n, %y1
      if %c { barrier workgroup }
      %d: bool = equal %i, %yi
      if %d { %m: i32 = load_scalar bound store x[%i], %m }
    })",
                       {0, 0, 2, 2}),
                R"(kernel k {
      workgroup_size 64 1 1
      scalar count i32 read_write
      buffer x i32 read_write
      %z: i32 = constant 0
      %i: i32 = builtin local_id 0
      store_scalar count, %z
      barrier workgroup
      %n0: i32 = load_scalar count
      %n: i32 = assume_uniform %n0 workgroup
      %y00: i32, %y10: i32 = load x[%z]
      %y0: i32 = assume_uniform %y00 workgroup
      %y1: i32 = assume_uniform %y10 workgroup
      %yi: i32 = load x[%i]
      %c: bool = equal %n, %y1
      if %c { barrier workgroup }
      %d: bool = equal %i, %yi
      if %d { %m: i32 = load_scalar count store x[%i], %m }
    })");
}

TEST(MergeBindings, claims_nothing_about_one_invocation) {
  expect_kernel(merged(R"(kernel k {
      scalar a i32 write
      scalar b i32 read
      %b: i32 = load_scalar b
      store_scalar a, %b
    })",
                       {0, 0}),
                "kernel k { scalar a i32 read_write %b: i32 = load_scalar a store_scalar a, %b }");
}

struct RefusedCase {
  Indices same_as;
  std::string_view message;
};

class MergeBindingsRefuses : public testing::TestWithParam<RefusedCase> {};

TEST_P(MergeBindingsRefuses, with_the_reason) {
  Kernel kernel = kernel_of("kernel k { buffer a i32 read buffer b f32 read scalar c i32 read buffer d i32 read }");
  const std::string before = print(kernel);
  const Result<PassStats> stats = merge_bindings(kernel, GetParam().same_as);
  ASSERT_FALSE(stats.ok());
  EXPECT_EQ(stats.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(stats.error().message, HasSubstr(GetParam().message));
  EXPECT_EQ(print(kernel), before);
}

INSTANTIATE_TEST_SUITE_P(
    MergeBindings, MergeBindingsRefuses,
    testing::Values(RefusedCase{{0, 1, 2}, "kernel \"k\" has 4 bindings to merge, not 3"},
                    RefusedCase{{0, 1, 2, 4}, "binding 3 cannot be the same as 4, which does not stay before it"},
                    RefusedCase{{3, 1, 2, 3}, "binding 0 cannot be the same as 3, which does not stay before it"},
                    RefusedCase{{0, 0, 2, 3}, "binding 1 cannot be the same as 0: \"b\" is f32 and \"a\" is i32"},
                    RefusedCase{{0, 1, 0, 3},
                                "binding 2 cannot be the same as 0: \"c\" and \"a\" are a buffer and a scalar"}));

TEST(MergeParameters, renumbers_what_follows) {
  Kernel kernel = kernel_of(R"(kernel k {
    scalar s i32 write
    parameter a i32
    parameter b i64
    parameter c i32
    parameter d i32
    %c: i32 = parameter c
    %d: i32 = parameter d
    %e: i32 = add %c, %d
    store_scalar s, %e
  })");
  const Result<PassStats> stats = merge_parameters(kernel, Indices{0, 1, 0, 3});
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->removed, 1u);
  expect_kernel(kernel, R"(kernel k {
    scalar s i32 write
    parameter a i32
    parameter b i64
    parameter d i32
    %c: i32 = parameter a
    %d: i32 = parameter d
    %e: i32 = add %c, %d
    store_scalar s, %e
  })");
}

TEST(MergeParameters, refuses_another_type) {
  Kernel kernel = kernel_of("kernel k { parameter a i32 parameter b i64 }");
  const Result<PassStats> stats = merge_parameters(kernel, Indices{0, 0});
  ASSERT_FALSE(stats.ok());
  EXPECT_THAT(stats.error().message, HasSubstr("parameter 1 cannot be the same as 0: \"b\" is i64 and \"a\" is i32"));
}

}  // namespace
}  // namespace wavegate::kir
