#include "wavegate/kir/passes/scalars_to_workgroup.h"

#include "kir/pass_testing.h"

namespace wavegate::kir {
namespace {

TEST(ScalarsToWorkgroup, WhatIsWrittenLivesInWorkgroupMemoryBetweenStartAndEnd) {
  expect_pass(scalars_to_workgroup,
              R"(kernel k { workgroup_size 64 1 1 scalar a i32 read_write scalar b f32 write scalar c i32 read
                  %0: i32 = load_scalar a
                  %1: i32 = load_scalar c
                  %2: i32 = add %0, %1
                  store_scalar a, %2
                  %3: f32 = constant 2.5
                  store_scalar b, %3 })",
              R"(kernel k { workgroup_size 64 1 1 scalar a i32 read_write scalar b f32 write scalar c i32 read
                  workgroup scalars i32 2
                  %l: i32 = builtin local_index
                  %z: i32 = constant 0
                  %f: bool = equal %l, %z
                  if %f {
                    %p: i32 = constant 0
                    %v: i32 = load_scalar a
                    store scalars[%p], %v
                  }
                  barrier workgroup
                  %i0: i32 = constant 0
                  %0: i32 = load scalars[%i0]
                  %1: i32 = load_scalar c
                  %2: i32 = add %0, %1
                  %i1: i32 = constant 0
                  store scalars[%i1], %2
                  %3: f32 = constant 2.5
                  %i2: i32 = constant 1
                  %b2: i32 = bitcast %3
                  store scalars[%i2], %b2
                  barrier workgroup
                  %l2: i32 = builtin local_index
                  %z2: i32 = constant 0
                  %f2: bool = equal %l2, %z2
                  if %f2 {
                    %p2: i32 = constant 0
                    %v2: i32 = load scalars[%p2]
                    store_scalar a, %v2
                    %p3: i32 = constant 1
                    %v3: i32 = load scalars[%p3]
                    %w3: f32 = bitcast %v3
                    store_scalar b, %w3
                  } })");
}

TEST(ScalarsToWorkgroup, AKernelThatOnlyReadsScalarsIsLeftAlone) {
  expect_unchanged(scalars_to_workgroup, R"(kernel k { scalar c i32 read buffer x i32 read_write
                  %1: i32 = load_scalar c
                  store x[%1], %1 })");
}

TEST(ScalarsToWorkgroup, AKernelThatReturnsEarlyIsLeftAlone) {
  expect_unchanged(scalars_to_workgroup, R"(kernel k { scalar a i32 read_write
                  %1: i32 = load_scalar a
                  %2: bool = equal %1, %1
                  if %2 { return }
                  store_scalar a, %1 })");
}

}  // namespace
}  // namespace wavegate::kir
