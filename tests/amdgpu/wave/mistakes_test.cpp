#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "wavegate/amdgpu/object/sidecar.h"
#include "wavegate/amdgpu/wave/emulate.h"
#include "wavegate/amdgpu/wave/state.h"
#include "wavegate/amdgpu/wave/step.h"

/// What other programs that run this machine code got wrong. Programs are words that llvm-mc made of the text beside
/// them; what they should give is worked out by hand.
namespace wavegate::amdgpu::wave {
namespace {

using Words = std::vector<std::uint32_t>;

/// A wave's registers at its end.
struct Final {
  std::array<std::uint32_t, scalar::kCount> s{};
  std::array<Row, 8> v{};
  std::uint64_t exec = 0;
};

struct Shader {
  const char* processor;
  unsigned lanes;
  Words code;
  std::array<std::uint32_t, 3> group{1, 1, 1};
  std::array<std::uint32_t, 3> threads{0, 0, 0};  ///< 0: one group
  std::uint32_t rsrc2 = 0;
  std::uint32_t lds_bytes = 0;
};

struct Outcome {
  std::vector<Final> waves;  ///< in the order of groups
  std::vector<Finding> findings;
};

Result<Outcome> run_shader(const Shader& shader) {
  object::ComputeState state;
  state.target.processor = shader.processor;
  // 32 or 64 VGPRs; denormals are kept.
  state.pgm_rsrc1 = 7 | 7u << 6 | 0xf0u << 12;
  state.pgm_rsrc2 = shader.rsrc2;
  state.num_thread = shader.group;
  state.wave32 = shader.lanes == 32;
  state.lds_bytes = shader.lds_bytes;
  WAVEGATE_TRY(object::CodeObject object, object::make_code_object(std::as_bytes(std::span(shader.code)), state));
  GuestMemory memory;
  WAVEGATE_TRY(const auto module, Module::load(std::move(object), memory));
  Outcome outcome;
  Options options;
  options.observe = [&](const Wave& wave, const Step&) {
    if (wave.status != Status::ended) return;
    Final& final = outcome.waves.emplace_back();
    final.s = wave.scalars;
    for (std::size_t i = 0; i < final.v.size(); ++i) final.v[i] = wave.vectors[i];
    final.exec = wave.exec();
  };
  Launch launch{"shader", shader.threads[0] != 0 ? shader.threads : shader.group, shader.group};
  WAVEGATE_TRY(const Report report, run(*module, memory, launch, options));
  outcome.findings = report.findings;
  return outcome;
}

/// Runs a shader that must succeed with so many waves.
std::vector<Final> finals(const Shader& shader, std::size_t waves = 1) {
  auto outcome = run_shader(shader);
  EXPECT_TRUE(outcome.ok()) << outcome.error().to_string();
  if (!outcome.ok()) return std::vector<Final>(waves);
  EXPECT_EQ(outcome->waves.size(), waves);
  outcome->waves.resize(waves);
  return outcome->waves;
}

// tinygrad's emulator: its loop over lanes read those that it had written.
TEST(Mistakes, AnInPlacePermuteReadsNoLaneThatItHasWritten) {
  const Words code = {
      0x7e020281,              // v_mov_b32_e32 v1, 1
      0x4a0202fa, 0xff011101,  // v_add_nc_u32_dpp v1, v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf
      0x4a0202fa, 0xff011201,  // v_add_nc_u32_dpp v1, v1, v1 row_shr:2 row_mask:0xf bank_mask:0xf
      0x7e040300,              // v_mov_b32_e32 v2, v0
      0x7e0402fa, 0xff009302,  // v_mov_b32_dpp v2, v2 quad_perm:[3,0,1,2] row_mask:0xf bank_mask:0xf
      0x7e060300,              // v_mov_b32_e32 v3, v0
      0x4a08009f,              // v_add_nc_u32_e32 v4, 31, v0
      0x34080882,              // v_lshlrev_b32_e32 v4, 2, v4
      0xdacc0000, 0x03000304,  // ds_bpermute_b32 v3, v4, v3
      0xbf8cc07f,              // s_waitcnt lgkmcnt(0)
      0xbf810000,              // s_endpgm
  };
  const Final wave = finals({"gfx1030", 32, code, {32, 1, 1}})[0];
  constexpr std::uint32_t kSums[16] = {1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(wave.v[1].lane[i], kSums[i % 16]) << i;
    EXPECT_EQ(wave.v[2].lane[i], i % 4 == 0 ? i + 3 : i - 1) << i;
    EXPECT_EQ(wave.v[3].lane[i], i == 0 ? 31 : i - 1) << i;
  }
}

// tinygrad's emulator and remu: kernels with a fence did not run.
TEST(Mistakes, AFencesInvalidationOfCachesIsDecodedAndRun) {
  const Words gfx10 = {
      0xe1c40000, 0x00000000,  // buffer_gl0_inv
      0xe1c80000, 0x00000000,  // buffer_gl1_inv
      0x7e020287,              // v_mov_b32_e32 v1, 7
      0xbf810000,              // s_endpgm
  };
  const Words gfx11 = {
      0xe0ac0000, 0x00000000,  // buffer_gl0_inv
      0xe0b00000, 0x00000000,  // buffer_gl1_inv
      0x7e020287,              // v_mov_b32_e32 v1, 7
      0xbfb00000,              // s_endpgm
  };
  EXPECT_EQ(finals({"gfx1030", 32, gfx10})[0].v[1].lane[0], 7u);
  EXPECT_EQ(finals({"gfx1100", 32, gfx11})[0].v[1].lane[0], 7u);
}

// KytyPS5 #361: a lane's number was the host subgroup's, which begins again in the middle of a wave64.
TEST(Mistakes, LaneNumbersGoOnInTheUpperHalfOfAWave64) {
  const Words code = {
      0xd7650001, 0x000100c1,  // v_mbcnt_lo_u32_b32 v1, -1, 0
      0xd7660001, 0x000202c1,  // v_mbcnt_hi_u32_b32 v1, -1, v1
      0xbf810000,              // s_endpgm
  };
  const std::vector<Final> waves = finals({"gfx1030", 64, code, {128, 1, 1}}, 2);
  for (const Final& wave : waves)
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(wave.v[1].lane[i], i);
}

// `32 < lane` where `32 <= lane` was meant.
TEST(Mistakes, Lane32HasItsBitInTheHighWordOfAMask) {
  const Words code = {
      0x7e040289,              // v_mov_b32_e32 v2, 9
      0xbeea0380,              // s_mov_b32 vcc_lo, 0
      0xbeeb0381,              // s_mov_b32 vcc_hi, 1
      0x02020483,              // v_cndmask_b32_e32 v1, 3, v2, vcc
      0xd4c20000, 0x000200a0,  // v_cmp_eq_u32_e64 s[0:1], 32, v0
      0x7e060280,              // v_mov_b32_e32 v3, 0
      0xbefe0380,              // s_mov_b32 exec_lo, 0
      0xbeff0381,              // s_mov_b32 exec_hi, 1
      0x7e060285,              // v_mov_b32_e32 v3, 5
      0xbf810000,              // s_endpgm
  };
  const Final wave = finals({"gfx1030", 64, code, {64, 1, 1}})[0];
  EXPECT_EQ(wave.s[0], 0u);
  EXPECT_EQ(wave.s[1], 1u);
  for (std::uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(wave.v[1].lane[i], i == 32 ? 9u : 3u) << i;
    EXPECT_EQ(wave.v[3].lane[i], i == 32 ? 5u : 0u) << i;
  }
}

// KytyPS5 #463.
TEST(Mistakes, ACompareOfAWave32LeavesVccHiAlone) {
  const Words code = {
      0xb06b1234,              // s_movk_i32 vcc_hi, 0x1234
      0xb0014321,              // s_movk_i32 s1, 0x4321
      0x7d880083,              // v_cmp_gt_u32_e32 vcc_lo, 3, v0
      0xd4c10000, 0x0002009d,  // v_cmp_lt_u32_e64 s0, 29, v0
      0xbf810000,              // s_endpgm
  };
  const Final wave = finals({"gfx1030", 32, code, {32, 1, 1}})[0];
  EXPECT_EQ(wave.s[scalar::kVcc], 7u);
  EXPECT_EQ(wave.s[scalar::kVcc + 1], 0x1234u);
  EXPECT_EQ(wave.s[0], 0xc0000000u);
  EXPECT_EQ(wave.s[1], 0x4321u);
}

// shadPS4 #4675.
TEST(Mistakes, ACmpxEnablesNoLaneThatWasDisabled) {
  const Words gfx10 = {
      0xbefe03ff, 0x0000f0f0,  // s_mov_b32 exec_lo, 0xf0f0
      0xbeff0380,              // s_mov_b32 exec_hi, 0
      0x7da8008a,              // v_cmpx_gt_u32_e32 10, v0
      0xbf810000,              // s_endpgm
  };
  const Words gfx9 = {
      0xbefe00ff, 0x0000f0f0,  // s_mov_b32 exec_lo, 0xf0f0
      0xbeff0080,              // s_mov_b32 exec_hi, 0
      0x7db8008a,              // v_cmpx_gt_u32_e32 vcc, 10, v0
      0xbf810000,              // s_endpgm
  };
  EXPECT_EQ(finals({"gfx1030", 64, gfx10, {64, 1, 1}})[0].exec, 0xf0u);
  const Final wave = finals({"gfx900", 64, gfx9, {64, 1, 1}})[0];
  EXPECT_EQ(wave.exec, 0xf0u);
  EXPECT_EQ(wave.s[scalar::kVcc], 0xf0u);
  EXPECT_EQ(wave.s[scalar::kVcc + 1], 0u);
}

// shadPS4 #5021: each lane had a condition code of its own bit.
TEST(Mistakes, TheConditionCodeOfAMasksAndIsOfTheWholeMask) {
  const Words code = {
      0xbefe0481,  // s_mov_b64 exec, 1
      0xb00200ff,  // s_movk_i32 s2, 0xff
      0xb0030100,  // s_movk_i32 s3, 0x100
      0xb0047f00,  // s_movk_i32 s4, 0x7f00
      0xb0050100,  // s_movk_i32 s5, 0x100
      0x87860402,  // s_and_b64 s[6:7], s[2:3], s[4:5]
      0x85088281,  // s_cselect_b32 s8, 1, 2
      0xb0050600,  // s_movk_i32 s5, 0x600
      0x87860402,  // s_and_b64 s[6:7], s[2:3], s[4:5]
      0x85098281,  // s_cselect_b32 s9, 1, 2
      0xbf810000,  // s_endpgm
  };
  const Final wave = finals({"gfx1030", 64, code, {64, 1, 1}})[0];
  EXPECT_EQ(wave.s[8], 1u);
  EXPECT_EQ(wave.s[9], 2u);
}

// shadPS4 #4737.
TEST(Mistakes, MbcntAddsToItsAccumulator) {
  const Words code = {
      0xb000000f,              // s_movk_i32 s0, 0xf
      0xb0010003,              // s_movk_i32 s1, 0x3
      0x7e0202ff, 0x00000064,  // v_mov_b32_e32 v1, 0x64
      0xd7650002, 0x00020200,  // v_mbcnt_lo_u32_b32 v2, s0, v1
      0xd7660003, 0x00020201,  // v_mbcnt_hi_u32_b32 v3, s1, v1
      0xd7660004, 0x00020401,  // v_mbcnt_hi_u32_b32 v4, s1, v2
      0xbf810000,              // s_endpgm
  };
  const Final wave = finals({"gfx1030", 64, code, {64, 1, 1}})[0];
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t low = i < 4 ? i : 4, high = i <= 32 ? 0 : i == 33 ? 1 : 2;
    EXPECT_EQ(wave.v[2].lane[i], 100 + low) << i;
    EXPECT_EQ(wave.v[3].lane[i], 100 + high) << i;
    EXPECT_EQ(wave.v[4].lane[i], 100 + low + high) << i;
  }
}

// shadPS4 #4796.
TEST(Mistakes, LdsOutOfRangeReadsZero) {
  const Words code = {
      0x34020082,              // v_lshlrev_b32_e32 v1, 2, v0
      0x7e0402ff, 0x0000004d,  // v_mov_b32_e32 v2, 0x4d
      0x7e0602c1,              // v_mov_b32_e32 v3, -1
      0xd8340000, 0x00000201,  // ds_write_b32 v1, v2
      0xbf8cc07f,              // s_waitcnt lgkmcnt(0)
      0xd8d80000, 0x03000001,  // ds_read_b32 v3, v1
      0xbf8cc07f,              // s_waitcnt lgkmcnt(0)
      0xbf810000,              // s_endpgm
  };
  Shader shader{"gfx1030", 32, code, {32, 1, 1}};
  shader.lds_bytes = 64;
  const auto outcome = run_shader(shader);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  ASSERT_EQ(outcome->waves.size(), 1u);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(outcome->waves[0].v[3].lane[i], i < 16 ? 77u : 0u) << i;
  EXPECT_FALSE(outcome->findings.empty());
}

// shadPS4 #4675.
TEST(Mistakes, AMaskSpilledThroughLanesComesBackWhateverExecIs) {
  const Words code = {
      0xbe8203ff, 0x80000001,  // s_mov_b32 s2, 0x80000001
      0xbe8303ff, 0x40000002,  // s_mov_b32 s3, 0x40000002
      0xbefe0480,              // s_mov_b64 exec, 0
      0xd7610005, 0x00010602,  // v_writelane_b32 v5, s2, 3
      0xd7610005, 0x00015003,  // v_writelane_b32 v5, s3, 40
      0xbe820480,              // s_mov_b64 s[2:3], 0
      0xd7600004, 0x00010705,  // v_readlane_b32 s4, v5, 3
      0xd7600005, 0x00015105,  // v_readlane_b32 s5, v5, 40
      0xbefe04c1,              // s_mov_b64 exec, -1
      0x7e020280,              // v_mov_b32_e32 v1, 0
      0xbefe0404,              // s_mov_b64 exec, s[4:5]
      0x7e020281,              // v_mov_b32_e32 v1, 1
      0xbf810000,              // s_endpgm
  };
  const Final wave = finals({"gfx1030", 64, code, {64, 1, 1}})[0];
  EXPECT_EQ(wave.exec, 0x4000000280000001u);
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(wave.v[1].lane[i], i == 0 || i == 31 || i == 33 || i == 62 ? 1u : 0u) << i;
}

// MGPUSim #269: threadIdx.y read as 0.
TEST(Mistakes, WorkItemsOfThreeDimensionsKnowAllOfThem) {
  // Groups' ids of x, y and z in SGPRs, work-items' ids of x, y and z in VGPRs.
  constexpr std::uint32_t kIds = 7u << 7 | 2u << 11;
  const Words apart = {
      0x7e060300,  // v_mov_b32_e32 v3, v0
      0x7e080301,  // v_mov_b32_e32 v4, v1
      0x7e0a0302,  // v_mov_b32_e32 v5, v2
      0xbf810000,  // s_endpgm
  };
  const Words packed = {
      0x360600ff, 0x000003ff,  // v_and_b32_e32 v3, 0x3ff, v0
      0xd6100004, 0x02291500,  // v_bfe_u32 v4, v0, 10, 10
      0xd6100005, 0x02292900,  // v_bfe_u32 v5, v0, 20, 10
      0xbfb00000,              // s_endpgm
  };
  for (const Shader& shader : {Shader{"gfx1030", 32, apart, {4, 2, 3}, {8, 4, 6}, kIds},
                               Shader{"gfx1100", 32, packed, {4, 2, 3}, {8, 4, 6}, kIds}}) {
    const std::vector<Final> waves = finals(shader, 8);
    for (std::uint32_t group = 0; group < 8; ++group) {
      const Final& wave = waves[group];
      EXPECT_EQ(wave.s[0], group % 2);
      EXPECT_EQ(wave.s[1], group / 2 % 2);
      EXPECT_EQ(wave.s[2], group / 4);
      for (std::uint32_t i = 0; i < 24; ++i) {
        EXPECT_EQ(wave.v[3].lane[i], i % 4) << shader.processor << " " << i;
        EXPECT_EQ(wave.v[4].lane[i], i / 4 % 2) << shader.processor << " " << i;
        EXPECT_EQ(wave.v[5].lane[i], i / 8) << shader.processor << " " << i;
      }
    }
  }
}

// The reciprocal is not exact; what compilers put behind it makes the quotient so.
TEST(Mistakes, AnIntegerQuotientThroughAReciprocalIsExact) {
  const Words code = {
      0xd5690001, 0x00020100,  // v_mul_lo_u32 v1, v0, v0
      0x160202ff, 0x000003d1,  // v_mul_u32_u24_e32 v1, 0x3d1, v1
      0x4a020281,              // v_add_nc_u32_e32 v1, 1, v1
      0xbe8003ff, 0x01234567,  // s_mov_b32 s0, 0x1234567
      0xd5690000, 0x00000100,  // v_mul_lo_u32 v0, v0, s0
      0x7e006f00,              // v_not_b32_e32 v0, v0
      0x7e040d01,              // v_cvt_f32_u32_e32 v2, v1
      0x7e045702,              // v_rcp_iflag_f32_e32 v2, v2
      0x100404ff, 0x4f7ffffe,  // v_mul_f32_e32 v2, 0x4f7ffffe, v2
      0x7e040f02,              // v_cvt_u32_f32_e32 v2, v2
      0x4c060280,              // v_sub_nc_u32_e32 v3, 0, v1
      0xd5690003, 0x00020503,  // v_mul_lo_u32 v3, v3, v2
      0xd56a0003, 0x00020702,  // v_mul_hi_u32 v3, v2, v3
      0x4a040702,              // v_add_nc_u32_e32 v2, v2, v3
      0xd56a0002, 0x00020500,  // v_mul_hi_u32 v2, v0, v2
      0xd5690003, 0x00020302,  // v_mul_lo_u32 v3, v2, v1
      0x4c060700,              // v_sub_nc_u32_e32 v3, v0, v3
      0x4a080481,              // v_add_nc_u32_e32 v4, 1, v2
      0x4c0a0303,              // v_sub_nc_u32_e32 v5, v3, v1
      0x7d8c0303,              // v_cmp_ge_u32_e32 vcc, v3, v1
      0x02040902,              // v_cndmask_b32_e32 v2, v2, v4, vcc
      0x02060b03,              // v_cndmask_b32_e32 v3, v3, v5, vcc
      0x4a080481,              // v_add_nc_u32_e32 v4, 1, v2
      0x7d8c0303,              // v_cmp_ge_u32_e32 vcc, v3, v1
      0x02040902,              // v_cndmask_b32_e32 v2, v2, v4, vcc
      0xbf810000,              // s_endpgm
  };
  const std::vector<Final> waves = finals({"gfx1030", 64, code, {1024, 1, 1}}, 16);
  for (std::uint32_t i = 0; i < 1024; ++i) {
    const std::uint32_t dividend = ~(i * 0x1234567u), divisor = i * i * 977 + 1;
    EXPECT_EQ(waves[i / 64].v[2].lane[i % 64], dividend / divisor) << dividend << " / " << divisor;
  }
}

}  // namespace
}  // namespace wavegate::amdgpu::wave
