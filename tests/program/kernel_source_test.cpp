#include "wavegate/program/kernel_source.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "program/spirv_text.h"

namespace wavegate::program {
namespace {

using target::Profile;
using testing::HasSubstr;

Profile profile_of(const std::string& backend) {
  Profile profile;
  profile.backend = backend;
  return profile;
}

kir::Interface interface() {
  kir::Interface interface;
  interface.name = "relax";
  interface.workgroup_size = {4, 1, 1};
  interface.bindings = {{"x", kir::BindingKind::buffer, kir::Type::f32, kir::Access::read_write}};
  interface.parameters = {{"a", kir::Type::f32}};
  return interface;
}

kir::Kernel kir_kernel() {
  kir::Kernel kernel;
  kernel.interface = interface();
  kernel.memories = {{"x", kir::MemorySpace::buffer, kir::Type::f32, 0, 0}};
  kernel.body.instructions = {{.op = kir::Op::return_}};
  return kernel;
}

kir::OpaqueKernel spirv_kernel() {
  kir::OpaqueKernel kernel;
  kernel.interface = interface();
  kernel.spirv = assemble(R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %array ArrayStride 4
OpDecorate %x DescriptorSet 0
OpDecorate %x Binding 0
%void = OpTypeVoid
%code = OpTypeFunction %void
%float = OpTypeFloat 32
%array = OpTypeRuntimeArray %float
%block = OpTypeStruct %array
%pointer = OpTypePointer StorageBuffer %block
%x = OpVariable %pointer StorageBuffer
%main = OpFunction %void None %code
%label = OpLabel
OpReturn
OpFunctionEnd
)",
                          SPV_ENV_UNIVERSAL_1_3);
  return kernel;
}

kir::OpaqueKernel wgsl_kernel() {
  kir::OpaqueKernel kernel;
  kernel.interface = interface();
  kernel.wgsl = R"(
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(4) fn main() {}
)";
  return kernel;
}

/// Which form a device gets, or the error.
std::string given(const KernelSource& source, const std::string& backend) {
  const Result<kir::KernelCode> code = source.specialise(profile_of(backend));
  if (!code.ok()) return code.error().to_string();
  EXPECT_EQ(kir::interface_of(*code), source.interface());
  if (code->index() == 0) return "kir";
  return std::get<1>(*code)->spirv.empty() ? "wgsl" : "spirv";
}

std::string refusal(KernelSources sources) {
  const auto source = make_kernel_source(std::move(sources));
  return source.ok() ? "accepted" : source.error().to_string();
}

TEST(KernelSource, gives_each_device_the_module_in_its_language_or_else_the_kir_kernel) {
  const auto all = make_kernel_source({.kir = kir_kernel(), .spirv = spirv_kernel(), .wgsl = wgsl_kernel()});
  ASSERT_TRUE(all.ok()) << all.error().to_string();
  EXPECT_EQ(given(**all, "vulkan"), "spirv");
  EXPECT_EQ(given(**all, "webgpu"), "wgsl");
  EXPECT_EQ(given(**all, "reference"), "kir");

  const auto spirv = make_kernel_source({.kir = kir_kernel(), .spirv = spirv_kernel()});
  ASSERT_TRUE(spirv.ok()) << spirv.error().to_string();
  EXPECT_EQ(given(**spirv, "vulkan"), "spirv");
  EXPECT_EQ(given(**spirv, "webgpu"), "kir");

  const auto wgsl = make_kernel_source({.kir = kir_kernel(), .wgsl = wgsl_kernel()});
  ASSERT_TRUE(wgsl.ok()) << wgsl.error().to_string();
  EXPECT_EQ(given(**wgsl, "vulkan"), "kir");
  EXPECT_EQ(given(**wgsl, "webgpu"), "wgsl");
}

TEST(KernelSource, says_where_it_is_opaque) {
  const auto both = make_kernel_source({.kir = kir_kernel(), .spirv = spirv_kernel()});
  ASSERT_TRUE(both.ok());
  EXPECT_TRUE((*both)->is_opaque(profile_of("vulkan")));
  EXPECT_FALSE((*both)->is_opaque(profile_of("reference")));
  EXPECT_TRUE((*both)->is_opaque());
  const auto ours = make_kernel_source(kir_kernel());
  EXPECT_FALSE(ours->is_opaque(profile_of("vulkan")));
  EXPECT_FALSE(ours->is_opaque());
}

TEST(KernelSource, refuses_a_device_that_takes_none_of_its_forms) {
  const auto modules = make_kernel_source({.spirv = spirv_kernel(), .wgsl = wgsl_kernel()});
  ASSERT_TRUE(modules.ok()) << modules.error().to_string();
  EXPECT_EQ(given(**modules, "vulkan"), "spirv");
  EXPECT_EQ(
      given(**modules, "reference"),
      "unsupported: kernel \"relax\" is given as spirv and wgsl only, which a reference device does not take; add "
      "a kir source");
  const auto module = make_kernel_source(wgsl_kernel());
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(given(**module, "webgpu"), "wgsl");
  EXPECT_THAT(given(**module, "vulkan"), HasSubstr("is given as wgsl only, which a vulkan device does not take"));
}

TEST(KernelSource, checks_a_spirv_module_among_others) {
  kir::OpaqueKernel module = spirv_kernel();
  module.entry_point = "mian";
  EXPECT_THAT(refusal({.kir = kir_kernel(), .spirv = module}), HasSubstr("mian"));
  EXPECT_THAT(refusal({.spirv = kir::OpaqueKernel{.interface = interface()}}), HasSubstr("the module has 0 words"));
}

TEST(KernelSource, refuses_no_form_and_an_empty_one) {
  EXPECT_EQ(refusal({}), "invalid input: a kernel without sources; give it one: kir, spirv or wgsl");
  EXPECT_EQ(refusal({.wgsl = kir::OpaqueKernel{.interface = interface()}}),
            "invalid input: kernel \"relax\": its wgsl source is empty");
}

struct DifferenceCase {
  void (*change)(kir::Interface&);
  const char* message;
};

class Differences : public testing::TestWithParam<DifferenceCase> {};

TEST_P(Differences, between_interfaces_are_named) {
  kir::OpaqueKernel module = wgsl_kernel();
  GetParam().change(module.interface);
  EXPECT_EQ(refusal({.kir = kir_kernel(), .wgsl = module}),
            std::string("invalid input: kernel \"relax\": its kir source has ") + GetParam().message +
                "; sources of one kernel have one interface");
}

INSTANTIATE_TEST_SUITE_P(
    KernelSource, Differences,
    testing::Values(DifferenceCase{[](kir::Interface& i) { i.name = "relaxed"; },
                                   "the name \"relax\", and its wgsl source has \"relaxed\""},
                    DifferenceCase{[](kir::Interface& i) {
                                     i.workgroup_size = {2, 2, 1};
                                   },
                                   "a workgroup of 4x1x1, and its wgsl source has 2x2x1"},
                    DifferenceCase{[](kir::Interface& i) { i.bindings[0].access = kir::Access::read; },
                                   "buffer \"x\" f32 read_write, and its wgsl source has buffer \"x\" f32 read"},
                    DifferenceCase{[](kir::Interface& i) { i.bindings[0].kind = kir::BindingKind::scalar; },
                                   "buffer \"x\" f32 read_write, and its wgsl source has scalar \"x\" f32 read_write"},
                    DifferenceCase{[](kir::Interface& i) { i.bindings.clear(); },
                                   "buffer \"x\" f32 read_write, and its wgsl source has no more"},
                    DifferenceCase{[](kir::Interface& i) {
                                     i.parameters.push_back({"b", kir::Type::i32});
                                   },
                                   "no more, and its wgsl source has parameter \"b\" i32"},
                    DifferenceCase{[](kir::Interface& i) { i.parameters[0].type = kir::Type::i32; },
                                   "parameter \"a\" f32, and its wgsl source has parameter \"a\" i32"}));

TEST(KernelSource, names_the_modules_that_differ_where_there_is_no_kir) {
  kir::OpaqueKernel module = wgsl_kernel();
  module.interface.name = "other";
  EXPECT_THAT(refusal({.spirv = spirv_kernel(), .wgsl = module}),
              HasSubstr("its spirv source has the name \"relax\", and its wgsl source has \"other\""));
}

}  // namespace
}  // namespace wavegate::program
