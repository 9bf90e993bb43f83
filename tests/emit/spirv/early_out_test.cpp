#include "wavegate/emit/spirv/early_out.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <spirv-tools/libspirv.hpp>
#include <string>
#include <vector>

#include "wavegate/kir/spirv_module.h"

namespace wavegate::emit::spirv {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<uint32_t>;

Words assemble(const std::string& text, spv_target_env environment = SPV_ENV_UNIVERSAL_1_6) {
  spvtools::SpirvTools tools(environment);
  std::string log;
  tools.SetMessageConsumer([&log](spv_message_level_t, const char*, const spv_position_t& position,
                                  const char* message) { log = std::to_string(position.line) + ": " + message; });
  Words words;
  EXPECT_TRUE(tools.Assemble(text, &words, SPV_TEXT_TO_BINARY_OPTION_PRESERVE_NUMERIC_IDS)) << log << "\n" << text;
  return words;
}

std::string disassemble(const Words& words) {
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::string text;
  tools.Disassemble(words, &text, SPV_BINARY_TO_TEXT_OPTION_NO_HEADER);
  return text;
}

/// What the validator says; empty if the module is valid.
std::string validation_errors(const Words& words, spv_target_env environment) {
  spvtools::SpirvTools tools(environment);
  std::string errors;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&, const char* message) {
    errors += std::string(message) + "\n";
  });
  if (!tools.Validate(words) && errors.empty()) errors = "invalid";
  return errors;
}

kir::OpaqueKernel kernel_of(Words words, size_t bindings) {
  kir::OpaqueKernel kernel;
  kernel.interface.name = "user";
  for (size_t i = 0; i < bindings; ++i)
    kernel.interface.bindings.push_back(
        {"b" + std::to_string(i), kir::BindingKind::buffer, kir::Type::i32, kir::Access::read_write});
  kernel.spirv = std::move(words);
  return kernel;
}

/// The module with its early-out, which must be valid where it was before.
Words wrapped(const kir::OpaqueKernel& kernel, spv_target_env environment = SPV_ENV_VULKAN_1_2) {
  EXPECT_EQ(validation_errors(kernel.spirv, environment), "") << disassemble(kernel.spirv);
  const Result<Words> words = early_out(kernel);
  if (!words.ok()) {
    ADD_FAILURE() << words.error().to_string();
    return {};
  }
  EXPECT_EQ(validation_errors(*words, environment), "") << disassemble(*words);
  return *words;
}

size_t count(const std::string& text, const std::string& piece) {
  size_t found = 0;
  for (size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++found;
  return found;
}

std::string refusal(const kir::OpaqueKernel& kernel) {
  const Result<Words> words = early_out(kernel);
  return words.ok() ? "accepted" : words.error().to_string();
}

// What glslc makes of GLSL, in the SPIR-V version of each environment.

struct Shader {
  const char* name;
  size_t bindings;
};
struct Environment {
  const char* name;
  spv_target_env environment;
};

class CompiledShaders : public testing::TestWithParam<std::tuple<Shader, Environment>> {};

TEST_P(CompiledShaders, stay_valid) {
  const auto& [shader, environment] = GetParam();
  std::ifstream file(std::string(WAVEGATE_SPIRV_DIR) + "/" + environment.name + "/" + shader.name + ".spv",
                     std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Words words(bytes.size() / 4);
  ASSERT_FALSE(words.empty());
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  const kir::OpaqueKernel kernel = kernel_of(words, shader.bindings);
  const Words result = wrapped(kernel, environment.environment);
  const std::string text = disassemble(result);
  EXPECT_EQ(count(text, "= OpFunction "), count(disassemble(words), "= OpFunction ") + 1);
  EXPECT_EQ(count(text, "OpEntryPoint GLCompute"), 1u);

  // The latch is at the next free binding, and can be put before another one.
  const auto module = kir::read_spirv(result);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  size_t found = 0;
  for (const uint32_t variable : module->variables)
    if (module->decorations_of(variable).binding == shader.bindings) ++found;
  EXPECT_EQ(found, 1u);
  wrapped(kernel_of(result, shader.bindings + 1), environment.environment);
}

INSTANTIATE_TEST_SUITE_P(EarlyOut, CompiledShaders,
                         testing::Combine(testing::Values(Shader{"plain", 1}, Shader{"shared_sum", 2},
                                                          Shader{"functions", 2}),
                                          testing::Values(Environment{"vulkan1.0", SPV_ENV_VULKAN_1_0},
                                                          Environment{"vulkan1.1", SPV_ENV_VULKAN_1_1},
                                                          Environment{"vulkan1.2", SPV_ENV_VULKAN_1_2},
                                                          Environment{"vulkan1.3", SPV_ENV_VULKAN_1_3})),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param).name;
                           return name + "_spirv_" + std::to_string(std::get<1>(test.param).environment);
                         });

// Modules that GLSL has no words for. %main is id 1.

constexpr const char* kHead = R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
)";

constexpr const char* kTypes = R"(
%void = OpTypeVoid
%code = OpTypeFunction %void
)";

constexpr const char* kMain = R"(
%1 = OpFunction %void None %code
%label = OpLabel
OpReturn
OpFunctionEnd
)";

std::string module_text(const std::string& entries, const std::string& after_modes = "", const std::string& types = "",
                        const std::string& functions = kMain) {
  return kHead + entries + after_modes + kTypes + types + functions;
}

TEST(EarlyOut, adds_a_function_that_tests_the_latch_and_calls_the_old_one) {
  const Words before = assemble(
      module_text("OpEntryPoint GLCompute %1 \"main\"\nOpExecutionMode %1 LocalSize 64 1 1\n"), SPV_ENV_UNIVERSAL_1_3);
  EXPECT_EQ(disassemble(wrapped(kernel_of(before, 3))),
            "OpCapability Shader\n"
            "OpMemoryModel Logical GLSL450\n"
            "OpEntryPoint GLCompute %5 \"main\"\n"
            "OpExecutionMode %5 LocalSize 64 1 1\n"
            "OpDecorate %10 Block\n"
            "OpMemberDecorate %10 0 Offset 0\n"
            "OpMemberDecorate %10 0 NonWritable\n"
            "OpDecorate %6 DescriptorSet 0\n"
            "OpDecorate %6 Binding 3\n"
            "%2 = OpTypeVoid\n"
            "%3 = OpTypeFunction %2\n"
            "%7 = OpTypeInt 32 0\n"
            "%8 = OpTypeBool\n"
            "%9 = OpTypePointer StorageBuffer %7\n"
            "%10 = OpTypeStruct %7\n"
            "%11 = OpTypePointer StorageBuffer %10\n"
            "%12 = OpConstant %7 0\n"
            "%6 = OpVariable %11 StorageBuffer\n"
            "%1 = OpFunction %2 None %3\n"
            "%4 = OpLabel\n"
            "OpReturn\n"
            "OpFunctionEnd\n"
            "%5 = OpFunction %2 None %3\n"
            "%13 = OpLabel\n"
            "%16 = OpAccessChain %9 %6 %12\n"
            "%17 = OpLoad %7 %16\n"
            "%18 = OpIEqual %8 %17 %12\n"
            "OpSelectionMerge %15 None\n"
            "OpBranchConditional %18 %15 %14\n"
            "%14 = OpLabel\n"
            "%19 = OpFunctionCall %2 %1\n"
            "OpBranch %15\n"
            "%15 = OpLabel\n"
            "OpReturn\n"
            "OpFunctionEnd\n");
}

TEST(EarlyOut, uses_the_types_that_are_there) {
  const std::string types = R"(
%bool = OpTypeBool
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%pointer = OpTypePointer StorageBuffer %uint
)";
  const Words before =
      assemble(module_text("OpEntryPoint GLCompute %1 \"main\"\nOpExecutionMode %1 LocalSize 1 1 1\n", "", types),
               SPV_ENV_UNIVERSAL_1_3);
  const std::string text = disassemble(wrapped(kernel_of(before, 0)));
  EXPECT_EQ(count(text, "OpTypeBool"), 1u);
  EXPECT_EQ(count(text, "OpTypeInt 32 0"), 1u);
  EXPECT_EQ(count(text, "OpTypePointer StorageBuffer"), 2u);
}

TEST(EarlyOut, has_a_buffer_block_before_storage_buffers_were_a_class) {
  const Words before = assemble(module_text("OpEntryPoint GLCompute %1 \"main\"\nOpExecutionMode %1 LocalSize 1 1 1\n"),
                                SPV_ENV_UNIVERSAL_1_0);
  const std::string text = disassemble(wrapped(kernel_of(before, 0), SPV_ENV_VULKAN_1_0));
  EXPECT_THAT(text, HasSubstr("BufferBlock"));
  EXPECT_THAT(text, Not(HasSubstr("StorageBuffer")));
}

TEST(EarlyOut, lists_the_latch_among_the_variables_where_all_are_listed) {
  const std::string text = module_text("OpEntryPoint GLCompute %1 \"main\"\nOpExecutionMode %1 LocalSize 1 1 1\n");
  EXPECT_THAT(disassemble(wrapped(kernel_of(assemble(text, SPV_ENV_UNIVERSAL_1_3), 0))),
              HasSubstr("OpEntryPoint GLCompute %5 \"main\"\n"));
  EXPECT_THAT(disassemble(wrapped(kernel_of(assemble(text, SPV_ENV_UNIVERSAL_1_4), 0))),
              HasSubstr("OpEntryPoint GLCompute %5 \"main\" %6\n"));
}

TEST(EarlyOut, wraps_the_named_entry_point_alone) {
  const std::string entries = R"(
OpEntryPoint GLCompute %1 "main"
OpEntryPoint GLCompute %other "other"
OpEntryPoint Vertex %vertex "main"
OpExecutionMode %1 LocalSize 4 1 1
OpExecutionMode %other LocalSize 8 1 1
)";
  const std::string functions = std::string(kMain) + R"(
%other = OpFunction %void None %code
%other_label = OpLabel
OpReturn
OpFunctionEnd
%vertex = OpFunction %void None %code
%vertex_label = OpLabel
OpReturn
OpFunctionEnd
)";
  kir::OpaqueKernel kernel = kernel_of(assemble(module_text(entries, "", "", functions), SPV_ENV_UNIVERSAL_1_3), 1);
  kernel.entry_point = "other";
  const auto before = kir::read_spirv(kernel.spirv);
  const Words words = wrapped(kernel);
  const auto after = kir::read_spirv(words);
  ASSERT_TRUE(before.ok() && after.ok());
  ASSERT_EQ(after->entry_points.size(), 3u);
  EXPECT_EQ(after->entry_points[0].function, before->entry_points[0].function);
  EXPECT_NE(after->entry_points[1].function, before->entry_points[1].function);
  EXPECT_EQ(after->entry_points[2].function, before->entry_points[2].function);
}

TEST(EarlyOut, wraps_entry_points_of_one_function_together) {
  const std::string entries = R"(
OpEntryPoint GLCompute %1 "main"
OpEntryPoint GLCompute %1 "alias"
OpExecutionMode %1 LocalSize 4 1 1
)";
  const Words words = wrapped(kernel_of(assemble(module_text(entries), SPV_ENV_UNIVERSAL_1_4), 1));
  const std::string text = disassemble(words);
  EXPECT_THAT(text, HasSubstr("OpEntryPoint GLCompute %5 \"main\" %6\n"));
  EXPECT_THAT(text, HasSubstr("OpEntryPoint GLCompute %5 \"alias\" %6\n"));
  EXPECT_EQ(count(text, "OpFunctionCall"), 1u);
}

TEST(EarlyOut, moves_modes_whose_operands_are_ids) {
  const std::string types = R"(
%uint = OpTypeInt 32 0
%four = OpSpecConstant %uint 4
%one = OpConstant %uint 1
)";
  const Words before =
      assemble(module_text("OpEntryPoint GLCompute %1 \"main\"\n"
                           "OpExecutionModeId %1 LocalSizeId %four %one %one\n",
                           "OpDecorate %four SpecId 0\n", types));
  EXPECT_THAT(disassemble(wrapped(kernel_of(before, 0), SPV_ENV_VULKAN_1_3)),
              HasSubstr("OpExecutionModeId %8 LocalSizeId"));
}

TEST(EarlyOut, keeps_debug_information_and_decorations) {
  const std::string after_modes = R"(
%file = OpString "user.comp"
OpSource GLSL 450 %file
OpName %1 "main"
OpName %group "group"
OpModuleProcessed "by hand"
OpDecorate %group DescriptorSet 0
%group = OpDecorationGroup
OpDecorate %variable Binding 0
OpGroupDecorate %group %variable
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
)";
  const std::string types = R"(
OpLine %file 1 1
%float = OpTypeFloat 32
OpNoLine
%block = OpTypeStruct %float
%block_pointer = OpTypePointer StorageBuffer %block
%variable = OpVariable %block_pointer StorageBuffer
%debug_void = OpExtInst %void %set DebugInfoNone
OpLine %file 7 1
)";
  const std::string text = std::string("OpCapability Shader\n") + "OpExtension \"SPV_KHR_non_semantic_info\"\n" +
                           "%set = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"\n" +
                           "OpMemoryModel Logical GLSL450\n" + "OpEntryPoint GLCompute %1 \"main\"\n" +
                           "OpExecutionMode %1 LocalSize 4 1 1\n" + after_modes + kTypes + types + kMain;
  const Words before = assemble(text, SPV_ENV_UNIVERSAL_1_3);
  const std::string result = disassemble(wrapped(kernel_of(before, 1)));
  EXPECT_THAT(result, HasSubstr("OpName %1 \"main\"\n"));
  EXPECT_THAT(result, HasSubstr("OpModuleProcessed \"by hand\"\n"));
  EXPECT_THAT(result, HasSubstr("DebugInfoNone"));
  EXPECT_EQ(count(result, "OpLine "), 2u);
}

TEST(EarlyOut, refuses_what_it_cannot_wrap_and_names_the_kernel) {
  const std::string entry = "OpEntryPoint GLCompute %1 \"main\"\nOpExecutionMode %1 LocalSize 1 1 1\n";
  kir::OpaqueKernel kernel = kernel_of(assemble(module_text(entry)), 0);
  kernel.entry_point = "mian";
  EXPECT_EQ(refusal(kernel), "invalid input: kernel \"user\": the module has no compute entry point \"mian\"");

  EXPECT_EQ(refusal(kernel_of({}, 0)),
            "invalid input: kernel \"user\": the module has 0 words, less than the header of a SPIR-V module");

  const std::string no_function = module_text("OpEntryPoint GLCompute %void \"main\"\n");
  EXPECT_THAT(refusal(kernel_of(assemble(no_function), 0)), HasSubstr("function 2 is not defined"));

  const std::string calls = module_text(entry, "", "", std::string(kMain) + R"(
%more = OpFunction %void None %code
%more_label = OpLabel
%nothing = OpFunctionCall %void %1
OpReturn
OpFunctionEnd
)");
  EXPECT_EQ(refusal(kernel_of(assemble(calls), 0)),
            "invalid input: kernel \"user\": the module calls the entry point's function, which SPIR-V forbids");

  const std::string takes = module_text(entry, "", "%takes = OpTypeFunction %void %void\n", R"(
%1 = OpFunction %void None %takes
%parameter = OpFunctionParameter %void
%label = OpLabel
OpReturn
OpFunctionEnd
)");
  EXPECT_THAT(refusal(kernel_of(assemble(takes), 0)), HasSubstr("takes or returns values"));
}

TEST(EarlyOut, refuses_a_module_without_ids_left) {
  // The bound must fit the words, so that such a module is long.
  std::string text = module_text("OpEntryPoint GLCompute %1 \"main\"\nOpExecutionMode %1 LocalSize 1 1 1\n");
  kir::OpaqueKernel kernel = kernel_of(assemble(text), 0);
  kernel.spirv.insert(kernel.spirv.begin() + 5, 70'000, 1u << 16);  // OpNop
  kernel.spirv[3] = 4'194'303;
  EXPECT_EQ(refusal(kernel), "unsupported: kernel \"user\": the module has no ids left for a latch; compact its ids");
  kernel.spirv[3] = 4'194'303 - 15;
  EXPECT_EQ(refusal(kernel), "accepted");
}

TEST(EarlyOut, refuses_an_entry_point_that_can_list_no_more) {
  kir::OpaqueKernel kernel =
      kernel_of(assemble(module_text("OpEntryPoint GLCompute %1 \"main\"\nOpExecutionMode %1 LocalSize 1 1 1\n")), 0);
  constexpr size_t kEntryPoint = 5 + 2 + 3;  // after the header, OpCapability and OpMemoryModel
  ASSERT_EQ(kernel.spirv[kEntryPoint], 5u << 16 | 15u);
  kernel.spirv[kEntryPoint] = 65535u << 16 | 15u;
  kernel.spirv.insert(kernel.spirv.begin() + kEntryPoint + 5, 65530, 1);
  EXPECT_THAT(refusal(kernel), HasSubstr("unsupported: kernel \"user\": an entry point of the module lists so many"));
}

TEST(EarlyOut, survives_every_module_cut_short_or_with_a_word_changed) {
  const Words whole = assemble(module_text("OpEntryPoint GLCompute %1 \"main\"\nOpExecutionMode %1 LocalSize 1 1 1\n"));
  for (size_t length = 0; length < whole.size(); ++length) {
    kir::OpaqueKernel kernel = kernel_of(Words(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)), 0);
    static_cast<void>(early_out(kernel));
  }
  for (size_t at = 0; at < whole.size(); ++at)
    for (const uint32_t change : {1u, 0x10000u, 0x7fffffffu, 0xffffffffu}) {
      kir::OpaqueKernel kernel = kernel_of(whole, 0);
      kernel.spirv[at] ^= change;
      static_cast<void>(early_out(kernel));
    }
}

}  // namespace
}  // namespace wavegate::emit::spirv
