#include "wavegate/kir/in_one_workgroup.h"

#include <gmock/gmock.h>

#include <string>

#include "kir/kernel_testing.h"

namespace wavegate::kir {
namespace {

using testing::HasSubstr;
using Size = std::array<uint32_t, 3>;

TEST(InOneWorkgroup, runs_independent_invocations_a_width_at_a_time) {
  const Kernel kernel = kernel_of(R"(kernel k {
    workgroup_size 64 1 1
    buffer x i32 read_write
    parameter n i32
    %i: i32 = builtin global_id 0
    %n: i32 = parameter n
    %c: bool = less_equal_u %n, %i
    if %c { return }
    %g: i32 = builtin grid 0
    store x[%i], %g
  })");
  expect_kernel(in_one_workgroup(kernel, {10, 1, 1}, 256), R"(kernel k {
    workgroup_size 256 1 1
    buffer x i32 read_write
    parameter n i32
    %first: i32 = builtin local_index
    %end: i32 = constant 640
    %step: i32 = constant 256
    loop (%i: i32 = %first) {
      %runs: bool = less_u %i, %end
      if %runs { } else { break }
      %64: i32 = constant 64
      %w: i32 = div_u %i, %64
      %65: i32 = constant 64
      %l: i32 = rem_u %i, %65
      %g: i32 = constant 10
      %n: i32 = parameter n
      %c: bool = less_equal_u %n, %i
      if %c { } else { store x[%i], %g }
      %next: i32 = add %i, %step
      continue %next
    }
  })");
}

TEST(InOneWorkgroup, needs_no_loop_for_a_dispatch_that_fits) {
  const Kernel kernel = kernel_of(R"(kernel k {
    workgroup_size 8 1 1
    buffer x i32 read_write
    %i: i32 = builtin local_index
    store x[%i], %i
  })");
  expect_kernel(in_one_workgroup(kernel, {1, 1, 1}, 8), R"(kernel k {
    workgroup_size 8 1 1
    buffer x i32 read_write
    %i: i32 = builtin local_index
    %z: i32 = constant 0
    store x[%i], %i
  })");
  expect_kernel(in_one_workgroup(kernel, {1, 1, 1}, 64), R"(kernel k {
    workgroup_size 64 1 1
    buffer x i32 read_write
    %i: i32 = builtin local_index
    %end: i32 = constant 8
    %runs: bool = less_u %i, %end
    if %runs { %z: i32 = constant 0 store x[%i], %i }
  })");
}

TEST(InOneWorkgroup, runs_workgroups_that_share_memory_one_after_the_other) {
  const Kernel kernel = kernel_of(R"(kernel k {
    workgroup_size 4 2 1
    buffer x i32 read_write
    workgroup tile i32 8
    %i: i32 = builtin local_index
    %u: i32 = builtin workgroup_id 0
    %v: i32 = builtin local_id 1
    %l: i32 = load x[%u]
    store tile[%i], %l
    barrier workgroup
    %t: i32 = load tile[%v]
    store x[%i], %t
  })");
  expect_kernel(in_one_workgroup(kernel, {3, 1, 1}, 8), R"(kernel k {
    workgroup_size 8 1 1
    buffer x i32 read_write
    workgroup tile i32 8
    %i: i32 = builtin local_index
    %zero: i32 = constant 0
    %end: i32 = constant 3
    %step: i32 = constant 1
    loop (%u: i32 = %zero) {
      %runs: bool = less_u %u, %end
      if %runs { } else { break }
      %4: i32 = constant 4
      %v: i32 = div_u %i, %4
      %l: i32 = load x[%u]
      store tile[%i], %l
      barrier workgroup
      %t: i32 = load tile[%v]
      store x[%i], %t
      barrier workgroup
      %next: i32 = add %u, %step
      continue %next
    }
  })");
}

TEST(InOneWorkgroup, drops_claims_between_invocations_that_meet_no_longer) {
  const Kernel kernel = kernel_of(R"(kernel k {
    workgroup_size 64 1 1
    buffer x i32 read_write
    %w: i32 = builtin workgroup_id 0
    %u: i32 = assume_uniform %w workgroup
    store x[%w], %u
  })");
  const Result<Kernel> result = in_one_workgroup(kernel, {2, 1, 1}, 128);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_THAT(print(*result), testing::Not(HasSubstr("assume_uniform")));
}

TEST(InOneWorkgroup, narrows_claims_over_the_device_where_barriers_stay) {
  const Kernel kernel = kernel_of(R"(kernel k {
    workgroup_size 64 1 1
    scalar n i32 read_write
    %n: i32 = load_scalar n
    %u: i32 = assume_uniform %n device
    %z: i32 = constant 0
    %c: bool = equal %u, %z
    if %c { barrier workgroup }
  })");
  const Result<Kernel> result = in_one_workgroup(kernel, {2, 1, 1}, 64);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_THAT(print(*result), HasSubstr("assume_uniform %6 workgroup"));
}

TEST(InOneWorkgroup, does_nothing_for_an_empty_grid) {
  const Kernel kernel = kernel_of("kernel k { scalar s i32 write %z: i32 = constant 0 store_scalar s, %z }");
  expect_kernel(in_one_workgroup(kernel, {0, 1, 1}, 64), "kernel k { workgroup_size 64 1 1 scalar s i32 write }");
}

struct TieCase {
  std::string_view body;
  bool tied;
};

class TiesOfInvocations : public testing::TestWithParam<TieCase> {};

// A tied kernel runs in its own width alone, any other in all.
TEST_P(TiesOfInvocations, are_what_keeps_the_width) {
  const auto& [body, tied] = GetParam();
  const Kernel kernel =
      kernel_of("kernel k { workgroup_size 64 1 1 buffer x i32 read_write " + std::string(body) + " }");
  EXPECT_EQ(is_tied(kernel), tied);
  EXPECT_EQ(in_one_workgroup(kernel, {2, 1, 1}, 128).ok(), !tied);
  EXPECT_TRUE(in_one_workgroup(kernel, {2, 1, 1}, 64).ok());
}

INSTANTIATE_TEST_SUITE_P(
    InOneWorkgroup, TiesOfInvocations,
    testing::Values(TieCase{"barrier workgroup", true}, TieCase{"barrier subgroup", true},
                    TieCase{"workgroup w i32 1", true}, TieCase{"%l: i32 = builtin subgroup_lane", true},
                    TieCase{"%s: i32 = builtin subgroup_size", true},
                    TieCase{"%t: bool = constant true %a: bool = subgroup_any %t", true},
                    TieCase{"%t: bool = constant true if %t { barrier workgroup }", true},
                    TieCase{"%z: i32 = constant 0 %u: i32 = assume_uniform %z workgroup store x[%u], %u", false},
                    TieCase{"fence device acquire_release", false},
                    TieCase{"%z: i32 = constant 0 %o: i32 = atomic_add x[%z], %z device relaxed", false},
                    TieCase{"%i: i32 = builtin local_index store x[%i], %i", false}));

struct RefusedCase {
  std::string_view text;
  Size grid;
  uint32_t width;
  std::string_view message;
};

class InOneWorkgroupRefuses : public testing::TestWithParam<RefusedCase> {};

TEST_P(InOneWorkgroupRefuses, with_the_reason) {
  const Result<Kernel> result = in_one_workgroup(kernel_of(GetParam().text), GetParam().grid, GetParam().width);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, GetParam().width == 0 ? ErrorKind::invalid_input : ErrorKind::unsupported);
  EXPECT_THAT(result.error().message, HasSubstr("kernel \"k\""));
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    InOneWorkgroup, InOneWorkgroupRefuses,
    testing::Values(
        RefusedCase{"kernel k { workgroup_size 64 1 1 barrier workgroup }",
                    {1, 1, 1},
                    128,
                    "cannot run as one workgroup of 128: it has barrier, and its workgroup has 64 invocations"},
        RefusedCase{"kernel k { workgroup_size 64 1 1 workgroup w i32 1 }",
                    {1, 1, 1},
                    128,
                    "it has workgroup memory, and its workgroup has 64 invocations; use that width"},
        RefusedCase{"kernel k { workgroup_size 8 8 1 %l: i32 = builtin subgroup_lane }",
                    {1, 1, 1},
                    64,
                    "it has subgroup_lane, and which invocations share a subgroup may differ from its workgroup of "
                    "8x8x1"},
        RefusedCase{"kernel k { workgroup_size 8 8 1 %t: bool = constant true %a: bool = subgroup_any %t }",
                    {1, 1, 1},
                    64,
                    "it has subgroup_any"},
        RefusedCase{"kernel k { workgroup_size 8 8 1 barrier subgroup }", {1, 1, 1}, 64, "it has barrier, and which"},
        RefusedCase{"kernel k { workgroup_size 64 1 1 }",
                    {1 << 13, 1 << 13, 1},
                    64,
                    "its grid of 8192x8192x1 workgroups has more invocations than 32 bits count"},
        RefusedCase{"kernel k { workgroup_size 1024 1 1 }",
                    {0xffffffff, 0xffffffff, 0xffffffff},
                    64,
                    "has more invocations than 32 bits count"},
        RefusedCase{"kernel k { }", {1, 1, 1}, 1 << 21, "a workgroup of more than 1048576 invocations"},
        RefusedCase{"kernel k { }", {1, 1, 1}, 0, "one workgroup of no invocations"}));

}  // namespace
}  // namespace wavegate::kir
