#include "wavegate/kir/wgsl_resources.h"

#include <gmock/gmock.h>

namespace wavegate::kir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kModule = R"(
struct Head { count: u32, tail: array<vec4f> }
@group(0) @binding(0) var<storage, read> fixed: array<u32, 100>;
@group(0) @binding(1) var<storage, read_write> head: Head;
@group(0) @binding(2) var<storage, read> open: array<vec3f>;
@group(0) @binding(3) var<storage, read> word: atomic<u32>;
@group(0) @binding(9) var<storage, read> beyond: u32;
@group(1) @binding(0) var<uniform> launch: vec4u;
fn helper() { head.count = fixed[0]; }
@compute @workgroup_size(1) fn main() { helper(); _ = open[0]; }
)";

OpaqueKernel kernel_of(std::string text) {
  OpaqueKernel kernel;
  kernel.interface.bindings.resize(4);
  kernel.wgsl = std::move(text);
  return kernel;
}

TEST(WgslResources, TellWhatMustBeBoundAtLeast) {
  const auto least = least_binding_bytes(kernel_of(kModule));
  ASSERT_TRUE(least.ok()) << least.error().to_string();
  EXPECT_THAT(*least, ElementsAre(400, 32, 16, 4));
}

TEST(WgslResources, AreThoseOfTheEntryPoint) {
  const std::string two = std::string(kModule) + R"(
@group(0) @binding(0) var<storage, read> other: array<u32, 7>;
@compute @workgroup_size(1) fn second() { _ = other[0]; }
)";
  OpaqueKernel kernel = kernel_of(two);
  const auto first = least_binding_bytes(kernel);
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(*first, ElementsAre(400, 32, 16, 0));
  kernel.entry_point = "second";
  const auto second = least_binding_bytes(kernel);
  ASSERT_TRUE(second.ok());
  EXPECT_THAT(*second, ElementsAre(28, 0, 0, 0));
}

TEST(WgslResources, OfNoModuleAreAnError) {
  EXPECT_THAT(least_binding_bytes(kernel_of("no module")).error().message, HasSubstr("expected at byte"));
  OpaqueKernel kernel = kernel_of(kModule);
  kernel.entry_point = "absent";
  EXPECT_THAT(least_binding_bytes(kernel).error().message, HasSubstr("no compute entry point \"absent\""));
}

}  // namespace
}  // namespace wavegate::kir
