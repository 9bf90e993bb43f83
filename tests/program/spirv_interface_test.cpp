#include "wavegate/program/spirv_interface.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "program/spirv_text.h"

namespace wavegate::program {
namespace {

using kir::Access;
using kir::BindingKind;
using kir::Type;
using testing::HasSubstr;
using testing::StartsWith;

// A shader of tests/program/shaders, as the build compiled it.
std::vector<uint32_t> compiled(const std::string& name, const std::string& environment = "vulkan1.1") {
  std::ifstream file(WAVEGATE_SPIRV_DIR "/" + environment + "/" + name + ".spv", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_FALSE(bytes.empty()) << name;
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

kir::BindingInfo buffer(const std::string& name, Access access, Type type = Type::f32) {
  return {name, BindingKind::buffer, type, access};
}

kir::BindingInfo scalar(const std::string& name, Access access, Type type = Type::f32) {
  return {name, BindingKind::scalar, type, access};
}

kir::OpaqueKernel kernel_of(std::vector<uint32_t> words, std::vector<kir::BindingInfo> bindings,
                            std::array<uint32_t, 3> size = {1, 1, 1}) {
  kir::OpaqueKernel kernel;
  kernel.interface = {"relax", size, std::move(bindings), {}};
  kernel.spirv = std::move(words);
  return kernel;
}

kir::OpaqueKernel axpy(const std::string& environment = "vulkan1.1") {
  kir::OpaqueKernel kernel = kernel_of(compiled("axpy", environment),
                                       {buffer("x", Access::read), buffer("y", Access::read_write)}, {64, 1, 1});
  kernel.interface.parameters = {{"count", Type::i32}, {"a", Type::f32}};
  return kernel;
}

kir::OpaqueKernel fill() {
  return kernel_of(compiled("fill"), {scalar("value", Access::read), buffer("result", Access::write)}, {8, 4, 2});
}

// The message of the refusal, or "" if there is none.
std::string refusal(const kir::OpaqueKernel& kernel) {
  const Result<void> result = check_spirv_interface(kernel);
  return result.ok() ? "" : result.error().message;
}

ErrorKind kind_of(const kir::OpaqueKernel& kernel) {
  const Result<void> result = check_spirv_interface(kernel);
  return result.ok() ? ErrorKind::internal : result.error().kind;
}

TEST(SpirvInterface, accepts_a_module_that_does_as_declared) {
  EXPECT_EQ(refusal(axpy()), "");
}

TEST(SpirvInterface, accepts_buffer_blocks_of_the_uniform_class) {
  EXPECT_EQ(refusal(axpy("vulkan1.0")), "");
}

TEST(SpirvInterface, accepts_an_entry_point_that_lists_all_its_variables) {
  EXPECT_EQ(refusal(axpy("vulkan1.3")), "");
}

TEST(SpirvInterface, accepts_a_scalar_binding_that_is_a_block_of_one_word) {
  EXPECT_EQ(refusal(fill()), "");
}

TEST(SpirvInterface, accepts_more_parameters_than_the_module_has_push_constants) {
  auto kernel = axpy();
  kernel.interface.parameters.push_back({"unused", Type::i64});
  EXPECT_EQ(refusal(kernel), "");
}

TEST(SpirvInterface, names_the_kernel_and_the_entry_points_that_there_are) {
  auto kernel = axpy();
  kernel.entry_point = "relax_rows";
  EXPECT_EQ(refusal(kernel), "kernel \"relax\": the module has no compute entry point \"relax_rows\"; it has \"main\"");
}

TEST(SpirvInterface, refuses_a_workgroup_size_other_than_the_modules) {
  auto kernel = fill();
  kernel.interface.workgroup_size = {8, 4, 1};
  EXPECT_EQ(refusal(kernel),
            "kernel \"relax\": a workgroup of 8x4x1 is declared, but the module's is 8x4x2; declare that");
}

TEST(SpirvInterface, does_not_support_a_specialised_workgroup_size) {
  const auto kernel = kernel_of(compiled("specialised_size"), {buffer("x", Access::write)});
  EXPECT_EQ(kind_of(kernel), ErrorKind::unsupported);
  EXPECT_THAT(refusal(kernel), HasSubstr("specialisation constant"));
}

TEST(SpirvInterface, refuses_a_store_to_a_binding_declared_read) {
  auto kernel = axpy();
  kernel.interface.bindings[1].access = Access::read;
  EXPECT_THAT(refusal(kernel), StartsWith("kernel \"relax\": binding \"y\" is declared read, but the module stores"));
}

TEST(SpirvInterface, refuses_a_load_from_a_binding_declared_write) {
  auto kernel = axpy();
  kernel.interface.bindings[1].access = Access::write;
  EXPECT_THAT(refusal(kernel), StartsWith("kernel \"relax\": binding \"y\" is declared write, but the module loads"));
}

TEST(SpirvInterface, refuses_a_binding_declared_write_that_is_never_stored_to) {
  auto length_only = kernel_of(assemble(R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 0
OpDecorate %array ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
%void = OpTypeVoid
%none = OpTypeFunction %void
%uint = OpTypeInt 32 0
%array = OpTypeRuntimeArray %uint
%block = OpTypeStruct %array
%buffer = OpTypePointer StorageBuffer %block
%a = OpVariable %buffer StorageBuffer
%main = OpFunction %void None %none
%entry = OpLabel
%n = OpArrayLength %uint %a 0
OpReturn
OpFunctionEnd
)"),
                               {buffer("a", Access::write)});
  EXPECT_THAT(refusal(length_only), HasSubstr("never stores"));
}

TEST(SpirvInterface, refuses_an_atomic_on_a_binding_declared_read) {
  EXPECT_THAT(refusal(kernel_of(compiled("count"), {buffer("counts", Access::read, Type::i32)}, {32, 1, 1})),
              HasSubstr("binding \"counts\" is declared read"));
}

TEST(SpirvInterface, refuses_an_atomic_on_a_binding_declared_write) {
  EXPECT_THAT(refusal(kernel_of(compiled("count"), {buffer("counts", Access::write, Type::i32)}, {32, 1, 1})),
              HasSubstr("binding \"counts\" is declared write"));
}

TEST(SpirvInterface, refuses_a_declared_binding_that_the_module_lacks) {
  auto kernel = axpy();
  kernel.interface.bindings.push_back(buffer("z", Access::read));
  EXPECT_THAT(refusal(kernel), HasSubstr("binding \"z\" is declared, but the module has no storage buffer at set 0, "
                                         "binding 2"));
}

TEST(SpirvInterface, refuses_a_buffer_of_the_module_that_is_not_declared) {
  auto kernel = axpy();
  kernel.interface.bindings.pop_back();
  EXPECT_THAT(refusal(kernel), HasSubstr("uses a buffer at set 0, binding 1, but 1 bindings are declared"));
}

struct ResourceCase {
  const char* shader;
  const char* message;
};

class SpirvResource : public testing::TestWithParam<ResourceCase> {};

TEST_P(SpirvResource, is_refused_unless_it_is_a_storage_buffer_of_set_0) {
  const auto kernel =
      kernel_of(compiled(GetParam().shader), {buffer("x", Access::write), buffer("other", Access::read)});
  EXPECT_THAT(refusal(kernel), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    kinds, SpirvResource,
    testing::Values(ResourceCase{"uniform_buffer", "a uniform buffer (set 0, binding 1)"},
                    ResourceCase{"image", "an image, a sampler or a texel buffer (set 0, binding 1)"},
                    ResourceCase{"second_set", "a buffer at set 1, binding 0"},
                    ResourceCase{"buffer_array", "an array of buffers (set 0, binding 0)"},
                    ResourceCase{"device_pointer", "device pointers, whose access cannot be checked"}),
    [](const auto& test) { return std::string(test.param.shader); });

kir::OpaqueKernel elements(Type vectors, Type pairs, Type padded) {
  return kernel_of(compiled("elements"),
                   {buffer("vectors", Access::write, vectors), buffer("pairs", Access::read, pairs),
                    buffer("padded", Access::read, padded)});
}

TEST(SpirvInterface, refuses_scalars_that_the_layout_spreads) {
  EXPECT_THAT(refusal(elements(Type::f32, Type::f32, Type::f32)),
              HasSubstr("binding \"padded\" is declared f32 of 4 bytes, but the module's elements are 16 bytes apart"));
}

TEST(SpirvInterface, refuses_a_scalar_element_of_another_size) {
  auto kernel = axpy();
  kernel.interface.bindings[0].type = Type::f64;
  EXPECT_THAT(refusal(kernel), HasSubstr("binding \"x\" is declared f64 of 8 bytes, but the module's elements are 4"));
}

TEST(SpirvInterface, accepts_an_element_of_the_declared_size_and_another_kind) {
  auto kernel = axpy();
  kernel.interface.bindings[0].type = Type::i32;
  EXPECT_EQ(refusal(kernel), "");
}

TEST(SpirvInterface, accepts_vectors_and_structs_of_whole_elements) {
  // Only the third binding is wrong: 16 and 24 bytes are multiples of both 4 and 8.
  EXPECT_THAT(refusal(elements(Type::f32, Type::f64, Type::f32)), HasSubstr("binding \"padded\""));
}

TEST(SpirvInterface, refuses_a_scalar_binding_of_more_than_one_number) {
  EXPECT_THAT(refusal(kernel_of(compiled("count"), {scalar("counts", Access::read_write, Type::i32)}, {32, 1, 1})),
              HasSubstr("binding \"counts\" is declared a scalar, but the module's block is not one number"));
}

TEST(SpirvInterface, accepts_a_scalar_binding_that_is_an_unsized_array) {
  auto kernel = axpy();
  kernel.interface.bindings[0].kind = BindingKind::scalar;
  EXPECT_EQ(refusal(kernel), "");
}

TEST(SpirvInterface, refuses_a_scalar_binding_of_a_type_that_is_no_word) {
  auto kernel = fill();
  kernel.interface.bindings[0].type = Type::f64;
  EXPECT_THAT(refusal(kernel), HasSubstr("a scalar is i32 or f32"));
}

TEST(SpirvInterface, refuses_a_binding_of_booleans) {
  auto kernel = axpy();
  kernel.interface.bindings[0].type = Type::boolean;
  EXPECT_THAT(refusal(kernel), HasSubstr("binding \"x\" is declared bool, which cannot be stored in memory"));
}

TEST(SpirvInterface, refuses_push_constants_that_the_parameters_do_not_fill) {
  auto kernel = axpy();
  kernel.interface.parameters.pop_back();
  EXPECT_THAT(refusal(kernel),
              HasSubstr("the module has 8 bytes of push constants, but the declared parameters give 4"));
}

TEST(SpirvInterface, gives_scalar_bindings_no_launch_word) {
  auto kernel = axpy();
  kernel.interface.bindings[0].kind = BindingKind::scalar;
  kernel.interface.parameters.pop_back();
  EXPECT_THAT(refusal(kernel), HasSubstr("the declared parameters give 4"));
}

TEST(SpirvInterface, lays_out_matrices_and_arrays_of_push_constants) {
  auto kernel = kernel_of(compiled("matrix_words"), {buffer("x", Access::write)});
  kernel.interface.parameters.assign(6, {"word", Type::i64});
  EXPECT_EQ(refusal(kernel), "");
  kernel.interface.parameters[0].type = Type::i32;
  EXPECT_THAT(refusal(kernel),
              HasSubstr("the module has 48 bytes of push constants, but the declared parameters give 44"));
}

// Two entry points with the same binding: only our own one's use counts.
constexpr const char* kTwoEntryPoints = R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %first "first"
OpEntryPoint GLCompute %second "second"
OpExecutionMode %first LocalSize 1 1 1
OpExecutionMode %second LocalSize 2 1 1
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 0
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 1
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
%void = OpTypeVoid
%none = OpTypeFunction %void
%uint = OpTypeInt 32 0
%block = OpTypeStruct %uint
%buffer = OpTypePointer StorageBuffer %block
%pointer = OpTypePointer StorageBuffer %uint
%zero = OpConstant %uint 0
%a = OpVariable %buffer StorageBuffer
%b = OpVariable %buffer StorageBuffer
%first = OpFunction %void None %none
%first_entry = OpLabel
%p = OpAccessChain %pointer %a %zero
%x = OpLoad %uint %p
OpReturn
OpFunctionEnd
%second = OpFunction %void None %none
%second_entry = OpLabel
%q = OpAccessChain %pointer %a %zero
OpStore %q %zero
%r = OpAccessChain %pointer %b %zero
OpStore %r %zero
OpReturn
OpFunctionEnd
)";

TEST(SpirvInterface, looks_only_at_what_its_entry_point_reaches) {
  auto kernel = kernel_of(assemble(kTwoEntryPoints), {scalar("a", Access::read, Type::i32)});
  kernel.entry_point = "first";
  EXPECT_EQ(refusal(kernel), "");
}

TEST(SpirvInterface, takes_the_workgroup_size_of_its_own_entry_point) {
  auto kernel = kernel_of(assemble(kTwoEntryPoints),
                          {scalar("a", Access::write, Type::i32), scalar("b", Access::write, Type::i32)}, {2, 1, 1});
  kernel.entry_point = "second";
  EXPECT_EQ(refusal(kernel), "");
}

TEST(SpirvInterface, says_that_bytes_are_swapped) {
  auto kernel = axpy();
  kernel.spirv[0] = 0x03022307;
  EXPECT_THAT(refusal(kernel), HasSubstr("other byte order"));
}

TEST(SpirvInterface, refuses_an_id_bound_that_the_module_cannot_fill) {
  auto kernel = axpy();
  kernel.spirv[3] = 4'000'000;
  EXPECT_THAT(refusal(kernel), HasSubstr("id bound 4000000 does not fit"));
}

TEST(SpirvInterface, refuses_an_instruction_without_a_length) {
  auto kernel = axpy();
  kernel.spirv[5] &= 0xffff;
  EXPECT_THAT(refusal(kernel), HasSubstr("at word 5 has a length of 0"));
}

TEST(SpirvInterface, refuses_every_proper_prefix_of_a_module) {
  const auto whole = axpy();
  for (size_t words = 0; words < whole.spirv.size(); ++words) {
    auto kernel = whole;
    kernel.spirv.resize(words);
    EXPECT_THAT(refusal(kernel), StartsWith("kernel \"relax\": ")) << words << " words";
  }
}

TEST(SpirvInterface, answers_for_every_flipped_bit) {
  // Flips in names, comments and unchecked decorations are accepted; the rest must be refused in words, and none may
  // read out of bounds (the sanitizers watch).
  auto kernel = axpy();
  size_t refused = 0;
  for (uint32_t& word : kernel.spirv)
    for (uint32_t bit = 0; bit < 32; ++bit) {
      word ^= 1u << bit;
      const Result<void> result = check_spirv_interface(kernel);
      if (!result.ok()) {
        ++refused;
        EXPECT_THAT(result.error().message, StartsWith("kernel \"relax\": "));
        EXPECT_NE(result.error().kind, ErrorKind::internal);
      }
      word ^= 1u << bit;
    }
  EXPECT_GT(refused, kernel.spirv.size() * 8);
  EXPECT_EQ(refusal(kernel), "");
}

TEST(SpirvInterface, answers_for_words_moved_about) {
  const auto whole = axpy();
  std::mt19937 random(20240229);
  const auto below = [&](size_t bound) { return static_cast<size_t>(random() % bound); };
  size_t refused = 0;
  constexpr size_t kRounds = 5000;
  for (size_t round = 0; round < kRounds; ++round) {
    auto kernel = whole;
    for (size_t change = 0; change <= below(4); ++change)
      kernel.spirv[5 + below(whole.spirv.size() - 5)] = whole.spirv[below(whole.spirv.size())];
    refused += !check_spirv_interface(kernel).ok();
  }
  EXPECT_GT(refused, kRounds / 4);
}

}  // namespace
}  // namespace wavegate::program
