#include "wavegate/kir/wgsl_module.h"

#include <gmock/gmock.h>

namespace wavegate::kir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

WgslModule module_of(std::string_view text) {
  Result<WgslModule> module = read_wgsl(text);
  EXPECT_TRUE(module.ok()) << (module.ok() ? std::string() : module.error().to_string());
  return module.ok() ? *std::move(module) : WgslModule{};
}

std::string text_of(const WgslModule& module, WgslRange range) {
  std::string text;
  for (uint32_t i = range.first; i < range.end; ++i) text += module.tokens[i].text;
  return text;
}

TEST(WgslModule, FindsEntryPointsAndResources) {
  const WgslModule module = module_of(R"(
enable f16;
diagnostic(off, derivative_uniformity);
const kTile: u32 = 8u;
alias Row = vec4<f32>;
struct Pair { @align(16) a: f32, b: array<vec2<u32>, 4>, }
@group(0) @binding(1) var<storage, read_write> y: array<Row>;
@binding(0) @group(0) var<storage> x: array<Pair, (4)>;
var<workgroup> tile: array<f32, 64>;
@group(2) @binding(0) var image: texture_2d<f32>;
override scale: f32 = 1.0;
const_assert kTile < 9;
fn helper(a: u32) -> u32 { if (a > 1) { return a; } return 2; }
@compute @workgroup_size(kTile, 2,) fn main(@builtin(local_invocation_id) id: vec3<u32>) { y[id.x] = x[0]; };
)");
  ASSERT_EQ(module.functions.size(), 2u);
  EXPECT_FALSE(module.functions[0].is_compute());
  EXPECT_TRUE(module.functions[1].is_compute());
  EXPECT_EQ(module.functions[1].name, "main");
  EXPECT_EQ(text_of(module, module.functions[1].body), "y[id.x]=x[0];");
  const WgslAttribute* size = find_attribute(module.functions[1].attributes, "workgroup_size");
  ASSERT_NE(size, nullptr);
  ASSERT_EQ(size->arguments.size(), 2u);
  EXPECT_EQ(module.integer(size->arguments[0]), 8u);
  EXPECT_EQ(module.integer(size->arguments[1]), 2u);

  ASSERT_EQ(module.variables.size(), 4u);
  EXPECT_EQ(module.variables[0].name, "y");
  EXPECT_EQ(module.variables[0].access, "read_write");
  EXPECT_EQ(text_of(module, module.variables[0].type), "array<Row>");
  EXPECT_EQ(module.variables[1].address_space, "storage");
  EXPECT_EQ(module.variables[1].access, "");
  EXPECT_EQ(module.variables[3].address_space, "");
  ASSERT_TRUE(module.structures.contains("Pair"));
  EXPECT_EQ(text_of(module, module.structures.at("Pair")[1].type), "array<vec2<u32>,4>");
  EXPECT_EQ(text_of(module, module.aliases.at("Row")), "vec4<f32>");
}

TEST(WgslModule, CommentsNestAndEndWithTheLine) {
  const WgslModule module = module_of(
      "/* fn a() {} /* } */ fn b() { */ // fn c() {\xE2\x80\xA8"
      "fn d() { /*}*/ }\n// fn e() {}");
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_EQ(module.functions[0].name, "d");
  EXPECT_TRUE(module.functions[0].body.empty());
}

TEST(WgslModule, NumbersAreOneToken) {
  const WgslModule module = module_of("const a = 1.5e-3f; const b = 0x1.8p+4; const c = .5; const d = 1-2;");
  EXPECT_EQ(text_of(module, module.constants.at("a")), "1.5e-3f");
  std::vector<size_t> lengths;
  for (const char* name : {"a", "b", "c", "d"}) {
    const WgslRange range = module.constants.at(name);
    lengths.push_back(range.end - range.first);
  }
  EXPECT_THAT(lengths, ElementsAre(1, 1, 1, 3));
}

TEST(WgslModule, IntegersAreNumbersConstantsAndTheirProducts) {
  const WgslModule module = module_of(R"(
const a = 0x10u; const b = a; const c = a * b * 2i; const d = 1.0; const e = a + 1; const f = f; const g = 65536 * 65536;
override h: u32 = 4; const i = h; const j = 2 *;)");
  const auto value = [&](std::string_view name) { return module.integer(module.constants.at(name)); };
  EXPECT_EQ(value("a"), 16u);
  EXPECT_EQ(value("b"), 16u);
  EXPECT_EQ(value("c"), 512u);
  for (const char* name : {"d", "e", "f", "g", "i", "j"}) EXPECT_EQ(value(name), std::nullopt) << name;
}

TEST(WgslModule, WhatIsNoModuleIsRefused) {
  const auto refusal = [](std::string_view text) {
    const auto module = read_wgsl(text);
    if (module.ok()) return std::string("read");
    EXPECT_EQ(module.error().kind, ErrorKind::invalid_input);
    return module.error().message;
  };
  EXPECT_THAT(refusal("/* fn"), HasSubstr("comment at byte 0 does not end"));
  EXPECT_THAT(refusal("fn main() {"), HasSubstr("ends where one of \"}\""));
  EXPECT_THAT(refusal("hello"), HasSubstr("a declaration expected at byte 0"));
  EXPECT_THAT(refusal("var<storage x: u32;"), HasSubstr("\">\" expected at byte 12"));
  EXPECT_THAT(refusal("fn 3() {}"), HasSubstr("a name expected at byte 3"));
  EXPECT_THAT(refusal("struct S { a: u32"), HasSubstr("ends where"));
  EXPECT_THAT(refusal("@compute @"), HasSubstr("ends where a name"));
  EXPECT_EQ(refusal(";;"), "read");
}

TEST(WgslModule, DeepBracketsAreReadInLinearTime) {
  std::string text = "fn main() {";
  for (int i = 0; i < 200000; ++i) text += "{";
  for (int i = 0; i < 200000; ++i) text += "}";
  text += "}";
  EXPECT_EQ(module_of(text).functions.size(), 1u);
}

}  // namespace
}  // namespace wavegate::kir
