#include "wavegate/kir/passes/fold_constants.h"

#include <gmock/gmock.h>

#include "kir/pass_testing.h"
#include "wavegate/base/format.h"

namespace wavegate::kir {
namespace {

TEST(FoldConstants, OperationsOnConstantsBecomeTheirValue) {
  expect_pass(fold_constants, R"(kernel k {
    scalar out i32 write
    %0: i32 = constant 6
    %1: i32 = constant 7
    %2: i32 = mul %0, %1
    %3: f32 = convert_u_to_f %2
    %4: f32 = sqrt %3
    %5: i32 = bitcast %4
    %6: bool = less_s %5, %2
    %7: i32 = select %6, %0, %5
    store_scalar out, %7
  })",
              R"(kernel k {
    scalar out i32 write
    %0: i32 = constant 6
    %1: i32 = constant 7
    %2: i32 = constant 42
    %3: f32 = constant 42.0
    %4: f32 = constant 6.4807405
    %5: i32 = constant 0x40cf623a
    %6: bool = constant false
    %7: i32 = constant 0x40cf623a
    store_scalar out, %7
  })");
}

TEST(FoldConstants, ApproximateOperationsAreLeftToTheDevice) {
  expect_unchanged(fold_constants, R"(kernel k {
    %0: f32 = constant 1.0
    %1: f32 = exp2 %0
    %2: f32 = log2 %0
    %3: f32 = sin %0
    %4: f32 = cos %0
  })");
}

struct IdentityCase {
  std::string_view name;
  std::string_view expression;  ///< of %0, which nothing is known of; %1 is 0, %2 is 1, %3 is -1
  std::string_view equals;      ///< the value it is the same as
};

class FoldIdentities : public testing::TestWithParam<IdentityCase> {};

/// A kernel that stores the named value.
std::string kernel_storing(std::string_view definition, std::string_view value) {
  return format(R"(kernel k {{
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: i32 = constant 0
    %2: i32 = constant 1
    %3: i32 = constant -1
    %4: bool = less_u %0, %2
    {}
    store_scalar out, {}
  }})",
                definition, value);
}

TEST_P(FoldIdentities, HoldForEveryInput) {
  expect_pass(fold_constants, kernel_storing(format("%5: i32 = {}", GetParam().expression), "%5"),
              kernel_storing("", GetParam().equals));
}

INSTANTIATE_TEST_SUITE_P(
    All, FoldIdentities,
    testing::Values(IdentityCase{"AddZero", "add %0, %1", "%0"}, IdentityCase{"AddToZero", "add %1, %0", "%0"},
                    IdentityCase{"SubZero", "sub %0, %1", "%0"}, IdentityCase{"MulOne", "mul %2, %0", "%0"},
                    IdentityCase{"MulZero", "mul %0, %1", "%1"}, IdentityCase{"MulHighZero", "mul_high_u %0, %1", "%1"},
                    IdentityCase{"DivOne", "div_s %0, %2", "%0"}, IdentityCase{"AndItself", "and %0, %0", "%0"},
                    IdentityCase{"AndOnes", "and %0, %3", "%0"}, IdentityCase{"AndZero", "and %0, %1", "%1"},
                    IdentityCase{"OrZero", "or %1, %0", "%0"}, IdentityCase{"OrOnes", "or %0, %3", "%3"},
                    IdentityCase{"XorZero", "xor %0, %1", "%0"},
                    IdentityCase{"ShiftByZero", "shift_right_s %0, %1", "%0"},
                    IdentityCase{"MinLargest", "min_u %0, %3", "%0"}, IdentityCase{"MaxLargest", "max_u %0, %3", "%3"},
                    IdentityCase{"MaxItself", "max_s %0, %0", "%0"},
                    IdentityCase{"SelectSame", "select %4, %0, %0", "%0"},
                    IdentityCase{"BitcastToTheSame", "bitcast %0", "%0"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(FoldConstants, AValueMeetingItselfIsDecided) {
  expect_pass(fold_constants, R"(kernel k {
    parameter n i32
    %0: i32 = parameter n
    %1: i32 = sub %0, %0
    %2: i32 = xor %0, %0
    %3: i32 = rem_u %0, %0
    %4: bool = equal %0, %0
    %5: bool = not_equal %0, %0
    %6: bool = less_s %0, %0
    %7: bool = less_equal_u %0, %0
  })",
              R"(kernel k {
    parameter n i32
    %0: i32 = parameter n
    %1: i32 = constant 0
    %2: i32 = constant 0
    %3: i32 = constant 0
    %4: bool = constant true
    %5: bool = constant false
    %6: bool = constant false
    %7: bool = constant true
  })");
}

TEST(FoldConstants, WhatDependsOnTheOperandIsLeft) {
  expect_unchanged(fold_constants, R"(kernel k {
    parameter n i32
    %0: i32 = parameter n
    %1: i32 = constant 0
    %2: i32 = constant 1
    %3: i32 = sub %1, %0
    %4: i32 = div_u %0, %0
    %5: i32 = div_u %0, %1
    %6: i32 = shift_left %1, %0
    %7: i32 = add %0, %2
    %8: i32 = max_s %0, %1
  })");
}

TEST(FoldConstants, NoFloatIdentityIsAssumed) {
  expect_unchanged(fold_constants, R"(kernel k {
    parameter x f32
    %0: f32 = parameter x
    %1: f32 = constant 0.0
    %2: f32 = constant 1.0
    %3: f32 = add_f %0, %1
    %4: f32 = mul_f %0, %2
    %5: f32 = mul_f %0, %1
    %6: f32 = sub_f %0, %0
    %7: bool = equal_f %0, %0
    %8: f32 = min_f %0, %0
  })");
}

TEST(FoldConstants, AnIfOnAConstantIsTheBlockTaken) {
  expect_pass(fold_constants, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = constant false
    %2: i32 = if %1 {
      store_scalar out, %0
      yield %0
    } else {
      %3: i32 = add %0, %0
      yield %3
    }
    store_scalar out, %2
  })",
              R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = constant false
    %3: i32 = add %0, %0
    store_scalar out, %3
  })");
}

TEST(FoldConstants, ASwitchOnAConstantIsItsCaseOrTheDefault) {
  expect_pass(fold_constants, R"(kernel k {
    scalar out i32 write
    %0: i32 = constant 7
    %1: i32 = constant 8
    switch %0 {
      case 7 {
        store_scalar out, %0
      }
      default {
        store_scalar out, %1
      }
    }
    switch %1 {
      case 7 {
        store_scalar out, %0
      }
      default {
        store_scalar out, %1
      }
    }
  })",
              R"(kernel k {
    scalar out i32 write
    %0: i32 = constant 7
    %1: i32 = constant 8
    store_scalar out, %0
    store_scalar out, %1
  })");
}

TEST(FoldConstants, NothingFollowsATakenReturn) {
  expect_pass(fold_constants, R"(kernel k {
    scalar out i32 write
    %0: i32 = constant 7
    %1: bool = constant true
    if %1 {
      if %1 {
        return
      }
      store_scalar out, %0
    }
    store_scalar out, %0
  })",
              R"(kernel k {
    scalar out i32 write
    %0: i32 = constant 7
    %1: bool = constant true
  })");
}

TEST(FoldConstants, ABlockThatNowReturnsNoLongerYields) {
  expect_pass(fold_constants, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = constant true
    %3: i32 = builtin local_id 0
    %4: bool = less_u %3, %0
    %5: i32 = if %4 {
      if %1 {
        return
      }
      yield %0
    } else {
      return
    }
    store_scalar out, %5
  })",
              R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = constant true
    %3: i32 = builtin local_id 0
    %4: bool = less_u %3, %0
    if %4 {
      return
    } else {
      return
    }
    %5: i32 = constant 0
    store_scalar out, %5
  })");
}

TEST(FoldConstants, AResultEqualByEveryExitIsThatValue) {
  expect_pass(fold_constants, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: i32 = builtin local_id 0
    %2: bool = less_u %1, %0
    %3: i32, %4: i32 = if %2 {
      yield %0, %0
    } else {
      yield %0, %1
    }
    store_scalar out, %3
    store_scalar out, %4
  })",
              R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: i32 = builtin local_id 0
    %2: bool = less_u %1, %0
    %4: i32 = if %2 {
      yield %0
    } else {
      yield %1
    }
    store_scalar out, %0
    store_scalar out, %4
  })");
}

TEST(FoldConstants, AValueFromInsideTheConstructStaysAResult) {
  expect_unchanged(fold_constants, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %2: i32 = loop {
      %3: i32 = builtin local_id 0
      break %3
    }
    store_scalar out, %2
  })");
}

TEST(FoldConstants, ALoopCarriedValueThatNeverChangesIsItsInitialValueThroughNestedLoops) {
  expect_pass(fold_constants, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: i32 = constant 5
    %2: i32 = builtin local_id 0
    %3: i32 = loop (%4: i32 = %1) {
      %5: i32 = loop (%6: i32 = %4) {
        %7: i32 = add %6, %1
        store_scalar out, %7
        %8: bool = less_u %2, %0
        if %8 {
          break %6
        }
        continue %6
      }
      %9: bool = less_u %0, %2
      if %9 {
        break %5
      }
      continue %5
    }
    store_scalar out, %3
  })",
              R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: i32 = constant 5
    %2: i32 = builtin local_id 0
    loop {
      loop {
        %7: i32 = constant 10
        store_scalar out, %7
        %8: bool = less_u %2, %0
        if %8 {
          break
        }
        continue
      }
      %9: bool = less_u %0, %2
      if %9 {
        break
      }
      continue
    }
    store_scalar out, %1
  })");
}

TEST(FoldConstants, ALoopCarriedValueThatChangesStays) {
  expect_unchanged(fold_constants, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: i32 = constant 5
    %2: i32, %3: i32 = loop (%4: i32 = %1, %5: i32 = %0) {
      %6: bool = less_u %4, %5
      if %6 {
        break %4, %5
      }
      continue %5, %4
    }
    store_scalar out, %2
    store_scalar out, %3
  })");
}

TEST(FoldConstants, ABreakOnATrueConditionEndsTheLoopBody) {
  expect_pass(fold_constants, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = constant true
    %2: i32 = loop (%3: i32 = %0) {
      store_scalar out, %3
      if %1 {
        break %3
      }
      %4: i32 = add %3, %0
      continue %4
    }
    store_scalar out, %2
  })",
              R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = constant true
    loop {
      store_scalar out, %0
      break
    }
    store_scalar out, %0
  })");
}

TEST(FoldConstants, TheOnlyExitOfALoopStaysAlthoughItIsNeverTaken) {
  expect_unchanged(fold_constants, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = constant false
    loop {
      store_scalar out, %0
      if %1 {
        break
      }
      continue
    }
  })");
}

TEST(FoldConstants, AContinueThatWouldCutOffTheOnlyExitStaysInItsBranch) {
  expect_unchanged(fold_constants, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = constant true
    %2: i32 = builtin local_id 0
    loop {
      store_scalar out, %0
      if %1 {
        continue
      }
      %3: bool = less_u %2, %0
      if %3 {
        break
      }
      continue
    }
  })");
}

TEST(FoldConstants, ABreakThatWouldCutOffTheOuterLoopsOnlyExitStaysInItsBranch) {
  expect_unchanged(fold_constants, R"(kernel k {
    parameter n i32
    scalar out i32 write
    %0: i32 = parameter n
    %1: bool = constant true
    loop {
      loop {
        store_scalar out, %0
        if %1 {
          break
        }
        return
      }
      continue
    }
  })");
}

}  // namespace
}  // namespace wavegate::kir
