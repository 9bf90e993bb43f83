#include "wavegate/kir/compose.h"

#include <gmock/gmock.h>

#include <string>

#include "kir/kernel_testing.h"

namespace wavegate::kir {
namespace {

using testing::HasSubstr;

TEST(Guard, tests_the_latch_before_anything_else_and_takes_the_last_slot) {
  const Kernel kernel = kernel_of(R"(kernel k {
    workgroup_size 64 1 1
    scalar a f32 read
    buffer x f32 write
    parameter n i32
    %0: i32 = builtin global_id 0
    %1: f32 = load_scalar a
    store x[%0], %1
  })");
  expect_kernel(guard(kernel, "latch"), R"(kernel k {
    workgroup_size 64 1 1
    scalar a f32 read
    buffer x f32 write
    scalar latch i32 read
    parameter n i32
    %l: i32 = load_scalar latch
    %z: i32 = constant 0
    %c: bool = equal %l, %z
    if %c { return }
    %0: i32 = builtin global_id 0
    %1: f32 = load_scalar a
    store x[%0], %1
  })");
}

TEST(Guard, keeps_barriers_legal) {
  const Kernel kernel = kernel_of(R"(kernel k {
    workgroup_size 64 1 1
    workgroup tile i32 64
    buffer x i32 read_write
    %0: i32 = builtin local_id 0
    %1: i32 = load x[%0]
    store tile[%0], %1
    barrier workgroup
    %2: i32 = constant 63
    %3: i32 = sub %2, %0
    %4: i32 = load tile[%3]
    store x[%0], %4
  })");
  const Result<Kernel> guarded = guard(kernel, "latch");
  ASSERT_TRUE(guarded.ok()) << guarded.error().to_string();
  EXPECT_TRUE(verify(*guarded).ok());
}

TEST(Guard, names_the_latch_apart_from_everything_else) {
  const Kernel kernel = kernel_of(R"(kernel k {
    scalar latch i32 read
    workgroup latch.2 i32 64
    parameter latch.3 i32
  })");
  const Result<Kernel> once = guard(kernel, "latch");
  ASSERT_TRUE(once.ok()) << once.error().to_string();
  EXPECT_EQ(once->interface.bindings.back().name, "latch.4");
  const Result<Kernel> twice = guard(*once, "latch");
  ASSERT_TRUE(twice.ok()) << twice.error().to_string();
  EXPECT_EQ(twice->interface.bindings.back().name, "latch.5");
}

TEST(Guard, refuses_what_is_no_name) {
  const Result<Kernel> guarded = guard(kernel_of("kernel k { }"), "a latch");
  ASSERT_FALSE(guarded.ok());
  EXPECT_EQ(guarded.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(guarded.error().message, HasSubstr("kernel \"k\": the latch's name \"a latch\" is not a name"));
}

constexpr std::string_view kFirst = R"(kernel first {
  workgroup_size 64 1 1
  buffer x i32 read_write
  scalar s i32 write
  parameter n i32
  workgroup tile i32 64
  local mine f32 4
  %i: i32 = builtin local_index
  %n: i32 = parameter n
  %c: bool = less_u %i, %n
  if %c { return }
  store tile[%i], %n
  store x[%i], %n
  store_scalar s, %n
})";

constexpr std::string_view kSecond = R"(kernel second {
  workgroup_size 64 1 1
  scalar s i32 read
  buffer x i32 write
  parameter n i32
  local mine f32 3
  workgroup tile i32 128
  workgroup other i32 8
  %i: i32 = builtin local_index
  %s: i32 = load_scalar s
  %u: i32 = assume_uniform %s device
  %n: i32 = parameter n
  store tile[%i], %n
  store other[%i], %n
  store x[%i], %u
})";

TEST(Sequence, puts_a_barrier_between_two_kernels_and_keeps_their_things_apart) {
  expect_kernel(sequence(kernel_of(kFirst), kernel_of(kSecond)), R"(kernel first {
    workgroup_size 64 1 1
    buffer x i32 read_write
    scalar s i32 write
    scalar s.2 i32 read
    buffer x.2 i32 write
    parameter n i32
    parameter n.2 i32
    workgroup tile i32 128
    local mine f32 4
    local mine.2 f32 3
    workgroup other i32 8
    %i: i32 = builtin local_index
    %n: i32 = parameter n
    %c: bool = less_u %i, %n
    if %c { } else {
      store tile[%i], %n
      store x[%i], %n
      store_scalar s, %n
    }
    barrier workgroup
    %i2: i32 = builtin local_index
    %s: i32 = load_scalar s.2
    %u: i32 = assume_uniform %s workgroup
    %n2: i32 = parameter n.2
    store tile[%i2], %n2
    store other[%i2], %n2
    store x.2[%i2], %u
  })");
}

TEST(Sequence, puts_a_barrier_between_kernels_of_one_invocation_too) {
  const Kernel kernel = kernel_of("kernel k { scalar s i32 write %z: i32 = constant 0 store_scalar s, %z }");
  expect_kernel(sequence(kernel, kernel), R"(kernel k {
    scalar s i32 write
    scalar s.2 i32 write
    %z: i32 = constant 0
    store_scalar s, %z
    barrier workgroup
    %y: i32 = constant 0
    store_scalar s.2, %y
  })");
}

TEST(Sequence, refuses_workgroups_of_different_sizes) {
  const Result<Kernel> result = sequence(kernel_of(kFirst), kernel_of("kernel k { workgroup_size 8 8 1 }"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(result.error().message, HasSubstr("kernels \"first\" and \"k\" have workgroups of 64x1x1 and 8x8x1"));
}

TEST(Sequence, refuses_more_memory_than_a_kernel_may_have) {
  const Kernel one = kernel_of("kernel a { workgroup one i32 200000 }");
  const Kernel other = kernel_of("kernel b { workgroup other f32 200000 }");
  EXPECT_TRUE(sequence(one, one).ok());
  const Result<Kernel> result = sequence(one, other);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(result.error().message, HasSubstr("kernel \"a\": array \"other\" takes the workgroup memory beyond"));
}

TEST(OnlyIf, runs_all_of_the_body_or_nothing) {
  expect_kernel(only_if(kernel_of(kFirst), "latch"), R"(kernel first {
    workgroup_size 64 1 1
    buffer x i32 read_write
    scalar s i32 read_write
    scalar latch i32 read
    parameter n i32
    workgroup tile i32 64
    local mine f32 4
    %l: i32 = load_scalar latch
    %u: i32 = assume_uniform %l workgroup
    %z: i32 = constant 0
    %runs: bool = not_equal %u, %z
    if %runs {
      %i: i32 = builtin local_index
      %n: i32 = parameter n
      %c: bool = less_u %i, %n
      if %c { } else {
        store tile[%i], %n
        store x[%i], %n
        store_scalar s, %n
      }
    }
  })");
}

TEST(OnlyIf, refuses_what_is_no_name) {
  EXPECT_EQ(only_if(kernel_of(kFirst), "").error().kind, ErrorKind::invalid_input);
}

TEST(RepeatWhile, tests_before_every_round) {
  const Kernel test = kernel_of(R"(kernel test {
    workgroup_size 64 1 1
    buffer x i32 read
    scalar latch i32 write
    %z: i32 = constant 0
    %v: i32 = load x[%z]
    store_scalar latch, %v
  })");
  const Kernel body = kernel_of(R"(kernel body {
    workgroup_size 64 1 1
    buffer x i32 write
    %i: i32 = builtin local_index
    store x[%i], %i
  })");
  expect_kernel(repeat_while(test, 1, body), R"(kernel test {
    workgroup_size 64 1 1
    buffer x i32 read
    scalar latch i32 read_write
    buffer x.2 i32 read_write
    loop {
      %z: i32 = constant 0
      %v: i32 = load x[%z]
      store_scalar latch, %v
      barrier workgroup
      %l: i32 = load_scalar latch
      %u: i32 = assume_uniform %l workgroup
      %zero: i32 = constant 0
      %ends: bool = equal %u, %zero
      if %ends { break }
      %i: i32 = builtin local_index
      store x.2[%i], %i
      barrier workgroup
      continue
    }
  })");
}

TEST(RepeatWhile, refuses_a_latch_that_is_no_i32_scalar) {
  const Kernel test = kernel_of("kernel t { buffer x i32 read scalar f f32 write }");
  for (const uint32_t latch : {0u, 1u, 2u}) {
    const Result<Kernel> result = repeat_while(test, latch, test);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(result.error().message, HasSubstr("kernel \"t\": binding"));
  }
}

TEST(Composition, of_compositions_stays_legal) {
  const Kernel first = kernel_of(kFirst);
  const Result<Kernel> pair = sequence(first, kernel_of(kSecond));
  ASSERT_TRUE(pair.ok());
  const Result<Kernel> sometimes = only_if(*pair, "latch");
  ASSERT_TRUE(sometimes.ok()) << sometimes.error().to_string();
  const Result<Kernel> loop = repeat_while(first, 1, *sometimes);
  ASSERT_TRUE(loop.ok()) << loop.error().to_string();
  const Result<Kernel> guarded = guard(*loop, "latch");
  ASSERT_TRUE(guarded.ok()) << guarded.error().to_string();
  const Result<Kernel> twice = sequence(*guarded, *loop);
  EXPECT_TRUE(twice.ok()) << twice.error().to_string();
}

}  // namespace
}  // namespace wavegate::kir
