#include "wavegate/kir/passes/split_i64.h"

#include <gmock/gmock.h>

#include <functional>

#include "kir/pass_testing.h"
#include "wavegate/kir/builder.h"

namespace wavegate::kir {
namespace {

using testing::HasSubstr;

TEST(SplitI64, LeavesAKernelWithoutI64AsItIs) {
  expect_unchanged(split_i64, R"(
kernel plain {
  workgroup_size 64 1 1
  buffer x i32 read_write
  parameter p f32

  %0: i32 = builtin global_id 0
  %1: i32 = load x[%0]
  store x[%0], %1
}
)");
}

TEST(SplitI64, BuffersAndParametersBecomeWordsLowFirst) {
  expect_pass(split_i64, R"(
kernel sum {
  workgroup_size 64 1 1
  buffer x i64 read
  buffer y i64 read_write
  parameter n i64
  parameter k i32

  %0: i64 = parameter n
  %1: i32 = parameter k
  %2: i32 = array_length y
  %3: i64 = load x[%2]
  %4: i64 = add %3, %0
  store y[%1], %4
}
)",
              R"(
kernel sum {
  workgroup_size 64 1 1
  buffer x i32 read
  buffer y i32 read_write
  parameter n.low i32
  parameter n.high i32
  parameter k i32

  %0: i32 = parameter n.low
  %1: i32 = parameter n.high
  %2: i32 = parameter k
  %3: i32 = array_length y
  %4: i32 = constant 1
  %5: i32 = shift_right_u %3, %4
  %6: i32 = constant 1
  %7: i32 = shift_left %5, %6
  %8: i32, %9: i32 = load x[%7]
  %10: i32 = add %8, %0
  %11: bool = less_u %10, %8
  %12: i32 = constant 1
  %13: i32 = constant 0
  %14: i32 = select %11, %12, %13
  %15: i32 = add %9, %1
  %16: i32 = add %15, %14
  %17: i32 = constant 1
  %18: i32 = shift_left %2, %17
  store y[%18], %10, %16
}
)");
}

TEST(SplitI64, ValuesThatLoopsCarryAndBranchesYieldBecomeTwo) {
  expect_pass(split_i64, R"(
kernel flow {
  workgroup_size 1 1 1
  buffer x i64 read_write

  %0: i32 = constant 0
  %1: i64 = constant 4294967298
  %2: bool = constant true
  %3: i64 = if %2 {
    yield %1
  } else {
    %4: i64 = not %1
    yield %4
  }
  %5: i32, %6: i64 = loop (%7: i32 = %0, %8: i64 = %3) {
    if %2 {
      break %7, %8
    }
    continue %0, %1
  }
  store x[%5], %6
}
)",
              R"(
kernel flow {
  workgroup_size 1 1 1
  buffer x i32 read_write

  %0: i32 = constant 0
  %1: i32 = constant 2
  %2: i32 = constant 1
  %3: bool = constant true
  %4: i32, %5: i32 = if %3 {
    yield %1, %2
  } else {
    %6: i32 = not %1
    %7: i32 = not %2
    yield %6, %7
  }
  %8: i32, %9: i32, %10: i32 = loop (%11: i32 = %0, %12: i32 = %4, %13: i32 = %5) {
    if %3 {
      break %11, %12, %13
    }
    continue %0, %1, %2
  }
  %14: i32 = constant 1
  %15: i32 = shift_left %8, %14
  store x[%15], %9, %10
}
)");
}

TEST(SplitI64, AccessesOfSeveralElementsAreThoseOfOneEach) {
  expect_pass(split_i64, R"(
kernel several {
  workgroup_size 1 1 1
  workgroup shared i64 4

  %0: i32 = constant 0
  %1: i64, %2: i64 = load shared[%0]
  store shared[%0], %2, %1
}
)",
              R"(
kernel several {
  workgroup_size 1 1 1
  workgroup shared i32 8

  %0: i32 = constant 0
  %1: i32 = constant 1
  %2: i32 = shift_left %0, %1
  %3: i32, %4: i32 = load shared[%2]
  %5: i32 = constant 1
  %6: i32 = shift_left %0, %5
  %7: i32 = constant 2
  %8: i32 = add %6, %7
  %9: i32, %10: i32 = load shared[%8]
  %11: i32 = constant 1
  %12: i32 = shift_left %0, %11
  store shared[%12], %9, %10
  %13: i32 = constant 1
  %14: i32 = shift_left %0, %13
  %15: i32 = constant 2
  %16: i32 = add %14, %15
  store shared[%16], %3, %4
}
)");
}

TEST(SplitI64, ConversionsFromAndToWordsTakeAndGiveTheLowOne) {
  expect_pass(split_i64, R"(
kernel widths {
  workgroup_size 1 1 1
  buffer x i32 read_write

  %0: i32 = constant 0
  %1: i32 = load x[%0]
  %2: i64 = extend_u %1
  %3: i64 = extend_s %1
  %4: i64 = xor %2, %3
  %5: i32 = truncate %4
  store x[%0], %5
}
)",
              R"(
kernel widths {
  workgroup_size 1 1 1
  buffer x i32 read_write

  %0: i32 = constant 0
  %1: i32 = load x[%0]
  %2: i32 = constant 0
  %3: i32 = constant 31
  %4: i32 = shift_right_s %1, %3
  %5: i32 = xor %1, %1
  %6: i32 = xor %2, %4
  %7: i32 = bitcast %5
  store x[%0], %7
}
)");
}

TEST(SplitI64, NamesThatAreTakenAreNotGivenTwice) {
  Builder b("names", {1});
  auto out = b.buffer("p.low", Type::i64, Access::write);
  auto p = b.parameter("p", Type::i64);
  b.parameter("p.high", Type::i32);
  out[0u] = p;
  Kernel kernel = b.finish().value();
  ASSERT_TRUE(split_i64(kernel).ok());
  EXPECT_TRUE(verify(kernel).ok()) << print(kernel);
  EXPECT_EQ(kernel.interface.launch_words(), 3u);
}

/// Why a kernel is refused, which must stay as it was; "split" if it is not.
std::string refusal(const std::function<void(Builder&)>& body) {
  Builder b("long", {1});
  body(b);
  Kernel kernel = b.finish().value();
  const std::string before = print(kernel);
  const auto stats = split_i64(kernel);
  if (stats.ok()) return verify(kernel).ok() ? "split" : print(kernel);
  EXPECT_EQ(print(kernel), before);
  EXPECT_EQ(stats.error().kind, ErrorKind::unsupported);
  return stats.error().message;
}

TEST(SplitI64, WhatHasNoFormInWordsIsRefusedByName) {
  EXPECT_THAT(refusal([](Builder& b) {
                auto x = b.buffer("x", Type::i64, Access::read_write);
                b.atomic(Op::atomic_add, x, b.u32(0), b.constant(Type::i64, 1));
              }),
              HasSubstr("kernel \"long\": atomic_add of i64"));
  EXPECT_THAT(refusal([](Builder& b) {
                auto x = b.buffer("x", Type::f32, Access::read_write);
                x[0u] = b.load_pointer(Type::f32, b.parameter("p", Type::i64));
              }),
              HasSubstr("load through a device pointer"));
  for (const Op op : {Op::bitcast, Op::convert_u_to_f, Op::convert_s_to_f})
    EXPECT_THAT(refusal([&](Builder& b) {
                  auto x = b.buffer("x", Type::f64, Access::write);
                  x[0u] = b.convert(op, Type::f64, b.parameter("p", Type::i64));
                }),
                HasSubstr(std::string(info(op).name) + " between i64 and f64"));
  for (const Op op : {Op::bitcast, Op::convert_f_to_u, Op::convert_f_to_s})
    EXPECT_THAT(refusal([&](Builder& b) {
                  auto x = b.buffer("x", Type::i64, Access::write);
                  x[0u] = b.convert(op, Type::i64, b.parameter("p", Type::f64));
                }),
                HasSubstr(std::string(info(op).name) + " between i64 and f64"));
}

TEST(SplitI64, ADivisionThatWouldNestTooDeepIsRefused) {
  const auto nested = [](uint32_t depth) {
    return refusal([&](Builder& b) {
      auto x = b.buffer("x", Type::i64, Access::read_write);
      std::function<void(uint32_t)> nest = [&](uint32_t left) {
        if (left == 0)
          x[0u] = Expr(x[0u]) / 3;
        else
          b.if_(b.local_id() == left, [&] { nest(left - 1); });
      };
      nest(depth);
    });
  };
  // The division's branch, its loop, and the branch in that: three blocks in the one that it stands in.
  EXPECT_EQ(nested(kMaximumDepth - 4), "split");
  EXPECT_THAT(nested(kMaximumDepth - 3), HasSubstr("div_u of i64 stands so deep"));
}

}  // namespace
}  // namespace wavegate::kir
