#include "wavegate/emit/wgsl/control_flow.h"

#include "emit/wgsl/matrix.h"
#include "emit/wgsl/support.h"
#include "wavegate/kir/text.h"

namespace wavegate::emit::wgsl {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What stands in the entry function.
std::string body_of(std::string_view text) {
  const Result<kir::Kernel> kernel = kir::parse(text);
  if (!kernel.ok()) return kernel.error().to_string();
  const std::string module = emit_text(*kernel);
  const size_t start = module.find(") {\n", module.find("fn main(")) + 4;
  return "\n" + module.substr(start, module.size() - start - 2);
}

TEST(ControlFlow, ResultsAreVariablesThatTheBlocksSet) {
  EXPECT_EQ(body_of(R"(
kernel k {
  workgroup_size 1 1 1
  buffer x i32 read_write
  %0: i32 = constant 0
  %1: i32 = load x[%0]
  %2: bool = equal %1, %0
  %3: i32 = if %2 {
    yield %1
  } else {
    yield %0
  }
  store x[%0], %3
}
)"),
            R"(
  let v1 = x[0u];
  let v2 = v1 == 0u;
  var v3: u32;
  if (v2) {
    v3 = v1;
  } else {
    v3 = 0u;
  }
  x[0u] = v3;
)");
}

TEST(ControlFlow, CarriedValuesAreSetAsIfAllAtOnce) {
  EXPECT_EQ(body_of(R"(
kernel k {
  workgroup_size 1 1 1
  buffer x i32 read_write
  %0: i32 = constant 0
  %1: i32 = constant 1
  %2: i32 = loop (%3: i32 = %0, %4: i32 = %1) {
    %5: bool = equal %3, %4
    if %5 {
      break %4
    }
    continue %4, %3
  }
  store x[%0], %2
}
)"),
            R"(
  var v2: u32;
  var v3: u32 = 0u;
  var v4: u32 = 1u;
  loop {
    let v5 = v3 == v4;
    if (v5) {
      v2 = v4;
      break;
    }
    let v4_next = v3;
    v3 = v4;
    v4 = v4_next;
  }
  x[0u] = v2;
)");
}

TEST(ControlFlow, ASwitchLeavesTheLoopAroundItByAVariable) {
  EXPECT_EQ(body_of(R"(
kernel k {
  workgroup_size 1 1 1
  buffer x i32 read_write
  %0: i32 = constant 0
  loop {
    %1: i32 = load x[%0]
    switch %1 {
      case 3 {
        break
      }
      case 4294967295 {
        continue
      }
      default {
      }
    }
    store x[%0], %0
    continue
  }
}
)"),
            R"(
  loop {
    var leave_0 = false;
    let v1 = x[0u];
    switch v1 {
      case 3u: {
        leave_0 = true;
        break;
      }
      case 4294967295u: {
        continue;
      }
      default: {
      }
    }
    if (leave_0) {
      break;
    }
    x[0u] = 0u;
  }
)");
}

TEST(ControlFlow, WhatNobodyComesToIsLeftOut) {
  const std::string body = body_of(R"(
kernel k {
  workgroup_size 1 1 1
  buffer x i32 read_write
  %0: i32 = constant 0
  %1: i32 = load x[%0]
  %2: bool = equal %1, %0
  if %2 {
    return
  } else {
    return
  }
  store x[%0], %1
}
)");
  EXPECT_THAT(body, HasSubstr("return;"));
  EXPECT_THAT(body, Not(HasSubstr("x[0u] = v1")));
}

}  // namespace
}  // namespace wavegate::emit::wgsl
