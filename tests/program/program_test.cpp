#include "wavegate/program/program.h"

#include <gmock/gmock.h>

#include "wavegate/program/verify.h"

namespace wavegate::program {
namespace {

using testing::HasSubstr;

TEST(Program, TemporariesHaveNamesOfTheirOwn) {
  Program program("temporaries");
  for (int i = 0; i < 3; ++i) {
    program.temporary("t", kir::Type::f32, 4);
    program.temporary("t", ScalarType::float32);
  }
  EXPECT_TRUE(verify(program)) << verify(program).error().to_string();
}

TEST(Program, ATemporaryAvoidsTheNamesOfOthers) {
  for (int number = 0; number < 4; ++number) {
    Program program("taken");
    program.scalar_u32("t#" + std::to_string(number), 0);
    program.buffer("t#" + std::to_string(number + 1), kir::Type::f32, 4);
    program.temporary("t", kir::Type::f32, 4);
    program.temporary("t", ScalarType::float32);
    EXPECT_TRUE(verify(program)) << verify(program).error().to_string();
  }
}

/// The mistake that building made, or nothing.
std::string mistake_of(const std::function<void(Program&)>& build) {
  Program program("mistaken");
  program.scalar_f32("residual", 1.0f);
  build(program);
  return program.mistake() ? program.mistake()->to_string() : "";
}
constexpr Scalar kResidual{0};

TEST(Program, ALoopHasOneIterationIndexAndOnlyIfItIsAskedFor) {
  Program program("indices");
  Scalar first, again, inner, other;
  program.while_(1u, {}, [&] {
    first = program.iteration();
    program.while_(
        1u, {}, [&] { inner = program.iteration(); }, "inner");
    again = program.iteration();
  });
  program.while_(1u, {}, [&] { other = program.iteration(); });
  program.while_(1u, {}, [] {});
  EXPECT_EQ(first, again);
  EXPECT_EQ(std::get<While>(program.body()[0].what).index, first);
  EXPECT_EQ(std::get<While>(std::get<While>(program.body()[0].what).body[0].what).index, inner);
  EXPECT_EQ(std::get<While>(program.body()[1].what).index, other);
  EXPECT_EQ(std::get<While>(program.body()[2].what).index, std::nullopt);
  EXPECT_EQ(program.info(first).name, "while.iteration");
  EXPECT_EQ(program.info(inner).name, "inner.iteration");
  EXPECT_NE(program.info(other).name, "while.iteration");
  EXPECT_TRUE(program.info(first).loop_index);
  EXPECT_EQ(program.info(first).initial, 0u);
  EXPECT_TRUE(verify(program)) << verify(program).error().to_string();
}

TEST(Program, AHistoryIsAnOutputOfTheLoopsLength) {
  Program program("histories");
  const Scalar residual = program.scalar_f32("residual", 1.0f);
  const Scalar state = program.scalar_u32("state", 1);
  Buffer residuals, states, again;
  program.while_(state, {.min = 0, .max = 100}, [&] {
    residuals = program.record(residual);
    states = program.record(state, 7, "states");
    again = program.record(residual);
  });
  const auto is = [&](Buffer buffer, kir::Type type, uint64_t count) {
    const BufferInfo& info = program.info(buffer);
    return info.element == type && info.count == count && info.output && info.initial && !info.initial->bytes &&
           info.initial->word == 0;
  };
  EXPECT_TRUE(is(residuals, kir::Type::f32, 100));
  EXPECT_TRUE(is(states, kir::Type::i32, 7));
  EXPECT_EQ(program.info(residuals).name, "residual.history");
  EXPECT_EQ(program.info(states).name, "states");
  EXPECT_NE(program.info(again).name, "residual.history");
  const auto& loop = std::get<While>(program.body()[0].what);
  const auto& record = std::get<Record>(loop.body[1].what);
  EXPECT_EQ(record.value, state);
  EXPECT_EQ(record.history, states);
  EXPECT_EQ(record.index, loop.index);
  EXPECT_TRUE(verify(program)) << verify(program).error().to_string();
}

TEST(Program, ALoopThatNeverRunsKeepsAHistoryOfZeros) {
  EXPECT_EQ(mistake_of([](Program& p) { p.while_(1u, {.min = 0, .max = 0}, [&] { p.record(kResidual); }); }), "");
}

TEST(Program, WhatBelongsInALoopIsRefusedElsewhere) {
  EXPECT_THAT(mistake_of([](Program& p) { p.break_(); }), HasSubstr("break_ stands outside of every loop"));
  EXPECT_THAT(mistake_of([](Program& p) { p.if_(1u, [&] { p.continue_(); }); }),
              HasSubstr("continue_ stands outside of every loop"));
  EXPECT_THAT(mistake_of([](Program& p) { p.iteration(); }), HasSubstr("call it in the body of the loop it counts"));
  EXPECT_THAT(mistake_of([](Program& p) { p.record(kResidual, 4); }),
              HasSubstr("record of \"residual\" stands outside of every loop"));
  EXPECT_THAT(mistake_of([](Program& p) {
                p.while_(1u, {}, [] {});
                p.break_();
              }),
              HasSubstr("break_ stands outside of every loop"));
}

TEST(Program, AHistoryNeedsALengthWithinReason) {
  const auto in_loop = [](Bounds bounds, Scalar scalar, std::optional<uint32_t> capacity) {
    return mistake_of([&](Program& p) {
      p.while_(
          1u, bounds, [&] { p.record(scalar, capacity); }, "solve");
    });
  };
  EXPECT_THAT(in_loop({}, kResidual, {}),
              HasSubstr("record of \"residual\" needs a capacity, since while \"solve\" has no max"));
  EXPECT_EQ(in_loop({}, kResidual, 10), "");
  EXPECT_THAT(in_loop({}, kResidual, 0), HasSubstr("has a capacity of 0"));
  EXPECT_EQ(in_loop({.min = 0, .max = kMaximumHistory}, kResidual, {}), "");
  EXPECT_THAT(in_loop({.min = 0, .max = kMaximumHistory + 1}, kResidual, {}),
              HasSubstr("in while \"solve\" would keep 33554433 iterations, more than 33554432"));
  EXPECT_EQ(in_loop({.min = 0, .max = 4'000'000'000}, kResidual, 1000), "");
  EXPECT_THAT(in_loop({}, Scalar{99}, 4), HasSubstr("scalar of another program"));
}

TEST(Program, AHistoryOfATakenNameIsRefused) {
  Program program("names");
  const Scalar residual = program.scalar_f32("residual", 1.0f);
  program.while_(1u, {}, [&] { program.record(residual, 4, "residual"); });
  EXPECT_THAT(verify(program).error().to_string(), HasSubstr("two values are named \"residual\""));
}

}  // namespace
}  // namespace wavegate::program
