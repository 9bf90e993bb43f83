#include "conformance/ways.h"

namespace wavegate::conformance {
namespace {

using program::Buffer;
using program::Initial;
using program::Program;

class WhatADeviceLacks : public ConformanceTest {};
WAVEGATE_CONFORMANCE(WhatADeviceLacks);

TEST_P(WhatADeviceLacks, IsRefusedByName) {
  Program program("predicated");
  const Buffer data = program.buffer("data", kir::Type::i32, 64, Initial::zero());
  const auto flag = program.scalar_u32("flag", 1);
  program.if_(flag, [&] { add(program, data, 1); });
  const auto executable = compile(program, device(), forced(Strategy::predication));
  EXPECT_EQ(executable.ok(), device()->profile().features.conditional_rendering);
  if (executable) return;
  EXPECT_EQ(executable.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(executable.error().message, testing::HasSubstr("predication"));
}

}  // namespace
}  // namespace wavegate::conformance
