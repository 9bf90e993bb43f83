#include "wavegate/kir/passes/promote_variables.h"

#include <gmock/gmock.h>

#include <ctime>

#include "kir/pass_testing.h"
#include "wavegate/base/format.h"

namespace wavegate::kir {
namespace {

TEST(PromoteVariables, StraightLineCodeNeedsNoMemory) {
  expect_pass(promote_variables, R"(kernel k {
    scalar out i32 write
    local v i32 1
    %0: i32 = constant 0
    %1: i32 = constant 7
    store v[%0], %1
    %2: i32 = load v[%0]
    %3: i32 = add %2, %2
    store v[%0], %3
    %4: i32 = load v[%0]
    store_scalar out, %4
  })",
              R"(kernel k {
    scalar out i32 write
    %0: i32 = constant 0
    %1: i32 = constant 7
    %3: i32 = add %1, %1
    store_scalar out, %3
  })");
}

TEST(PromoteVariables, ABranchThatStoresYieldsAndTheOtherPassesOn) {
  expect_pass(promote_variables, R"(kernel k {
    scalar out i32 write
    parameter c i32
    local v i32 1
    %0: i32 = constant 0
    %91: i32 = parameter c
    %1: bool = equal %91, %0
    store v[%0], %91
    if %1 {
      store v[%0], %0
    }
    %2: i32 = load v[%0]
    store_scalar out, %2
  })",
              R"(kernel k {
    scalar out i32 write
    parameter c i32
    %0: i32 = constant 0
    %91: i32 = parameter c
    %1: bool = equal %91, %0
    %2: i32 = if %1 {
      yield %0
    } else {
      yield %91
    }
    store_scalar out, %2
  })");
}

TEST(PromoteVariables, EachCaseOfASwitchYields) {
  expect_pass(promote_variables, R"(kernel k {
    scalar out i32 write
    parameter c i32
    local v i32 1
    %0: i32 = constant 0
    %91: i32 = parameter c
    switch %91 {
      case 1 {
        store v[%0], %91
      }
      case 2 {
        return
      }
      default {
        store v[%0], %0
      }
    }
    %2: i32 = load v[%0]
    store_scalar out, %2
  })",
              R"(kernel k {
    scalar out i32 write
    parameter c i32
    %0: i32 = constant 0
    %91: i32 = parameter c
    %2: i32 = switch %91 {
      case 1 {
        yield %91
      }
      case 2 {
        return
      }
      default {
        yield %0
      }
    }
    store_scalar out, %2
  })");
}

TEST(PromoteVariables, ALoopCarriesWhatItStores) {
  expect_pass(promote_variables, R"(kernel k {
    scalar out i32 write
    parameter n i32
    local i i32 1
    local same i32 1
    %0: i32 = constant 0
    %1: i32 = constant 1
    %90: i32 = parameter n
    store i[%0], %0
    store same[%0], %1
    loop {
      %2: i32 = load i[%0]
      %3: bool = less_u %2, %90
      if %3 {
      } else {
        break
      }
      %4: i32 = load i[%0]
      %5: i32 = load same[%0]
      %6: i32 = add %4, %5
      store i[%0], %6
      continue
    }
    %7: i32 = load i[%0]
    store_scalar out, %7
  })",
              R"(kernel k {
    scalar out i32 write
    parameter n i32
    %0: i32 = constant 0
    %1: i32 = constant 1
    %90: i32 = parameter n
    %7: i32 = loop (%2: i32 = %0) {
      %3: bool = less_u %2, %90
      if %3 {
      } else {
        break %2
      }
      %6: i32 = add %2, %1
      continue %6
    }
    store_scalar out, %7
  })");
}

TEST(PromoteVariables, ContinueAndBreakInsideBranchesPassTheValueOfTheirPlace) {
  expect_pass(promote_variables, R"(kernel k {
    scalar out i32 write
    parameter n i32
    local i i32 1
    %0: i32 = constant 0
    %1: i32 = constant 1
    %90: i32 = parameter n
    store i[%0], %0
    loop {
      %2: i32 = load i[%0]
      %3: bool = less_u %2, %90
      if %3 {
        store i[%0], %90
        continue
      } else {
        store i[%0], %1
        break
      }
      return
    }
    %7: i32 = load i[%0]
    store_scalar out, %7
  })",
              R"(kernel k {
    scalar out i32 write
    parameter n i32
    %0: i32 = constant 0
    %1: i32 = constant 1
    %90: i32 = parameter n
    %7: i32 = loop (%2: i32 = %0) {
      %3: bool = less_u %2, %90
      if %3 {
        continue %90
      } else {
        break %1
      }
      return
    }
    store_scalar out, %7
  })");
}

TEST(PromoteVariables, NestedLoopsCarryThroughBoth) {
  expect_pass(promote_variables, R"(kernel k {
    scalar out i32 write
    parameter n i32
    local sum i32 1
    %0: i32 = constant 0
    %90: i32 = parameter n
    store sum[%0], %0
    loop {
      loop {
        %1: i32 = load sum[%0]
        %2: i32 = add %1, %90
        store sum[%0], %2
        %3: bool = less_u %2, %90
        if %3 {
          break
        }
        continue
      }
      %4: i32 = load sum[%0]
      %5: bool = equal %4, %90
      if %5 {
        break
      }
      continue
    }
    %6: i32 = load sum[%0]
    store_scalar out, %6
  })",
              R"(kernel k {
    scalar out i32 write
    parameter n i32
    %0: i32 = constant 0
    %90: i32 = parameter n
    %6: i32 = loop (%10: i32 = %0) {
      %4: i32 = loop (%1: i32 = %10) {
        %2: i32 = add %1, %90
        %3: bool = less_u %2, %90
        if %3 {
          break %2
        }
        continue %2
      }
      %5: bool = equal %4, %90
      if %5 {
        break %4
      }
      continue %4
    }
    store_scalar out, %6
  })");
}

TEST(PromoteVariables, AVariableOfTheLoopBodyIsNotCarried) {
  expect_pass(promote_variables, R"(kernel k {
    scalar out i32 write
    parameter n i32
    local t i32 1
    %0: i32 = constant 0
    %90: i32 = parameter n
    loop {
      store t[%0], %90
      %1: i32 = load t[%0]
      store_scalar out, %1
      %2: bool = equal %1, %0
      if %2 {
        store t[%0], %0
        break
      }
      continue
    }
  })",
              R"(kernel k {
    scalar out i32 write
    parameter n i32
    %0: i32 = constant 0
    %90: i32 = parameter n
    loop {
      store_scalar out, %90
      %2: bool = equal %90, %0
      if %2 {
        break
      }
      continue
    }
  })");
}

TEST(PromoteVariables, AWriteOnEveryWayOutOfALoopMakesAResultWithoutALoopCarriedValue) {
  expect_pass(promote_variables, R"(kernel k {
    scalar out i32 write
    parameter n i32
    local v i32 1
    %0: i32 = constant 0
    %90: i32 = parameter n
    %1: bool = equal %90, %0
    loop {
      if %1 {
        store v[%0], %0
        break
      }
      store v[%0], %90
      break
    }
    %2: i32 = load v[%0]
    store_scalar out, %2
  })",
              R"(kernel k {
    scalar out i32 write
    parameter n i32
    %0: i32 = constant 0
    %90: i32 = parameter n
    %1: bool = equal %90, %0
    %2: i32 = loop {
      if %1 {
        break %0
      }
      break %90
    }
    store_scalar out, %2
  })");
}

TEST(PromoteVariables, ResultsOfTheKernelComeFirst) {
  expect_pass(promote_variables, R"(kernel k {
    scalar out i32 write
    parameter n i32
    local v f32 1
    %0: i32 = constant 0
    %90: i32 = parameter n
    %1: f32 = constant 1.0
    store v[%0], %1
    %2: i32 = loop (%3: i32 = %90) {
      %4: f32 = load v[%0]
      %5: f32 = add_f %4, %4
      store v[%0], %5
      %6: bool = equal %3, %0
      if %6 {
        break %90
      }
      continue %3
    }
    %7: f32 = load v[%0]
    %8: i32 = bitcast %7
    %9: i32 = add %2, %8
    store_scalar out, %9
  })",
              R"(kernel k {
    scalar out i32 write
    parameter n i32
    %0: i32 = constant 0
    %90: i32 = parameter n
    %1: f32 = constant 1.0
    %2: i32, %7: f32 = loop (%3: i32 = %90, %4: f32 = %1) {
      %5: f32 = add_f %4, %4
      %6: bool = equal %3, %0
      if %6 {
        break %90, %5
      }
      continue %3, %5
    }
    %8: i32 = bitcast %7
    %9: i32 = add %2, %8
    store_scalar out, %9
  })");
}

TEST(PromoteVariables, AVariableNobodyUsesGoes) {
  expect_pass(promote_variables, "kernel k { local v i32 1 }", "kernel k { }");
}

TEST(PromoteVariables, ABooleanVariableIsPromoted) {
  expect_pass(promote_variables, R"(kernel k {
    local v bool 1
    %0: i32 = constant 0
    %1: bool = constant true
    store v[%0], %1
    %2: bool = load v[%0]
    if %2 {
      return
    }
  })",
              R"(kernel k {
    %0: i32 = constant 0
    %1: bool = constant true
    if %1 {
      return
    }
  })");
}

TEST(PromoteVariables, AVariableReadBeforeItIsWrittenKeepsItsMemory) {
  expect_unchanged(promote_variables, R"(kernel k {
    scalar out i32 write
    local v i32 1
    %0: i32 = constant 0
    %2: i32 = load v[%0]
    store_scalar out, %2
    store v[%0], %0
  })");
}

TEST(PromoteVariables, AVariableWrittenInOneBranchOnlyKeepsItsMemory) {
  expect_unchanged(promote_variables, R"(kernel k {
    scalar out i32 write
    parameter c i32
    local v i32 1
    %0: i32 = constant 0
    %91: i32 = parameter c
    %1: bool = equal %91, %0
    if %1 {
      store v[%0], %0
    }
    %2: i32 = load v[%0]
    store_scalar out, %2
  })");
}

TEST(PromoteVariables, AVariableWrittenByAnEarlierIterationOnlyKeepsItsMemory) {
  expect_unchanged(promote_variables, R"(kernel k {
    scalar out i32 write
    parameter c i32
    local v i32 1
    %0: i32 = constant 0
    %91: i32 = parameter c
    loop {
      %1: bool = equal %91, %0
      if %1 {
        %2: i32 = load v[%0]
        store_scalar out, %2
        break
      }
      store v[%0], %91
      continue
    }
  })");
}

TEST(PromoteVariables, AnUnwrittenVariableDoesNotKeepOthersFromPromotion) {
  expect_pass(promote_variables, R"(kernel k {
    scalar out i32 write
    buffer b i32 read_write
    local first i32 1
    local v i32 1
    workgroup w i32 4
    %0: i32 = constant 0
    store first[%0], %0
    %1: i32 = load v[%0]
    %2: i32 = load first[%0]
    store w[%0], %2
    %3: i32 = atomic_add b[%0], %1 device relaxed
  })",
              R"(kernel k {
    scalar out i32 write
    buffer b i32 read_write
    local v i32 1
    workgroup w i32 4
    %0: i32 = constant 0
    %1: i32 = load v[%0]
    store w[%0], %0
    %3: i32 = atomic_add b[%0], %1 device relaxed
  })");
}

TEST(PromoteVariables, AnAccessAtAComputedIndexKeepsTheMemory) {
  expect_unchanged(promote_variables, R"(kernel k {
    parameter n i32
    local v i32 1
    %0: i32 = constant 0
    %90: i32 = parameter n
    store v[%0], %0
    store v[%90], %0
  })");
}

TEST(PromoteVariables, AnArrayKeepsItsMemory) {
  expect_unchanged(promote_variables, R"(kernel k {
    local v i32 2
    %0: i32 = constant 0
    store v[%0], %0
  })");
}

TEST(PromoteVariables, AfterAConstructThatNeverCompletesThereIsNoResult) {
  expect_pass(promote_variables, R"(kernel k {
    scalar out i32 write
    parameter c i32
    local v i32 1
    %0: i32 = constant 0
    %91: i32 = parameter c
    %1: bool = equal %91, %0
    store v[%0], %91
    if %1 {
      store v[%0], %0
      return
    } else {
      return
    }
    %2: i32 = load v[%0]
    store_scalar out, %2
  })",
              R"(kernel k {
    scalar out i32 write
    parameter c i32
    %0: i32 = constant 0
    %91: i32 = parameter c
    %1: bool = equal %91, %0
    if %1 {
      return
    } else {
      return
    }
    store_scalar out, %91
  })");
}

/// A loop of `count` branches, each of which changes one of `variables` and reads another.
std::string large_kernel(int count, int variables) {
  std::string text = "kernel k {\n scalar out i32 write\n parameter n i32\n";
  for (int i = 0; i < variables; ++i) text += format(" local v{} i32 1\n", i);
  text += " %0: i32 = constant 0\n %1: i32 = parameter n\n %2: bool = equal %0, %1\n";
  for (int i = 0; i < variables; ++i) text += format(" store v{}[%0], %1\n", i);
  text += " loop {\n";
  for (int i = 0; i < count; ++i) {
    text += format(" if %2 {{ %{}: i32 = load v{}[%0] store v{}[%0], %{} }}\n", i + 3, i * 7 % variables, i % variables,
                   i + 3);
  }
  return text + format(" if %2 {{ break }}\n continue\n }}\n %{}: i32 = load v0[%0]\n store_scalar out, %{}\n}}\n",
                       count + 3, count + 3);
}

TEST(PromoteVariables, TwentyThousandInstructionsAndHundredsOfVariablesTakeUnderTwoSeconds) {
  Result<Kernel> kernel = parse(large_kernel(7'000, 500));
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  const std::clock_t start = std::clock();
  ASSERT_TRUE(promote_variables(*kernel).ok());
  EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
  EXPECT_TRUE(kernel->memories.empty());
  EXPECT_TRUE(verify(*kernel).ok());
}

}  // namespace
}  // namespace wavegate::kir
