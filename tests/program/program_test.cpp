#include "wavegate/program/program.h"

#include <gmock/gmock.h>

#include "wavegate/program/verify.h"

namespace wavegate::program {
namespace {

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

}  // namespace
}  // namespace wavegate::program
