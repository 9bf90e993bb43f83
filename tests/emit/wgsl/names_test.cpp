#include "wavegate/emit/wgsl/names.h"

#include <gmock/gmock.h>

namespace wavegate::emit::wgsl {
namespace {

TEST(Names, ALabelThatIsFreeIsKept) {
  Names names;
  for (const char* label : {"x", "residual", "Row_2", "vx", "v"}) EXPECT_EQ(names.claim(label), label);
}

TEST(Names, ALabelIsGivenOnce) {
  Names names;
  names.take("main");
  EXPECT_EQ(names.claim("x"), "x");
  EXPECT_EQ(names.claim("x"), "x_");
  EXPECT_EQ(names.claim("x"), "x__");
  EXPECT_EQ(names.claim("main"), "main_");
}

TEST(Names, WhatWgslOrTheEmitterUsesIsNotGiven) {
  Names names;
  EXPECT_EQ(names.claim("var"), "var_");
  EXPECT_EQ(names.claim("target"), "target_");
  EXPECT_EQ(names.claim("select"), "select_");
  EXPECT_EQ(names.claim("v12"), "xv12");
  EXPECT_EQ(names.claim("v12_next"), "xv12_next");
  EXPECT_EQ(names.claim("leave_0"), "xleave_0");
  EXPECT_EQ(names.claim("leave_x"), "leave_x");
}

TEST(Names, WhatIsNoIdentifierBecomesOne) {
  Names names;
  EXPECT_EQ(names.claim("a.b-c"), "a_b_c");
  EXPECT_EQ(names.claim("__x"), "x__x");
  EXPECT_EQ(names.claim("_"), "x_");
  EXPECT_EQ(names.claim("3"), "x3");
  EXPECT_EQ(names.claim(""), "x");
}

}  // namespace
}  // namespace wavegate::emit::wgsl
