#include "wavegate/kir/passes/remove_dead_code.h"

#include <gmock/gmock.h>

#include "kir/pass_testing.h"

namespace wavegate::kir {
namespace {

TEST(RemoveDeadCode, AnUnusedValueGoesWithAllThatOnlyItUsed) {
  expect_pass(remove_dead_code, R"(kernel k {
    buffer b i32 read
    scalar out i32 write
    %0: i32 = constant 0
    %1: i32 = load b[%0]
    %2: i32 = add %1, %0
    store_scalar out, %0
  })",
              R"(kernel k {
    buffer b i32 read
    scalar out i32 write
    %0: i32 = constant 0
    store_scalar out, %0
  })");
}

TEST(RemoveDeadCode, EffectsStayAlthoughTheirResultIsUnused) {
  expect_unchanged(remove_dead_code, R"(kernel k {
    buffer b i32 read_write
    %0: i32 = constant 0
    store b[%0], %0
    %1: i32 = atomic_add b[%0], %0 device relaxed
    barrier workgroup
    fence device release
  })");
}

TEST(RemoveDeadCode, AnUnusedSubgroupOperationOrClaimGoes) {
  expect_pass(remove_dead_code, R"(kernel k {
    %0: i32 = builtin grid 0
    %1: i32 = subgroup_add %0
    %2: i32 = assume_uniform %0 workgroup
  })",
              "kernel k { }");
}

TEST(RemoveDeadCode, ALoadOfSeveralElementsStaysForOneOfThem) {
  expect_unchanged(remove_dead_code, R"(kernel k {
    buffer b i32 read
    scalar out i32 write
    %0: i32 = constant 0
    %1: i32, %2: i32 = load b[%0]
    store_scalar out, %2
  })");
}

TEST(RemoveDeadCode, ABranchWithoutEffectGoesWithItsCondition) {
  expect_pass(remove_dead_code, R"(kernel k {
    parameter n i32
    %0: i32 = parameter n
    %1: bool = less_u %0, %0
    %2: i32 = if %1 {
      yield %0
    } else {
      %3: i32 = add %0, %0
      yield %3
    }
  })",
              "kernel k { parameter n i32 }");
}

TEST(RemoveDeadCode, AnUnusedResultGoesWithWhatWasYieldedToIt) {
  expect_pass(remove_dead_code, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = less_u %0, %0
    %2: f32, %3: i32 = if %1 {
      %4: f32 = constant 1.0
      yield %4, %0
    } else {
      %5: f32 = constant 2.0
      %6: i32 = add %0, %0
      yield %5, %6
    }
    store_scalar out, %3
  })",
              R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = less_u %0, %0
    %3: i32 = if %1 {
      yield %0
    } else {
      %6: i32 = add %0, %0
      yield %6
    }
    store_scalar out, %3
  })");
}

TEST(RemoveDeadCode, ALoopCarriedValueThatFeedsOnlyItselfGoes) {
  expect_pass(remove_dead_code, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: i32, %2: i32 = loop (%3: i32 = %0, %4: i32 = %0) {
      %5: i32 = add %3, %0
      %6: i32 = add %4, %0
      %7: bool = less_u %5, %0
      if %7 {
        break %6, %5
      }
      continue %5, %6
    }
    store_scalar out, %2
  })",
              R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %2: i32 = loop (%3: i32 = %0) {
      %5: i32 = add %3, %0
      %7: bool = less_u %5, %0
      if %7 {
        break %5
      }
      continue %5
    }
    store_scalar out, %2
  })");
}

TEST(RemoveDeadCode, ALoopWithoutEffectGoesWithItsBreaks) {
  expect_pass(remove_dead_code, R"(kernel k {
    parameter n i32
    %0: i32 = parameter n
    %1: i32 = loop (%3: i32 = %0) {
      %5: i32 = add %3, %0
      %7: bool = less_u %5, %0
      if %7 {
        break %5
      }
      continue %5
    }
  })",
              "kernel k { parameter n i32 }");
}

TEST(RemoveDeadCode, TheBreakOfALiveLoopStaysInABranchWithoutResults) {
  expect_unchanged(remove_dead_code, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = less_u %0, %0
    loop {
      store_scalar out, %0
      if %1 {
        break
      }
      continue
    }
  })");
}

TEST(RemoveDeadCode, AnInnerLoopWithoutEffectGoesFromALiveOne) {
  expect_pass(remove_dead_code, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = less_u %0, %0
    loop {
      store_scalar out, %0
      loop {
        if %1 {
          break
        }
        continue
      }
      if %1 {
        break
      }
      continue
    }
  })",
              R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = less_u %0, %0
    loop {
      store_scalar out, %0
      if %1 {
        break
      }
      continue
    }
  })");
}

TEST(RemoveDeadCode, AnInnerLoopThatContinuesTheOuterOneByItsBreakStays) {
  expect_unchanged(remove_dead_code, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = less_u %0, %0
    %2: i32 = loop (%3: i32 = %0) {
      %4: i32 = loop (%5: i32 = %3) {
        %6: i32 = add %5, %0
        if %1 {
          break %6
        }
        continue %6
      }
      %7: bool = less_u %4, %0
      if %7 {
        break %4
      }
      continue %4
    }
    store_scalar out, %2
  })");
}

TEST(RemoveDeadCode, AnEarlyReturnStays) {
  expect_unchanged(remove_dead_code, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = less_u %0, %0
    if %1 {
      return
    }
    store_scalar out, %0
  })");
}

TEST(RemoveDeadCode, WhatFollowsAConstructThatNeverCompletesGoes) {
  expect_pass(remove_dead_code, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = less_u %0, %0
    loop {
      store_scalar out, %0
      if %1 {
        break
      } else {
        continue
      }
      %2: i32 = add %0, %0
      store_scalar out, %2
      continue
    }
  })",
              R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = less_u %0, %0
    loop {
      store_scalar out, %0
      if %1 {
        break
      } else {
        continue
      }
      continue
    }
  })");
}

TEST(RemoveDeadCode, AnUnreachableTerminatorKeepsItsValues) {
  expect_unchanged(remove_dead_code, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = less_u %0, %0
    %2: i32 = loop (%3: i32 = %0) {
      %4: i32 = add %3, %0
      if %1 {
        break %4
      } else {
        continue %4
      }
      %5: i32 = add %0, %0
      continue %5
    }
    store_scalar out, %2
  })");
}

TEST(RemoveDeadCode, TheOnlyExitOfALoopStaysEvenIfItIsNeverReached) {
  expect_unchanged(remove_dead_code, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = less_u %0, %0
    loop {
      store_scalar out, %0
      if %1 {
        continue
      } else {
        continue
      }
      if %1 {
        break
      }
      continue
    }
  })");
}

TEST(RemoveDeadCode, MemoriesStayDeclared) {
  expect_pass(remove_dead_code, R"(kernel k {
    local v i32 2
    %0: i32 = constant 0
    %1: i32 = load v[%0]
  })",
              "kernel k { local v i32 2 }");
}

}  // namespace
}  // namespace wavegate::kir
