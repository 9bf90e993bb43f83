#include "wavegate/amdgpu/object/registers.h"

#include <gmock/gmock.h>

namespace wavegate::amdgpu::object {
namespace {

using isa::Target;
using isa::WaveWidth;

Registers with_rsrc1(std::uint32_t rsrc1, Target target, WaveWidth wave) {
  Descriptor descriptor;
  descriptor.rsrc1 = rsrc1;
  return decode_registers(descriptor, target, wave);
}

Registers with_rsrc2(std::uint32_t rsrc2) {
  Descriptor descriptor;
  descriptor.rsrc2 = rsrc2;
  return decode_registers(descriptor, Target::gfx1030, WaveWidth::wave32);
}

TEST(FloatMode, IsReadFromItsFields) {
  // Rounding 1 and 2, denormals 2 and 1, DX10_CLAMP, FP16_OVFL; not IEEE_MODE.
  const Registers registers =
      with_rsrc1(0x1 << 12 | 0x2 << 14 | 0x2 << 16 | 0x1 << 18 | 1 << 21 | 1 << 26, Target::gfx900, WaveWidth::wave64);
  EXPECT_EQ(registers.float_mode, (FloatMode{RoundMode::plus_infinity, RoundMode::minus_infinity,
                                             DenormMode::flush_sources, DenormMode::flush_results, true, false, true}));
}

TEST(FloatMode, OfClangSCodeKeepsAllDenormals) {
  // What clang-19 makes for gfx1030: FLOAT_DENORM_MODE_32 and _16_64 3, DX10_CLAMP and IEEE_MODE 1.
  const Registers registers = with_rsrc1(0x60af0040, Target::gfx1030, WaveWidth::wave32);
  EXPECT_EQ(registers.float_mode, (FloatMode{RoundMode::nearest_even, RoundMode::nearest_even, DenormMode::keep,
                                             DenormMode::keep, true, true, false}));
}

TEST(FloatMode, OfGfx12HasNeitherClampNorIeeeBits) {
  const Registers registers = with_rsrc1(1 << 21 | 1 << 23, Target::gfx1200, WaveWidth::wave32);
  EXPECT_EQ(registers.float_mode.dx10_clamp, std::nullopt);
  EXPECT_EQ(registers.float_mode.ieee, std::nullopt);
}

/// GRANULATED_WORKITEM_VGPR_COUNT as llvm-mc-19 encodes `.amdhsa_next_free_vgpr 24`, and what that hands out.
TEST(VgprCount, FollowsTheGranuleOfTheTargetAndTheWave) {
  EXPECT_EQ(with_rsrc1(5, Target::gfx900, WaveWidth::wave64).vgprs, 24);
  EXPECT_EQ(with_rsrc1(2, Target::gfx90a, WaveWidth::wave64).vgprs, 24);
  EXPECT_EQ(with_rsrc1(2, Target::gfx942, WaveWidth::wave64).vgprs, 24);
  EXPECT_EQ(with_rsrc1(5, Target::gfx1030, WaveWidth::wave64).vgprs, 24);
  EXPECT_EQ(with_rsrc1(2, Target::gfx1030, WaveWidth::wave32).vgprs, 24);
  EXPECT_EQ(with_rsrc1(2, Target::gfx1100, WaveWidth::wave32).vgprs, 24);
  EXPECT_EQ(with_rsrc1(5, Target::gfx1200, WaveWidth::wave64).vgprs, 24);
}

TEST(SgprCount, IsInSixteensOnGfx9AndFixedSinceGfx10) {
  EXPECT_EQ(with_rsrc1(2 << 6, Target::gfx900, WaveWidth::wave64).sgprs, 32);
  EXPECT_EQ(with_rsrc1(12 << 6, Target::gfx906, WaveWidth::wave64).sgprs, 112);
  // clang-19 writes 1 here for gfx1030, which llvm-objdump-19 refuses.
  EXPECT_EQ(with_rsrc1(1 << 6, Target::gfx1030, WaveWidth::wave32).sgprs, 128);
}

TEST(Rsrc1, TellsHowWavesOfGfx10AreScheduled) {
  const Registers registers = with_rsrc1(1u << 29 | 1u << 31 | 2u << 10 | 1u << 20, Target::gfx1030, WaveWidth::wave32);
  EXPECT_TRUE(registers.wgp_mode);
  EXPECT_FALSE(registers.ordered_memory);
  EXPECT_TRUE(registers.forward_progress);
  EXPECT_EQ(registers.priority, 2);
  EXPECT_TRUE(registers.privileged);
  EXPECT_FALSE(with_rsrc1(1u << 29, Target::gfx900, WaveWidth::wave64).wgp_mode) << "gfx9 has no such bit";
}

TEST(Rsrc2, TellsWhatAWaveStartsWith) {
  const Registers registers = with_rsrc2(1 | 13 << 1 | 1 << 8 | 1 << 10 | 1 << 11 | 3 << 15 | 0x50u << 24);
  EXPECT_TRUE(registers.scratch);
  EXPECT_EQ(registers.user_sgprs, 13);
  EXPECT_FALSE(registers.workgroup_id_x);
  EXPECT_TRUE(registers.workgroup_id_y);
  EXPECT_FALSE(registers.workgroup_id_z);
  EXPECT_TRUE(registers.workgroup_info);
  EXPECT_EQ(registers.work_item_dimensions, 2);
  EXPECT_EQ(registers.lds_bytes, 1536);
  EXPECT_EQ(registers.exceptions, 0x50);
}

TEST(Rsrc2, AllowsNoMoreThanThreeDimensions) {
  EXPECT_EQ(with_rsrc2(3 << 11).work_item_dimensions, 3);
}

TEST(Rsrc3, TellsWhereAccumulationRegistersStart) {
  Descriptor descriptor;
  descriptor.rsrc3 = 5 | 1 << 16;  // .amdhsa_accum_offset 24, .amdhsa_tg_split 1
  const Registers registers = decode_registers(descriptor, Target::gfx942, WaveWidth::wave64);
  EXPECT_EQ(registers.accumulation_offset, 24);
  EXPECT_TRUE(registers.split_workgroups);
  EXPECT_EQ(registers.shared_vgprs, 0);
}

TEST(Rsrc3, SharesRegistersInWave64OfGfx10Alone) {
  Descriptor descriptor;
  descriptor.rsrc3 = 3;
  EXPECT_EQ(decode_registers(descriptor, Target::gfx1030, WaveWidth::wave64).shared_vgprs, 24);
  EXPECT_EQ(decode_registers(descriptor, Target::gfx1030, WaveWidth::wave32).shared_vgprs, 0);
  EXPECT_EQ(decode_registers(descriptor, Target::gfx1200, WaveWidth::wave64).shared_vgprs, 0);
}

}  // namespace
}  // namespace wavegate::amdgpu::object
