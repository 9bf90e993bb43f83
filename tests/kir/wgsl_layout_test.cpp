#include "wavegate/kir/wgsl_layout.h"

#include <gmock/gmock.h>

#include <string>

namespace wavegate::kir {
namespace {

/// The layout of a type as "size alignment [stride]", or "none".
std::string layout_of(const std::string& type) {
  const std::string text = R"(
const kCount = 3;
alias Number = f32;
struct Mixed { a: f16, b: vec3<f32>, c: u32 }
struct Placed { @size(20) a: u32, @align(32) b: u32 }
struct Tail { count: u32, data: array<vec2u> }
struct Itself { again: Itself }
var<storage> x: )" + type + ";";
  const auto module = read_wgsl(text);
  if (!module.ok()) return "none";
  const auto layout = wgsl_layout(*module, module->variables[0].type);
  if (!layout) return "none";
  std::string shown = std::to_string(layout->size) + " " + std::to_string(layout->alignment);
  if (layout->stride) shown += " " + std::to_string(*layout->stride);
  return shown;
}

TEST(WgslLayout, IsThatOfTheSpecification) {
  EXPECT_EQ(layout_of("u32"), "4 4");
  EXPECT_EQ(layout_of("f16"), "2 2");
  EXPECT_EQ(layout_of("atomic<i32>"), "4 4");
  EXPECT_EQ(layout_of("vec2<f32>"), "8 8");
  EXPECT_EQ(layout_of("vec3f"), "12 16");
  EXPECT_EQ(layout_of("vec4h"), "8 8");
  EXPECT_EQ(layout_of("mat3x3<f32>"), "48 16");
  EXPECT_EQ(layout_of("mat4x2f"), "32 8");
  EXPECT_EQ(layout_of("array<Number>"), "0 4 4");
  EXPECT_EQ(layout_of("array<vec3<f32>, kCount>"), "48 16 16");
  EXPECT_EQ(layout_of("array<array<u32, 2>, 2 * kCount>"), "48 4 8");
  EXPECT_EQ(layout_of("Mixed"), "32 16");
  EXPECT_EQ(layout_of("array<Mixed, 2>"), "64 16 32");
  EXPECT_EQ(layout_of("Placed"), "64 32");
  EXPECT_EQ(layout_of("Tail"), "8 8");
}

TEST(WgslLayout, OfWhatIsNotSharedWithTheHostThereIsNone) {
  for (const char* type : {"bool", "texture_2d<f32>", "vec5<f32>", "vec2<bool>", "mat2x2", "array<u32, 0x>", "Unknown",
                           "Itself", "array<array<u32>>", "u", "f", "array<u32, 4000000000>", "vec3<f32", "u32 u32"})
    EXPECT_EQ(layout_of(type), "none") << type;
}

}  // namespace
}  // namespace wavegate::kir
