#include "wavegate/kir/passes/sink_guard.h"

#include "kir/pass_testing.h"

namespace wavegate::kir {
namespace {

TEST(SinkGuard, TheTestPassesLoadsWhoseAddressTheLaunchDecides) {
  expect_pass(sink_guard,
              R"(kernel k { workgroup_size 64 1 1 buffer x i32 read_write scalar latch i32 read
                  %0: i32 = load_scalar latch
                  %1: i32 = constant 0
                  %2: bool = equal %0, %1
                  if %2 { return }
                  %3: i32 = builtin global_id 0
                  %4: i32 = load x[%3]
                  %5: i32 = add %4, %4
                  store x[%3], %5 })",
              R"(kernel k { workgroup_size 64 1 1 buffer x i32 read_write scalar latch i32 read
                  %0: i32 = load_scalar latch
                  %1: i32 = constant 0
                  %2: bool = equal %0, %1
                  %3: i32 = builtin global_id 0
                  %4: i32 = load x[%3]
                  %5: i32 = add %4, %4
                  if %2 { return }
                  store x[%3], %5 })");
}

TEST(SinkGuard, TheTestMovesIntoABranchThatIsAllTheRest) {
  expect_pass(sink_guard,
              R"(kernel k { workgroup_size 64 1 1 buffer x i32 read_write scalar latch i32 read parameter n i32
                  %0: i32 = load_scalar latch
                  %1: i32 = constant 0
                  %2: bool = equal %0, %1
                  if %2 { return }
                  %3: i32 = builtin global_id 0
                  %6: i32 = parameter n
                  %7: bool = less_u %3, %6
                  if %7 { %4: i32 = load x[%3] store x[%3], %4 } })",
              R"(kernel k { workgroup_size 64 1 1 buffer x i32 read_write scalar latch i32 read parameter n i32
                  %0: i32 = load_scalar latch
                  %1: i32 = constant 0
                  %2: bool = equal %0, %1
                  %3: i32 = builtin global_id 0
                  %6: i32 = parameter n
                  %7: bool = less_u %3, %6
                  if %7 { %4: i32 = load x[%3] if %2 { return } store x[%3], %4 } })");
}

TEST(SinkGuard, ALoadWhoseAddressWasLoadedStaysBehindTheTest) {
  expect_pass(sink_guard,
              R"(kernel k { buffer x i32 read_write scalar latch i32 read
                  %0: i32 = load_scalar latch
                  %1: i32 = constant 0
                  %2: bool = equal %0, %1
                  if %2 { return }
                  %4: i32 = load x[%1]
                  %5: i32 = load x[%4]
                  store x[%1], %5 })",
              R"(kernel k { buffer x i32 read_write scalar latch i32 read
                  %0: i32 = load_scalar latch
                  %1: i32 = constant 0
                  %2: bool = equal %0, %1
                  %4: i32 = load x[%1]
                  if %2 { return }
                  %5: i32 = load x[%4]
                  store x[%1], %5 })");
}

TEST(SinkGuard, ABranchThatAScalarDecidesIsNotEnteredUntested) {
  expect_pass(sink_guard,
              R"(kernel k { buffer x i32 read_write scalar n i32 read scalar latch i32 read
                  %0: i32 = load_scalar latch
                  %1: i32 = constant 0
                  %2: bool = equal %0, %1
                  if %2 { return }
                  %3: i32 = load_scalar n
                  %4: bool = less_u %1, %3
                  if %4 { %5: i32 = load x[%1] store x[%1], %5 } })",
              R"(kernel k { buffer x i32 read_write scalar n i32 read scalar latch i32 read
                  %0: i32 = load_scalar latch
                  %1: i32 = constant 0
                  %2: bool = equal %0, %1
                  %3: i32 = load_scalar n
                  %4: bool = less_u %1, %3
                  if %2 { return }
                  if %4 { %5: i32 = load x[%1] store x[%1], %5 } })");
}

TEST(SinkGuard, NothingPassesAnEffectAPointerOrALoop) {
  expect_unchanged(sink_guard, R"(kernel k { buffer x i32 read_write scalar latch i32 read
                  %0: i32 = load_scalar latch
                  %1: i32 = constant 0
                  %2: bool = equal %0, %1
                  if %2 { return }
                  barrier workgroup
                  %4: i32 = load x[%1]
                  store x[%1], %4 })");
  expect_unchanged(sink_guard, R"(kernel k { buffer x i32 read_write scalar latch i32 read
                  %0: i32 = load_scalar latch
                  %1: i32 = constant 0
                  %8: i64 = constant 4096
                  %2: bool = equal %0, %1
                  if %2 { return }
                  %4: i32 = load [%8]
                  store x[%1], %4 })");
}

TEST(SinkGuard, AKernelWithoutAGuardIsLeftAlone) {
  expect_unchanged(sink_guard, R"(kernel k { buffer x i32 read_write
                  %1: i32 = constant 0
                  %4: i32 = load x[%1]
                  store x[%1], %4 })");
}

}  // namespace
}  // namespace wavegate::kir
