#include "wavegate/amdgpu/object/yaml_metadata.h"

#include <gmock/gmock.h>

#include "amdgpu/object/testing.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Metadata> parse(const std::string& text) {
  return parse_yaml_metadata(to_bytes(text));
}

std::string kernel_with(const std::string& lines) {
  return "---\nKernels:\n  - Name: k\n" + lines + "...\n";
}
std::string argument(int size, int align, const std::string& kind) {
  return format("      - {{ Size: {}, Align: {}, ValueKind: {} }}\n", size, align, kind);
}

TEST(YamlMetadata, HoldsWhatTheNoteSaysOfAKernel) {
  const auto metadata = parse(
      "---\n"
      "Version:         [ 1, 0 ]\n"
      "Printf:          [ '1:1:4:%d\\n' ]\n"
      "Kernels:\n"
      "  - Name:            k\n"
      "    SymbolName:      'k@kd'\n"
      "    Language:        OpenCL C\n"
      "    LanguageVersion: [ 2, 0 ]\n"
      "    Attrs:\n"
      "      ReqdWorkGroupSize: [ 8, 4, 2 ]\n"
      "      VecTypeHint:     float4\n"
      "    Args:\n"
      "      - Name:            x\n"
      "        TypeName:        'float*'\n"
      "        Size:            8\n"
      "        Align:           8\n"
      "        ValueKind:       GlobalBuffer\n"
      "        AddrSpaceQual:   Global\n"
      "        IsConst:         true\n"
      "    CodeProps:\n"
      "      KernargSegmentSize: 20\n"
      "      GroupSegmentFixedSize: 512\n"
      "      PrivateSegmentFixedSize: 64\n"
      "      KernargSegmentAlign: 16\n"
      "      WavefrontSize:   64\n"
      "      NumSGPRs:        9\n"
      "      NumVGPRs:        6\n"
      "      MaxFlatWorkGroupSize: 256\n"
      "      IsDynamicCallStack: true\n"
      "...\n");
  ASSERT_TRUE(metadata.ok()) << error_text(metadata);
  ASSERT_EQ(metadata->kernels.size(), 1);
  const KernelMetadata& kernel = metadata->kernels[0];
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.symbol, "k@kd");
  EXPECT_EQ(kernel.kernarg_bytes, 20);
  EXPECT_EQ(kernel.lds_bytes, 512);
  EXPECT_EQ(kernel.scratch_bytes, 64);
  EXPECT_EQ(kernel.kernarg_alignment, 16);
  EXPECT_EQ(kernel.wave_width, 64);
  EXPECT_EQ(kernel.sgprs, 9);
  EXPECT_EQ(kernel.vgprs, 6);
  EXPECT_EQ(kernel.max_workgroup, 256);
  EXPECT_TRUE(kernel.uses_dynamic_stack);
  EXPECT_THAT(kernel.required_workgroup, ElementsAre(8, 4, 2));
  ASSERT_EQ(kernel.arguments.size(), 1);
  EXPECT_EQ(kernel.arguments[0].name, "x");
  EXPECT_EQ(kernel.arguments[0].type_name, "float*");
  EXPECT_EQ(kernel.arguments[0].kind, ValueKind::global_buffer);
  EXPECT_TRUE(kernel.arguments[0].is_const);
}

TEST(YamlMetadata, ArgumentsLieOneBehindTheOtherAsAligned) {
  const auto metadata =
      parse(kernel_with("    Args:\n" + argument(1, 1, "ByValue") + argument(4, 4, "ByValue") +
                        argument(16, 16, "ByValue") + argument(4, 4, "DynamicSharedPointer") +
                        argument(8, 8, "HiddenGlobalOffsetX") + argument(8, 8, "HiddenMultiGridSyncArg")));
  ASSERT_TRUE(metadata.ok()) << error_text(metadata);
  std::vector<std::uint32_t> offsets;
  std::vector<ValueKind> kinds;
  for (const Argument& one : metadata->kernels.at(0).arguments) {
    offsets.push_back(one.offset);
    kinds.push_back(one.kind);
  }
  EXPECT_THAT(offsets, ElementsAre(0, 4, 16, 32, 40, 48));
  EXPECT_THAT(kinds, ElementsAre(ValueKind::by_value, ValueKind::by_value, ValueKind::by_value,
                                 ValueKind::dynamic_shared_pointer, ValueKind::hidden_global_offset_x,
                                 ValueKind::hidden_multigrid_sync_arg));
}

TEST(YamlMetadata, AKindThatIsNotKnownKeepsItsName) {
  const auto metadata = parse(kernel_with("    Args:\n" + argument(8, 8, "Tensor")));
  ASSERT_TRUE(metadata.ok()) << error_text(metadata);
  EXPECT_EQ(metadata->kernels.at(0).arguments.at(0).kind, ValueKind::unknown);
  EXPECT_EQ(metadata->kernels.at(0).arguments.at(0).kind_name, "Tensor");
}

TEST(YamlMetadata, ThatIsWrongIsRefusedByWhatIsWrong) {
  EXPECT_THAT(error_text(parse("a: ]\n")), HasSubstr("metadata note: is not YAML at line 1"));
  EXPECT_THAT(error_text(parse("text")), HasSubstr("is no map"));
  EXPECT_THAT(error_text(parse("Kernels:\n  - Language: C\n")), HasSubstr("kernel 0 has no name"));
  EXPECT_THAT(error_text(parse(kernel_with("    CodeProps: { NumSGPRs: many }\n"))),
              HasSubstr("NumSGPRs of kernel 0 is no number of 32 bits"));
  EXPECT_THAT(error_text(parse(kernel_with("    CodeProps: { NumSGPRs: 4294967296 }\n"))), HasSubstr("32 bits"));
  EXPECT_THAT(error_text(parse(kernel_with("    Attrs: { ReqdWorkGroupSize: [1, 2, 3, 4] }\n"))),
              HasSubstr("more than three"));
  EXPECT_THAT(error_text(parse(kernel_with("    Args:\n" + argument(8, 0, "ByValue")))),
              HasSubstr("argument 0 of kernel 0 has no Size or no Align"));
  EXPECT_THAT(error_text(parse(kernel_with("    Args:\n" + argument(4, 4, "ByValue") +
                                           "      - { Size: 4294967295, Align: 4294967295, ValueKind: ByValue }\n"))),
              HasSubstr("argument 1 of kernel 0 lies beyond 4 GiB"));
}

TEST(YamlMetadata, WhatOnlyCostsTimeIsRefused) {
  EXPECT_THAT(error_text(parse("a: &a [x, x]\nb: [*a, *a]\n")), HasSubstr("alias"));
  EXPECT_THAT(error_text(parse("a: " + std::string(100'000, '['))), HasSubstr("nests deeper than 32 levels"));
}

TEST(YamlMetadata, ANoteThatWouldTakeMuchMemoryIsRefusedByItsSize) {
  const std::string kernels = kernel_with("");
  EXPECT_TRUE(parse(kernels + std::string((4 << 20) - kernels.size(), '\0')).ok());
  EXPECT_EQ(error_text(parse(kernels + std::string((4 << 20) - kernels.size() + 1, '\0'))),
            "unsupported: metadata note: has 4194305 bytes of YAML; at most 4194304 are read");
}

TEST(YamlMetadata, ZerosBehindTheTextAreNoneOfIt) {
  EXPECT_TRUE(parse(kernel_with("") + std::string(3, '\0')).ok());
}

}  // namespace
}  // namespace wavegate::amdgpu::object
