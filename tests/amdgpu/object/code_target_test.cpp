#include "wavegate/amdgpu/object/code_target.h"

#include <gmock/gmock.h>

namespace wavegate::amdgpu::object {
namespace {

std::string text_of_flags(std::uint32_t flags, std::uint32_t version) {
  const auto target = target_of_flags(flags, version);
  return target ? target->to_string() : "none";
}

TEST(CodeTarget, OfFlagsIsTheOneThatLlvmWrites) {
  // llvm-readelf-19 -h of objects that llvm-mc-19 made for each.
  EXPECT_EQ(text_of_flags(0x2a, 5), "gfx803");
  EXPECT_EQ(text_of_flags(0x2c, 5), "gfx900");
  EXPECT_EQ(text_of_flags(0x36, 5), "gfx1030");
  EXPECT_EQ(text_of_flags(0x41, 5), "gfx1100");
  EXPECT_EQ(text_of_flags(0x142, 5), "gfx1013");
  EXPECT_EQ(text_of_flags(0x48, 5), "gfx1200");
  EXPECT_EQ(text_of_flags(0x54c, 5), "gfx942");
  EXPECT_EQ(text_of_flags(0x1000053, 6), "gfx10-3-generic");
  EXPECT_EQ(text_of_flags(0x27, 5), "none");
  EXPECT_EQ(text_of_flags(0xff, 5), "none");
}

TEST(CodeTarget, OfFlagsHasTheSettingsOfItsVersion) {
  // Version 4 and later: 0x100 any, 0x200 off, 0x300 on; sramecc likewise from 0x400.
  EXPECT_EQ(text_of_flags(0x23f | 0xc00, 4), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(text_of_flags(0x33f | 0x800, 5), "gfx90a:sramecc-:xnack+");
  EXPECT_EQ(text_of_flags(0x13f | 0x400, 5), "gfx90a");
  // Before, a bit each.
  EXPECT_EQ(text_of_flags(0x12c, 3), "gfx900:xnack+");
  EXPECT_EQ(text_of_flags(0x22f, 3), "gfx906:sramecc+");
}

TEST(CodeTarget, IsReadFromTextWithAndWithoutATriple) {
  for (const std::string_view text :
       {"gfx90a:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
        "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "hip-amdgcn-amd-amdhsa-unknown-gfx90a:sramecc+:xnack-"}) {
    const auto target = parse_code_target(text);
    ASSERT_TRUE(target.has_value()) << text;
    EXPECT_EQ(target->to_string(), "gfx90a:sramecc+:xnack-");
  }
  EXPECT_EQ(parse_code_target("hipv4-amdgcn-amd-amdhsa--gfx10-3-generic")->to_string(), "gfx10-3-generic");
}

TEST(CodeTarget, IsNotReadFromOtherText) {
  for (const std::string_view text : {"", "gfx", "host-x86_64-unknown-linux", "amdgcn-amd-amdhsa--",
                                      "gfx900:", "gfx900:xnack", "gfx900:speed+", "GFX900", "gfx90 0"})
    EXPECT_FALSE(parse_code_target(text).has_value()) << text;
}

TEST(CodeTarget, MatchesUnlessASettingIsTheOther) {
  const auto match = [](std::string_view code, std::string_view wanted) {
    return matches(*parse_code_target(code), *parse_code_target(wanted));
  };
  EXPECT_TRUE(match("gfx90a:xnack-", "gfx90a"));
  EXPECT_TRUE(match("gfx90a", "gfx90a:xnack+"));
  EXPECT_FALSE(match("gfx90a:xnack-", "gfx90a:xnack+"));
  EXPECT_FALSE(match("gfx1030", "gfx1031"));
}

TEST(CodeTarget, KnowsItsDecoder) {
  EXPECT_EQ(parse_code_target("gfx1031")->decoder().value(), isa::Target::gfx1030);
  EXPECT_EQ(parse_code_target("gfx10-3-generic")->decoder().value(), isa::Target::gfx1030);
  EXPECT_EQ(parse_code_target("gfx11-generic")->decoder().value(), isa::Target::gfx1100);
  const auto none = parse_code_target("gfx803")->decoder();
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::unsupported);
}

}  // namespace
}  // namespace wavegate::amdgpu::object
