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
  EXPECT_THAT(guarded.error().message, HasSubstr("\"a latch\" is not a name"));
}

}  // namespace
}  // namespace wavegate::kir
