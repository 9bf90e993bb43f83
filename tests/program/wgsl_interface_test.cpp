#include "wavegate/program/wgsl_interface.h"

#include <gmock/gmock.h>

#include <functional>
#include <random>

namespace wavegate::program {
namespace {

using kir::Access;
using kir::BindingKind;
using kir::Type;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kAxpy = R"(
struct Launch { count: u32, a: f32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage> scale: f32;
@group(1) @binding(0) var<uniform> launch: Launch;
var<workgroup> tile: array<f32, 64>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < launch.count) { y[id.x] += launch.a * x[id.x] * scale; }
}
)";

kir::OpaqueKernel axpy(std::string text = kAxpy) {
  kir::OpaqueKernel kernel;
  kernel.interface = {"axpy",
                      {64, 1, 1},
                      {{"x", BindingKind::buffer, Type::f32, Access::read},
                       {"y", BindingKind::buffer, Type::f32, Access::read_write},
                       {"scale", BindingKind::scalar, Type::f32, Access::read}},
                      {{"count", Type::i32}, {"a", Type::f32}}};
  kernel.wgsl = std::move(text);
  return kernel;
}

std::string replaced(const std::string& what, const std::string& with) {
  std::string text = kAxpy;
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

/// The message of the refusal, or "" if there is none.
std::string refusal(const kir::OpaqueKernel& kernel) {
  const Result<void> result = check_wgsl_interface(kernel);
  if (result.ok()) return "";
  EXPECT_THAT(result.error().message, StartsWith("kernel \"axpy\": "));
  return result.error().message;
}

/// Of the kernel with something in its text replaced.
std::string refusal(const std::string& what, const std::string& with) {
  return refusal(axpy(replaced(what, with)));
}

/// Of the kernel with its declaration changed.
std::string refusal(const std::function<void(kir::OpaqueKernel&)>& change) {
  kir::OpaqueKernel kernel = axpy();
  change(kernel);
  return refusal(kernel);
}

TEST(WgslInterface, OneThatAgreesIsAccepted) {
  EXPECT_EQ(refusal(axpy()), "");
  EXPECT_EQ(refusal("array<f32>;", "array<atomic<u32>>;"), "");
  EXPECT_EQ(refusal("array<f32>;", "array<vec4<f32>>;"), "");
  EXPECT_EQ(refusal("scale: f32", "scale: array<f32>"), "");
  EXPECT_EQ(refusal("@workgroup_size(64)", "@workgroup_size(64, 1u, 1)"), "");
  EXPECT_EQ(refusal([](auto& kernel) { kernel.interface.bindings[1].access = Access::write; }), "");
}

TEST(WgslInterface, TheEntryPointMustBeThere) {
  EXPECT_THAT(refusal([](auto& kernel) { kernel.entry_point = "step"; }),
              HasSubstr("no compute entry point \"step\"; it has \"main\""));
  EXPECT_THAT(refusal("@compute ", ""), HasSubstr("no compute entry point"));
  EXPECT_THAT(refusal("var<workgroup>", "var<workgroup"), HasSubstr("expected at byte"));
}

TEST(WgslInterface, TheWorkgroupMustBeTheDeclaredOne) {
  EXPECT_THAT(refusal("_size(64)", "_size(8, 8)"), HasSubstr("64x1x1 is declared, but the module's is 8x8x1"));
  EXPECT_THAT(refusal("@workgroup_size(64)", ""), HasSubstr("has no workgroup size"));
  EXPECT_THAT(refusal("_size(64)", "_size(n)"), HasSubstr("write it as a number"));
}

TEST(WgslInterface, EveryBindingMustBeThereAndNoOther) {
  EXPECT_THAT(refusal([](auto& kernel) {
                kernel.interface.bindings.push_back({"z", BindingKind::buffer, Type::f32, Access::read});
              }),
              HasSubstr("binding \"z\" is declared, but the module has no storage buffer at group 0, binding 3"));
  EXPECT_THAT(refusal([](auto& kernel) { kernel.interface.bindings.pop_back(); }),
              HasSubstr("\"scale\" at group 0, binding 2, but 2 bindings are declared"));
  EXPECT_THAT(refusal("@binding(1)", "@binding(0)"), HasSubstr("two buffers for binding \"x\""));
  EXPECT_THAT(refusal("@group(0) @binding(1)", "@group(3) @binding(1)"), HasSubstr("group 3, binding 1"));
  EXPECT_THAT(refusal("@group(1) @binding(0)", "@group(1) @binding(1)"), HasSubstr("that of the launch words"));
  EXPECT_THAT(refusal("var<workgroup> tile: array<f32, 64>", "@group(0) @binding(3) var s: sampler"),
              HasSubstr("no storage buffer"));
}

TEST(WgslInterface, ElementsMustFitTheDeclaredType) {
  EXPECT_THAT(refusal("array<f32>;", "array<f16>;"), HasSubstr("are 2 bytes apart"));
  EXPECT_THAT(refusal("array<f32>;", "array<bool>;"), HasSubstr("cannot be read"));
  EXPECT_THAT(refusal([](auto& kernel) { kernel.interface.bindings[0].type = Type::i64; }),
              HasSubstr("i64 of 8 bytes"));
  EXPECT_THAT(refusal("scale: f32", "scale: vec2<f32>"), HasSubstr("not one number of 32 bits"));
}

TEST(WgslInterface, AccessMustBeTheDeclaredOne) {
  EXPECT_THAT(refusal([](auto& kernel) { kernel.interface.bindings[0].access = Access::read_write; }),
              HasSubstr("declared read_write, but the module's buffer \"x\" at group 0, binding 0 is read;"));
  EXPECT_THAT(refusal([](auto& kernel) { kernel.interface.bindings[1].access = Access::read; }),
              HasSubstr("declared read, but the module's buffer \"y\" at group 0, binding 1 is read_write;"));
}

TEST(WgslInterface, LaunchWordsMustBeDeclared) {
  EXPECT_THAT(refusal("a: f32 }", "a: f32, b: vec4<f32> }"),
              HasSubstr("has 32 bytes, but the declared parameters give 16"));
  EXPECT_THAT(refusal([](auto& kernel) { kernel.interface.parameters.clear(); }), HasSubstr("parameters give 0"));
  EXPECT_THAT(refusal("launch: Launch", "launch: array<u32>"), HasSubstr("has no fixed size"));
}

TEST(WgslInterface, WhatAnotherEntryPointUsesIsItsOwn) {
  const std::string other = std::string(kAxpy) + R"(
@group(0) @binding(0) var<storage, read_write> other: array<u32>;
fn helper() { other[0] = 1; }
@compute @workgroup_size(1) fn reset() { helper(); }
)";
  EXPECT_EQ(refusal(axpy(other)), "");
  const std::string shared = std::string(kAxpy) + R"(
@group(0) @binding(3) var<storage, read_write> other: array<u32>;
fn helper() { other[0] = 1; }
@compute @workgroup_size(1) fn reset() { helper(); }
)";
  std::string calling = shared;
  calling.insert(calling.find("if (id.x"), "helper(); ");
  EXPECT_EQ(refusal(axpy(shared)), "");
  EXPECT_THAT(refusal(axpy(calling)), HasSubstr("group 0, binding 3, but 3 bindings are declared"));
}

TEST(WgslInterface, DamagedTextDoesNoHarm) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text = kAxpy;
    for (int k = 0; k < 3; ++k) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text.erase(at, random() % 20); break;
        case 1: text.insert(at, text.substr(random() % text.size(), random() % 30)); break;
        default: text[at] = static_cast<char>(random() % 256);
      }
    }
    static_cast<void>(check_wgsl_interface(axpy(text)));
  }
}

}  // namespace
}  // namespace wavegate::program
