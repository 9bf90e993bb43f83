#include "wavegate/amdgpu/object/metadata.h"

#include <gmock/gmock.h>

#include "amdgpu/object/testing.h"

namespace wavegate::amdgpu::object {
namespace {

using pack::argument;
using pack::list;
using pack::map;
using pack::number;
using pack::text;
using testing::ElementsAre;
using testing::HasSubstr;

std::string document(const std::vector<std::string>& kernels) {
  return map({{"amdhsa.version", list({number(1), number(2)})},
              {"amdhsa.target", text("amdgcn-amd-amdhsa--gfx1030")},
              {"amdhsa.kernels", list(kernels)}});
}

Result<Metadata> parse(const std::string& bytes) {
  return parse_metadata(to_bytes(bytes));
}

TEST(Metadata, HoldsWhatTheNoteSaysOfAKernel) {
  const auto metadata = parse(document({map({{".name", text("k")},
                                             {".symbol", text("k.kd")},
                                             {".kernarg_segment_size", number(280)},
                                             {".kernarg_segment_align", number(8)},
                                             {".group_segment_fixed_size", number(512)},
                                             {".private_segment_fixed_size", number(64)},
                                             {".wavefront_size", number(32)},
                                             {".sgpr_count", number(18)},
                                             {".vgpr_count", number(10)},
                                             {".agpr_count", number(4)},
                                             {".sgpr_spill_count", number(1)},
                                             {".vgpr_spill_count", number(2)},
                                             {".max_flat_workgroup_size", number(1024)},
                                             {".reqd_workgroup_size", list({number(8), number(4), number(2)})},
                                             {".uses_dynamic_stack", "\xc3"},
                                             {".language_version", list({number(2), number(0)})},
                                             {".args", list({argument(0, 8, "global_buffer")})}})}));
  ASSERT_TRUE(metadata.ok()) << error_text(metadata);
  EXPECT_EQ(metadata->target, "amdgcn-amd-amdhsa--gfx1030");
  ASSERT_EQ(metadata->kernels.size(), 1);
  const KernelMetadata& kernel = metadata->kernels[0];
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.symbol, "k.kd");
  EXPECT_EQ(kernel.kernarg_bytes, 280);
  EXPECT_EQ(kernel.kernarg_alignment, 8);
  EXPECT_EQ(kernel.lds_bytes, 512);
  EXPECT_EQ(kernel.scratch_bytes, 64);
  EXPECT_EQ(kernel.wave_width, 32);
  EXPECT_EQ(kernel.sgprs, 18);
  EXPECT_EQ(kernel.vgprs, 10);
  EXPECT_EQ(kernel.agprs, 4);
  EXPECT_EQ(kernel.sgpr_spills, 1);
  EXPECT_EQ(kernel.vgpr_spills, 2);
  EXPECT_EQ(kernel.max_workgroup, 1024);
  EXPECT_THAT(kernel.required_workgroup, ElementsAre(8, 4, 2));
  EXPECT_TRUE(kernel.uses_dynamic_stack);
  EXPECT_EQ(kernel.arguments.size(), 1);
}

TEST(Metadata, KnowsEveryKindOfArgumentOfVersion5) {
  // LLVM's AMDGPUUsage, "AMDHSA Code Object V5 Kernel Argument Metadata Map Additions and Changes", and V3's.
  const std::vector<std::string> names = {"by_value",
                                          "global_buffer",
                                          "dynamic_shared_pointer",
                                          "sampler",
                                          "image",
                                          "pipe",
                                          "queue",
                                          "hidden_global_offset_x",
                                          "hidden_global_offset_y",
                                          "hidden_global_offset_z",
                                          "hidden_none",
                                          "hidden_printf_buffer",
                                          "hidden_hostcall_buffer",
                                          "hidden_default_queue",
                                          "hidden_completion_action",
                                          "hidden_multigrid_sync_arg",
                                          "hidden_block_count_x",
                                          "hidden_block_count_y",
                                          "hidden_block_count_z",
                                          "hidden_group_size_x",
                                          "hidden_group_size_y",
                                          "hidden_group_size_z",
                                          "hidden_remainder_x",
                                          "hidden_remainder_y",
                                          "hidden_remainder_z",
                                          "hidden_grid_dims",
                                          "hidden_heap_v1",
                                          "hidden_dynamic_lds_size",
                                          "hidden_private_base",
                                          "hidden_shared_base",
                                          "hidden_queue_ptr"};
  std::vector<std::string> arguments;
  for (std::uint32_t i = 0; i < names.size(); ++i) arguments.push_back(argument(i * 8, 8, names[i]));
  const auto metadata = parse(document({map({{".name", text("k")}, {".args", list(arguments)}})}));
  ASSERT_TRUE(metadata.ok()) << error_text(metadata);
  const auto& read = metadata->kernels.at(0).arguments;
  ASSERT_EQ(read.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_NE(read[i].kind, ValueKind::unknown) << names[i];
    EXPECT_EQ(to_string(read[i].kind), names[i]);
    EXPECT_EQ(is_hidden(read[i].kind), names[i].starts_with("hidden")) << names[i];
  }
}

TEST(Metadata, KeepsTheNameOfAKindThatItDoesNotKnow) {
  const auto metadata = parse(document({map({{".name", text("k")}, {".args", list({argument(0, 8, "telepathy")})}})}));
  ASSERT_TRUE(metadata.ok()) << error_text(metadata);
  EXPECT_EQ(metadata->kernels[0].arguments.at(0).kind, ValueKind::unknown);
  EXPECT_EQ(metadata->kernels[0].arguments.at(0).kind_name, "telepathy");
}

TEST(Metadata, HasArgumentsByOffset) {
  const auto metadata = parse(document(
      {map({{".name", text("k")}, {".args", list({argument(8, 4, "by_value"), argument(0, 8, "global_buffer")})}})}));
  ASSERT_TRUE(metadata.ok()) << error_text(metadata);
  EXPECT_EQ(metadata->kernels[0].arguments.at(0).offset, 0);
  EXPECT_EQ(metadata->kernels[0].arguments.at(1).offset, 8);
}

TEST(Metadata, PassesOverWhatItDoesNotKnow) {
  const std::string strange = map({{".deep", list({map({{".name", text("not a kernel")}}), list({"\xc0", "\xc2"})})},
                                   {".bytes", std::string("\xc4\x02\x00\x01", 4)},
                                   {".half", std::string("\xca\x3f\x00\x00\x00", 5)}});
  const auto metadata = parse(
      map({{"later.section", strange}, {"amdhsa.kernels", list({map({{".later", strange}, {".name", text("k")}})})}}));
  ASSERT_TRUE(metadata.ok()) << error_text(metadata);
  ASSERT_EQ(metadata->kernels.size(), 1);
  EXPECT_EQ(metadata->kernels[0].name, "k");
}

TEST(Metadata, ThatIsWrongIsRefusedByWhatIsWrong) {
  const auto kernel = [](const std::string& key, const std::string& value) {
    return document({map({{".name", text("k")}, {key, value}})});
  };
  const std::pair<std::string, std::string_view> cases[] = {
      {"", "is not MessagePack"},
      {"\xc1", "is not MessagePack at byte 1"},
      {list({}), "is no map"},
      {number(7), "is no map"},
      {document({map({})}), "kernel 0 has no name"},
      {kernel(".wavefront_size", "\xff"), ".wavefront_size of kernel 0 is no number of 32 bits"},
      {kernel(".vgpr_count", std::string("\xcf\0\0\0\1\0\0\0\0", 9)), ".vgpr_count of kernel 0 is no number"},
      {kernel(".reqd_workgroup_size", list({number(1), number(1), number(1), number(1)})), "more than three"},
      {kernel(".args", list({map({{".size", number(4)}, {".value_kind", text("by_value")}})})),
       "argument 0 of kernel 0 has no .offset"},
      {kernel(".args", list({map({{".offset", number(4)}, {".value_kind", text("by_value")}})})), "has no .size"},
      {kernel(".args", list({map({{".offset", number(4)}, {".size", number(4)}})})), "has no .value_kind"},
  };
  for (const auto& [bytes, says] : cases) {
    const auto metadata = parse(bytes);
    EXPECT_THAT(error_text(metadata), HasSubstr(says));
    EXPECT_THAT(error_text(metadata), HasSubstr("invalid input: metadata note: "));
  }
}

TEST(Metadata, NestedWithoutEndIsRefusedBeforeTheStackIsFull) {
  EXPECT_THAT(error_text(parse(std::string(8'000'000, '\x91'))), HasSubstr("is no map"));
  EXPECT_THAT(error_text(parse("\x81\xa1k" + std::string(8'000'000, '\x91'))),
              HasSubstr("nests deeper than 32 levels"));
}

TEST(Metadata, OfMoreKernelsThanAnyFileHasIsRefused) {
  std::string kernels = std::string("\xdd\x00\x10\x00\x01", 5);  // 2^20 + 1
  for (int i = 0; i <= 1 << 20; ++i) kernels += "\x81\xa5.name\xa1k";
  EXPECT_THAT(error_text(parse("\x81" + text("amdhsa.kernels") + kernels)), HasSubstr("more than 1048576 kernels"));
}

TEST(Metadata, ThatClaimsMoreThanThereIsEndsWhereTheBytesEnd) {
  EXPECT_THAT(error_text(parse("\xdf\xff\xff\xff\xff")), HasSubstr("is not MessagePack"));
  EXPECT_THAT(error_text(parse("\x81\xdb\xff\xff\xff\xff"
                               "abc")),
              HasSubstr("is not MessagePack"));
  EXPECT_THAT(error_text(parse("\x81\xa1k\xdd\xff\xff\xff\xff\x01")), HasSubstr("is not MessagePack"));
}

}  // namespace
}  // namespace wavegate::amdgpu::object
