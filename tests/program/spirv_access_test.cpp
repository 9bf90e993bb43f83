#include "wavegate/program/spirv_access.h"

#include <gmock/gmock.h>

#include "program/spirv_text.h"

namespace wavegate::program {
namespace {

// Two buffers of floats, %a and %b, with a pointer into each; a body in the middle of main, functions after it.
std::vector<uint32_t> module_of(const std::string& body, const std::string& functions = "") {
  return assemble(R"(
OpCapability Shader
OpCapability VariablePointersStorageBuffer
%glsl = OpExtInstImport "GLSL.std.450"
%notes = OpExtInstImport "NonSemantic.Notes"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
OpName %a "a"
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 0
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding 1
OpDecorate %array ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
%void = OpTypeVoid
%none = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%array = OpTypeRuntimeArray %float
%block = OpTypeStruct %array
%buffer = OpTypePointer StorageBuffer %block
%pointer = OpTypePointer StorageBuffer %float
%atom = OpTypePointer StorageBuffer %uint
%holder = OpTypePointer Private %pointer
%taker = OpTypeFunction %void %pointer
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%value = OpConstant %float 1
%true = OpConstantTrue %bool
%a = OpVariable %buffer StorageBuffer
%b = OpVariable %buffer StorageBuffer
%held = OpVariable %holder Private
%main = OpFunction %void None %none
%entry = OpLabel
%p = OpAccessChain %pointer %a %zero %zero
%q = OpAccessChain %pointer %b %zero %one
)" + body + R"(
OpReturn
OpFunctionEnd
)" + functions);
}

// What is done to %a and %b, as in "a:read b:none".
std::string accesses(const std::vector<uint32_t>& words) {
  auto module = kir::read_spirv(words);
  if (!module) return module.error().message;
  auto found = spirv_accesses(*module, module->entry_points.at(0).function);
  if (!found) return found.error().message;
  std::string text;
  for (const uint32_t variable : module->variables) {
    const auto binding = module->decorations_of(variable).binding;
    if (!binding || !found->contains(variable)) continue;
    const SpirvAccess access = found->at(variable);
    text += text.empty() ? "" : " ";
    text += *binding == 0 ? "a:" : "b:";
    text += access.reads ? access.writes ? "both" : "read" : access.writes ? "write" : "none";
  }
  return text;
}

std::string accesses_of(const std::string& body, const std::string& functions = "") {
  return accesses(module_of(body, functions));
}

struct Case {
  const char* name;
  const char* body;
  const char* expected;
};

class SpirvAccessOf : public testing::TestWithParam<Case> {};

TEST_P(SpirvAccessOf, follows_the_pointer_to_its_use) {
  EXPECT_EQ(accesses_of(GetParam().body), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    instructions, SpirvAccessOf,
    testing::Values(
        Case{"chain_alone", "", "a:none b:none"}, Case{"load", "%x = OpLoad %float %p", "a:read b:none"},
        Case{"load_of_the_whole", "%x = OpLoad %block %a", "a:read b:none"},
        Case{"store", "OpStore %q %value", "a:none b:write"},
        Case{"chain_of_chain", "%r = OpPtrAccessChain %pointer %p %one\nOpStore %r %value", "a:write b:none"},
        Case{"copied_pointer", "%r = OpCopyObject %pointer %q\n%x = OpLoad %float %r", "a:none b:read"},
        Case{"copied_memory", "OpCopyMemory %p %q", "a:write b:read"},
        Case{"length", "%n = OpArrayLength %uint %a 0", "a:none b:none"},
        Case{"compared", "%s = OpPtrEqual %bool %p %q", "a:none b:none"},
        Case{"atomic_add", "%c = OpBitcast %atom %p\n%x = OpAtomicIAdd %uint %c %one %zero %one", "a:both b:none"},
        Case{"atomic_load", "%x = OpAtomicLoad %float %q %one %zero", "a:none b:both"},
        Case{"atomic_store", "OpAtomicStore %q %one %zero %value", "a:none b:both"},
        Case{"selected", "%r = OpSelect %pointer %true %p %q", "a:both b:both"},
        Case{"stored_pointer", "OpStore %held %p", "a:both b:none"},
        Case{"modified_by_extended_instruction", "%x = OpExtInst %float %glsl Modf %value %q", "a:none b:both"},
        Case{"described_by_debug_instruction", "%x = OpExtInst %void %notes 1 %p", "a:none b:none"},
        Case{"phi_of_a_later_block",
             "OpBranch %loop\n%loop = OpLabel\n%r = OpPhi %pointer %p %entry %s %next\n"
             "OpLoopMerge %end %next None\nOpBranchConditional %true %next %end\n"
             "%next = OpLabel\n%s = OpAccessChain %pointer %b %zero %zero\nOpBranch %loop\n%end = OpLabel",
             "a:both b:both"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(SpirvAccess, counts_a_pointer_given_to_a_function_as_read_and_written) {
  EXPECT_EQ(accesses_of("%x = OpFunctionCall %void %take %p",
                        "%take = OpFunction %void None %taker\n%given = OpFunctionParameter %pointer\n"
                        "%start = OpLabel\nOpReturn\nOpFunctionEnd"),
            "a:both b:none");
}

TEST(SpirvAccess, includes_functions_that_are_called) {
  EXPECT_EQ(accesses_of("%x = OpFunctionCall %void %called",
                        "%called = OpFunction %void None %none\n%start = OpLabel\n"
                        "%r = OpAccessChain %pointer %b %zero %zero\nOpStore %r %value\nOpReturn\nOpFunctionEnd"),
            "a:none b:write");
}

TEST(SpirvAccess, leaves_out_functions_that_nothing_calls) {
  EXPECT_EQ(accesses_of("",
                        "%uncalled = OpFunction %void None %none\n%start = OpLabel\n"
                        "%r = OpAccessChain %pointer %b %zero %zero\nOpStore %r %value\nOpReturn\nOpFunctionEnd"),
            "a:none b:none");
}

TEST(SpirvAccess, does_not_take_a_literal_for_a_pointer) {
  // Ids 1 to 3 are the first that the assembler gives: a literal of their value must not count.
  const std::string text = R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %9 "main"
OpDecorate %1 Binding 0
%4 = OpTypeVoid
%5 = OpTypeFunction %4
%6 = OpTypeFloat 32
%7 = OpTypeVector %6 4
%8 = OpTypePointer StorageBuffer %7
%10 = OpConstantNull %7
%1 = OpVariable %8 StorageBuffer
%9 = OpFunction %4 None %5
%11 = OpLabel
%12 = OpCompositeExtract %6 %10 1
%13 = OpVectorShuffle %7 %10 %10 1 1 1 1
%14 = OpCompositeInsert %7 %12 %10 1
%15 = OpAccessChain %8 %1
OpReturn
OpFunctionEnd
)";
  EXPECT_EQ(accesses(assemble(text)), "a:none");
}

TEST(SpirvAccess, refuses_a_pointer_used_before_its_definition) {
  EXPECT_THAT(accesses_of("%r = OpCopyObject %pointer %s\n%s = OpCopyObject %pointer %p"),
              testing::HasSubstr("before its definition"));
}

}  // namespace
}  // namespace wavegate::program
