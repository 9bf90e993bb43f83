#include "wavegate/amdgpu/isa/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wavegate/amdgpu/isa/opcode.h"

namespace wavegate::amdgpu::isa {
namespace {

using testing::HasSubstr;

TEST(Target, AnAliasSharesATable) {
  const auto id = parse_target("gfx1031");
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(id->target, Target::gfx1030);
  EXPECT_EQ(id->processor, "gfx1031");
}

TEST(Target, SettingsAreRead) {
  const auto id = parse_target("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(id->target, Target::gfx90a);
  EXPECT_EQ(id->sramecc, Setting::on);
  EXPECT_EQ(id->xnack, Setting::off);
}

TEST(Target, AnUnknownProcessorIsUnsupportedByName) {
  const auto id = parse_target("gfx1300");
  ASSERT_FALSE(id.ok());
  EXPECT_EQ(id.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(id.error().to_string(), HasSubstr("gfx1300"));
}

TEST(Target, AnUnknownSettingIsRefused) {
  for (const char* text : {"gfx90a:", "gfx90a:fast+", "gfx90a:xnack", "gfx90a:xnack+:"})
    EXPECT_FALSE(parse_target(text).ok()) << text;
}

TEST(Target, EveryTargetIsFoundByNameAndMachine) {
  for (int i = 0; i < kTargetCount; ++i) {
    const TargetInfo& target = info(static_cast<Target>(i));
    EXPECT_EQ(target.target, static_cast<Target>(i));
    const auto id = parse_target(target.name);
    ASSERT_TRUE(id.ok());
    EXPECT_EQ(id->target, target.target);
    const auto found = find_target(target.elf_machine);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->processor, target.name);
  }
  EXPECT_FALSE(find_target(0).has_value());
}

TEST(Opcode, NamesOfAllGenerationsFindTheirOpcode) {
  EXPECT_EQ(parse_opcode("v_add_f32"), Opcode::v_add_f32);
  EXPECT_EQ(parse_opcode("global_load_b32"), Opcode::global_load_dword);
  EXPECT_EQ(parse_opcode("s_and_not1_b64"), Opcode::s_andn2_b64);
  EXPECT_EQ(parse_opcode("v_add_u32"), Opcode::v_add_nc_u32);
  EXPECT_EQ(parse_opcode("v_none"), std::nullopt);
}

TEST(Opcode, WhatChangedItsMeaningIsNotRenamed) {
  EXPECT_NE(parse_opcode("ds_cmpstore_b32"), parse_opcode("ds_cmpst_b32"));
  EXPECT_NE(parse_opcode("v_mad_mix_f32"), parse_opcode("v_fma_mix_f32"));
}

TEST(Opcode, FlagsSayWhatIsWrittenBesides) {
  EXPECT_TRUE(info(Opcode::s_add_u32).has(OpcodeFlags::writes_scc));
  EXPECT_FALSE(info(Opcode::s_mul_i32).has(OpcodeFlags::writes_scc));
  EXPECT_TRUE(info(Opcode::s_and_saveexec_b64).has(OpcodeFlags::writes_exec));
  EXPECT_TRUE(info(Opcode::v_cmpx_eq_u32).has(OpcodeFlags::writes_exec));
  EXPECT_TRUE(info(Opcode::v_fmac_f32).has(OpcodeFlags::reads_destination));
  EXPECT_TRUE(info(Opcode::s_endpgm).has(OpcodeFlags::terminator));
  EXPECT_FALSE(info(Opcode::s_cbranch_scc0).has(OpcodeFlags::terminator));
}

}  // namespace
}  // namespace wavegate::amdgpu::isa
