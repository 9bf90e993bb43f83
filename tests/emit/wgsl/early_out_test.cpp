#include "wavegate/emit/wgsl/early_out.h"

#include <gmock/gmock.h>

namespace wavegate::emit::wgsl {
namespace {

using testing::HasSubstr;

kir::OpaqueKernel kernel_of(std::string text, std::string entry_point = "main") {
  kir::OpaqueKernel kernel;
  kernel.interface = {"relax", {64, 1, 1}, {{"x", kir::BindingKind::buffer, kir::Type::f32, kir::Access::read}}, {}};
  kernel.entry_point = std::move(entry_point);
  kernel.wgsl = std::move(text);
  return kernel;
}

TEST(EarlyOut, TheEntryFunctionBeginsWithATestOfTheLatch) {
  const auto text =
      early_out(kernel_of("@group(0) @binding(0) var<storage> x: array<f32>;\n"
                          "fn other() { }\n"
                          "@compute @workgroup_size(64) fn main() {\n  workgroupBarrier();\n} // the end"));
  ASSERT_TRUE(text.ok()) << text.error().to_string();
  EXPECT_EQ(*text,
            "@group(0) @binding(0) var<storage> x: array<f32>;\n"
            "fn other() { }\n"
            "@compute @workgroup_size(64) fn main() {\n"
            "  if (latch == 0u) {\n    return;\n  }\n"
            "  workgroupBarrier();\n} // the end\n"
            "@group(0) @binding(1) var<storage, read> latch: u32;\n");
}

TEST(EarlyOut, TheLatchTakesANameThatTheModuleDoesNotHave) {
  const auto text =
      early_out(kernel_of("@compute @workgroup_size(64) fn main() { let latch = 1; let latch_0 = latch; }"));
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("if (latch_1 == 0u)"));
  EXPECT_THAT(*text, HasSubstr("var<storage, read> latch_1: u32;"));
}

TEST(EarlyOut, AnEmptyFunctionAndOneThatIsNotTheEntryPointAreToldApart) {
  const auto text = early_out(kernel_of(
      "@compute @workgroup_size(64) fn step(){}\n/* fn main() {} */ @compute @workgroup_size(1) fn main(){}", "step"));
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("fn step(){\n  if (latch == 0u)"));
  EXPECT_THAT(*text, HasSubstr("fn main(){}"));
}

TEST(EarlyOut, AModuleWithoutTheEntryPointIsRefusedByName) {
  for (const char* text : {"fn main() {}", "@compute @workgroup_size(1) fn other() {}"}) {
    const auto result = early_out(kernel_of(text));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(result.error().message, HasSubstr("kernel \"relax\": the module has no compute entry point \"main\""));
  }
  EXPECT_THAT(early_out(kernel_of("fn main( {")).error().message, HasSubstr("kernel \"relax\""));
}

}  // namespace
}  // namespace wavegate::emit::wgsl
