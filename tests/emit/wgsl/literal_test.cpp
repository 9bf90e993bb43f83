#include "wavegate/emit/wgsl/literal.h"

#include <gmock/gmock.h>

#include <bit>
#include <cstdlib>
#include <random>

namespace wavegate::emit::wgsl {
namespace {

using kir::Type;

std::string of_f32(float value) {
  return literal(Type::f32, std::bit_cast<uint32_t>(value)).value_or("none");
}

TEST(Literal, OfAnIntegerIsUnsigned) {
  EXPECT_EQ(literal(Type::i32, 0), "0u");
  EXPECT_EQ(literal(Type::i32, 65535), "65535u");
  EXPECT_EQ(literal(Type::i32, 0xffffffff), "0xffffffffu");
  EXPECT_EQ(literal(Type::boolean, 1), "true");
}

TEST(Literal, OfASignedIntegerCanBeAnOperand) {
  EXPECT_EQ(signed_literal(7), "7i");
  EXPECT_EQ(signed_literal(0xffffffff), "(-1i)");
  EXPECT_EQ(signed_literal(0x80000000), "i32(-2147483648)");
}

TEST(Literal, OfAFloatIsDecimalWhereThatIsShortAndExact) {
  EXPECT_EQ(of_f32(0), "0.0f");
  EXPECT_EQ(of_f32(1), "1.0f");
  EXPECT_EQ(of_f32(-2.5f), "(-2.5f)");
  EXPECT_EQ(of_f32(0.015625f), "0.015625f");
  EXPECT_EQ(of_f32(0.1f), "0x1.99999ap-4f");
  EXPECT_EQ(of_f32(16777216), "0x1p24f");
  EXPECT_EQ(literal(Type::f16, 0x3e00), "1.5h");
  EXPECT_EQ(literal(Type::f16, 0x2e66), std::nullopt);
}

TEST(Literal, OfWhatCompilersMayReadOtherwiseThereIsNone) {
  for (const uint64_t bits : {0x80000000u, 0x00000001u, 0x807fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u})
    EXPECT_EQ(literal(Type::f32, bits), std::nullopt) << std::hex << bits;
  EXPECT_EQ(literal(Type::f16, 0x7c00), std::nullopt);
}

TEST(Literal, OfAFloatHasItsBits) {
  std::mt19937 random(1);
  for (int i = 0; i < 10000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    auto text = literal(Type::f32, bits);
    if (!text) continue;
    std::erase(*text, '(');
    const float read = std::strtof(text->c_str(), nullptr);  // stops at the suffix
    EXPECT_EQ(std::bit_cast<uint32_t>(read), bits) << *text;
  }
}

}  // namespace
}  // namespace wavegate::emit::wgsl
