#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "amdgpu/wave/values/machine.h"
#include "wavegate/amdgpu/isa/decode.h"
#include "wavegate/amdgpu/wave/program.h"

/// Single instructions whose modifiers, denormals or rounding matter, as words that llvm-mc made of the text beside
/// them; what they give is worked out by hand. Those with modifiers that mean nothing are refused.
namespace wavegate::amdgpu::wave::testing {
namespace {

using isa::Target;
using Words = std::vector<u32>;
/// The same value in all lanes of so many registers from one on.
struct Fill {
  unsigned first, count;
  u32 word;
};

struct Program {
  Target target;
  Words words;
};

isa::WaveWidth width_of(Target target) {
  return isa::info(target).generation == isa::Generation::gfx9 ? isa::WaveWidth::wave64 : isa::WaveWidth::wave32;
}

constexpr u32 kPlainMode = 0xf0 | 1u << 8 | 1u << 9;

/// The registers after an instruction; `error` is what it ended with.
Registers run(const Program& program, std::initializer_list<Fill> fills, u64 exec = ~u64{0}, u32 mode = kPlainMode,
              std::string* error = nullptr) {
  Interpreter interpreter(program.target, width_of(program.target));
  Registers before;
  before.generation = isa::info(program.target).generation;
  before.lanes = isa::lanes(width_of(program.target));
  before.mode = mode;
  before.set(Registers::kExec, exec, 2);
  for (const Fill& fill : fills)
    for (unsigned i = 0; i < fill.count; ++i) before.rows[fill.first + i].fill(fill.word);
  const auto fault = interpreter.run(program.words, before);
  if (error != nullptr)
    *error = fault.value_or("");
  else
    EXPECT_FALSE(fault.has_value()) << *fault;
  return interpreter.registers();
}
std::string error_of(const Program& program) {
  std::string error;
  run(program, {}, ~u64{0}, kPlainMode, &error);
  return error;
}
/// Some are no instruction to the decoder already.
bool is_accepted(const Program& program) {
  isa::Instruction instruction;
  if (!isa::try_decode(program.words, program.target, width_of(program.target), instruction)) return false;
  instruction.target = program.target;
  return is_implemented(instruction);
}
/// The same word in registers of all lanes.
void expect_all(const Registers& registers, unsigned first, unsigned count, u32 word) {
  for (unsigned i = first; i < first + count; ++i)
    for (unsigned lane = 0; lane < registers.lanes; ++lane)
      ASSERT_EQ(registers.rows[i][lane], word) << "v" << i << " lane " << lane;
}

// ---------------------------------------------------------------- dot products

TEST(Modifiers, TheAddendOfADotProductOfSmallFloatsHasSigns) {
  const auto sum = [](u32 low, u32 high, u32 addend) {
    // v_dot4_f32_fp8_bf8 v4, v1, v2, v3
    const Program program{Target::gfx1200, {0xcc244004u | high << 8, 0x1c0e0501u | low << 29}};
    return run(program, {{1, 1, 0x38383838}, {2, 1, 0x3c3c3c3c}, {3, 1, addend}}).rows[4][0];
  };
  EXPECT_EQ(sum(0, 0, 0x3f800000), 0x40a00000u);  // 4 + 1
  EXPECT_EQ(sum(4, 0, 0x3f800000), 0x40400000u);  // 4 - 1
  EXPECT_EQ(sum(0, 4, 0xbf800000), 0x40a00000u);  // 4 + |-1|
  EXPECT_EQ(sum(4, 4, 0xbf800000), 0x40400000u);  // 4 - |-1|
}

TEST(Modifiers, SignsAndSelectionsThatMeanNothingAreRefused) {
  struct Case {
    const char* text;
    Program plain;
    unsigned low, high, select;  ///< the bits that mean something
  };
  const Case cases[] = {
      {"v_dot4_f32_fp8_bf8 v4, v1, v2, v3", {Target::gfx1200, {0xcc244004, 0x1c0e0501}}, 4, 4, 0},
      {"v_dot2_f32_f16 v4, v1, v2, v3", {Target::gfx906, {0xd3a34004, 0x1c0e0501}}, 7, 3, 3},
      {"v_dot4_i32_i8 v0, v1, v2, v3", {Target::gfx906, {0xd3a84000, 0x1c0e0501}}, 0, 0, 0},
      {"v_dot4_i32_iu8 v0, v1, v2, v3", {Target::gfx1100, {0xcc164000, 0x1c0e0501}}, 3, 0, 0},
      {"v_pk_add_u16 v4, v1, v2", {Target::gfx1030, {0xcc0a4004, 0x18020501}}, 0, 0, 3},
      {"v_wmma_i32_16x16x16_iu8 v[16:23], v[0:3], v[8:11], v[16:23]",
       {Target::gfx1100, {0xcc444010, 0x1c421100}},
       3,
       0,
       0},
      {"v_wmma_f16_16x16x16_f16 v[16:23], v[0:7], v[8:15], v[16:23]",
       {Target::gfx1100, {0xcc424010, 0x1c421100}},
       7,
       7,
       4},
  };
  for (const Case& one : cases) {
    EXPECT_TRUE(is_accepted(one.plain)) << one.text;
    for (u32 bit = 1; bit <= 4; bit <<= 1) {
      Program low = one.plain, high = one.plain, select = one.plain;
      low.words[1] |= bit << 29;
      high.words[0] |= bit << 8;
      select.words[0] |= bit << 11;
      EXPECT_EQ(is_accepted(low), (one.low & bit) != 0) << one.text << " neg_lo " << bit;
      EXPECT_EQ(is_accepted(high), (one.high & bit) != 0) << one.text << " neg_hi " << bit;
      EXPECT_EQ(is_accepted(select), (one.select & bit) != 0) << one.text << " op_sel " << bit;
    }
  }
  EXPECT_THAT(error_of({Target::gfx906, {0xd3a34404, 0x1c0e0501}}),
              ::testing::HasSubstr("v_dot2_f32_f16 v4, v1, v2, v3 neg_hi:[0,0,1] at offset"));
}

TEST(Denormals, ADotProductOfHalvesHasNoneInF32WhateverModeSays) {
  for (const Program& program : {Program{Target::gfx906, {0xd3a34004, 0x1c0e0501}},  // v_dot2_f32_f16 v4, v1, v2, v3
                                 Program{Target::gfx90a, {0xd3a34004, 0x1c0e0501}},  // the same
                                 Program{Target::gfx1100, {0xcc134004, 0x1c0e0501}}}) {  // the same
    EXPECT_EQ(run(program, {{1, 1, 0}, {2, 1, 0}, {3, 1, 0x00000001}}).rows[4][0], 0u);
    EXPECT_EQ(run(program, {{1, 1, 0}, {2, 1, 0}, {3, 1, 0x807fffff}}).rows[4][0] & 0x7fffffffu, 0u);
    EXPECT_EQ(run(program, {{1, 1, 0}, {2, 1, 0}, {3, 1, 0x00800000}}).rows[4][0], 0x00800000u);
  }
  for (const Program& program : {Program{Target::gfx90a, {0x6e080501}},      // v_dot2c_f32_f16 v4, v1, v2
                                 Program{Target::gfx1030, {0x04080501}}}) {  // the same
    EXPECT_EQ(run(program, {{1, 1, 0}, {2, 1, 0}, {4, 1, 0x00000001}}).rows[4][0], 0u);
  }
}

TEST(Denormals, OfHalvesMI200HasNoneInDotProducts) {
  const Words words = {0xd3a34004, 0x1c0e0501};  // v_dot2_f32_f16 v4, v1, v2, v3
  // In the lower half 0x1p-24, in the upper -0x3ffp-24.
  for (const u32 halves : {0x00000001u, 0x83ff0000u}) {
    const float exact = halves == 1 ? 0x1p-24f : -0x3ffp-24f;
    EXPECT_EQ(run({Target::gfx906, words}, {{1, 1, halves}, {2, 1, 0x3c003c00}, {3, 1, 0}}).rows[4][0],
              std::bit_cast<u32>(exact));
    EXPECT_EQ(run({Target::gfx90a, words}, {{1, 1, halves}, {2, 1, 0x3c003c00}, {3, 1, 0}}).rows[4][0], 0u);
    EXPECT_EQ(run({Target::gfx90a, words}, {{1, 1, 0x3c003c00}, {2, 1, halves}, {3, 1, 0}}).rows[4][0], 0u);
  }
  EXPECT_EQ(run({Target::gfx90a, words}, {{1, 1, 0x04000400}, {2, 1, 0x3c003c00}, {3, 1, 0}}).rows[4][0],
            std::bit_cast<u32>(0x1p-13f));
}

// ---------------------------------------------------------------- matrices

// v_mfma_f32_16x16x16f16 v[8:11], v[0:1], v[2:3], v[4:7], of gfx90a and gfx942
const Words kHalves = {0xd3cd0008, 0x04120500};
// v_mfma_f32_16x16x8bf16 v[8:11], v0, v2, v[4:7], of gfx90a and gfx908
const Words kBfloats = {0xd3ed0008, 0x04120500};

TEST(MatrixNumbers, OfSourcesOf16BitsMI200FlushesDenormals) {
  const auto of_halves = [](Target target, u32 a, u32 c) {
    return run({target, kHalves}, {{0, 2, a}, {2, 2, 0x3c003c00}, {4, 4, c}});
  };
  expect_all(of_halves(Target::gfx942, 0x00010001, 0), 8, 4, std::bit_cast<u32>(0x1p-20f));
  expect_all(of_halves(Target::gfx90a, 0x00010001, 0), 8, 4, 0);
  expect_all(of_halves(Target::gfx90a, 0x04000400, 0), 8, 4, std::bit_cast<u32>(0x1p-10f));
  // Of 0x1p-133, times 0x1p100.
  expect_all(run({Target::gfx90a, kBfloats}, {{0, 1, 0x00010001}, {2, 1, 0x71807180}, {4, 4, 0}}), 8, 4, 0);
  expect_all(run({Target::gfx90a, kBfloats}, {{0, 1, 0x00800080}, {2, 1, 0x71807180}, {4, 4, 0}}), 8, 4,
             std::bit_cast<u32>(0x1p-23f));
}

TEST(MatrixNumbers, InfinitiesAndNansGoThrough) {
  const auto of = [](u32 a, u32 b, u32 c) {
    return run({Target::gfx942, kHalves}, {{0, 2, a}, {2, 2, b}, {4, 4, c}}).rows[8][0];
  };
  const auto is_nan = [](u32 word) { return (word & 0x7fffffffu) > 0x7f800000u; };
  EXPECT_EQ(of(0x7c007c00, 0x3c003c00, 0), 0x7f800000u);
  EXPECT_EQ(of(0x7c007c00, 0xbc00bc00, 0), 0xff800000u);
  EXPECT_EQ(of(0x3c003c00, 0x3c003c00, 0xff800000), 0xff800000u);
  EXPECT_TRUE(is_nan(of(0x7c007c00, 0, 0)));
  EXPECT_TRUE(is_nan(of(0x7c007c00, 0x3c003c00, 0xff800000)));
  EXPECT_TRUE(is_nan(of(0x7e007e00, 0x3c003c00, 0)));
  EXPECT_TRUE(is_nan(of(0x3c003c00, 0x3c003c00, 0x7fc00000)));
}

TEST(MatrixNumbers, ExecAndModeAreIgnored) {
  // 16 products of 0x1p-26: to nearest, 1 stays what it is; upwards it would not.
  const std::initializer_list<Fill> sources = {{0, 2, 0x0c000c00}, {2, 2, 0x04000400}, {4, 4, 0x3f800000}};
  for (const u64 exec : {~u64{0}, u64{0}, u64{5}})
    for (const u32 round : {0u, 1u, 2u, 3u})
      expect_all(run({Target::gfx942, kHalves}, sources, exec, (kPlainMode & ~15u) | round | round << 2), 8, 4,
                 0x3f800000);
  // Nor does MODE flush denormals: 16 of 0x1p-24, and an f32's.
  expect_all(run({Target::gfx942, kHalves}, {{0, 2, 0x00010001}, {2, 2, 0x3c003c00}, {4, 4, 0}}, 0, 0), 8, 4,
             std::bit_cast<u32>(0x1p-20f));
  expect_all(run({Target::gfx942, kHalves}, {{0, 2, 0}, {2, 2, 0}, {4, 4, 1}}, 0, 0), 8, 4, 1);
  // v_wmma_f16_16x16x16_f16 v[16:23], v[0:7], v[8:15], v[16:23]
  for (const u32 round : {0u, 1u, 2u, 3u})
    expect_all(
        run({Target::gfx1100, {0xcc424010, 0x1c421100}}, {{0, 8, 0x1c001c00}, {8, 8, 0x20002000}, {16, 8, 0x3c01}}, 0,
            (kPlainMode & ~15u) | round | round << 2),
        16, 8, 0x3c02);
}

TEST(MatrixNumbers, AResultOf16BitsIsRoundedOnceToNearestEven) {
  // 16 products of 0x1p-15 are half of the last digit of 1.
  const auto halves = [](u32 c) {
    // v_wmma_f16_16x16x16_f16 v[16:23], v[0:7], v[8:15], v[16:23]
    return run({Target::gfx1100, {0xcc424010, 0x1c421100}}, {{0, 8, 0x1c001c00}, {8, 8, 0x20002000}, {16, 8, c}});
  };
  expect_all(halves(0x3c00), 16, 8, 0x3c00);
  expect_all(halves(0x3c01), 16, 8, 0x3c02);
  // The other half of the register stays.
  expect_all(halves(0x12343c01), 16, 8, 0x12343c02);
  const auto bfloats = [](u32 c) {
    // v_wmma_bf16_16x16x16_bf16 v[16:23], v[0:7], v[8:15], v[16:23]
    return run({Target::gfx1100, {0xcc434010, 0x1c421100}}, {{0, 8, 0x3c803c80}, {8, 8, 0x3c803c80}, {16, 8, c}});
  };
  expect_all(bfloats(0x3f80), 16, 8, 0x3f80);
  expect_all(bfloats(0x3f81), 16, 8, 0x3f82);
}

TEST(Modifiers, BroadcastsOfBlocksThatAMatrixLacksAreRefused) {
  const auto accepted = [](Target target, u32 first, u32 second, u32 cbsz, u32 abid, u32 blgp) {
    return is_accepted({target, {first | cbsz << 8 | abid << 11, second | blgp << 29}});
  };
  // v_mfma_f32_16x16x16f16 v[8:11], v[0:1], v[2:3], v[4:7]: one block
  EXPECT_TRUE(accepted(Target::gfx90a, 0xd3cd0008, 0x04120500, 0, 0, 7));
  EXPECT_FALSE(accepted(Target::gfx90a, 0xd3cd0008, 0x04120500, 1, 0, 0));
  EXPECT_FALSE(accepted(Target::gfx90a, 0xd3cd0008, 0x04120500, 0, 1, 0));
  // v_mfma_f32_4x4x4f16 v[8:11], v[0:1], v[2:3], v[4:7]: 16 blocks
  for (u32 cbsz = 0; cbsz < 8; ++cbsz)
    for (u32 abid = 0; abid < 16; ++abid)
      EXPECT_EQ(accepted(Target::gfx90a, 0xd3ca0008, 0x04120500, cbsz, abid, 0), cbsz <= 4 && abid < 1u << cbsz)
          << cbsz << " " << abid;
  // v_mfma_f64_4x4x4f64 v[8:9], v[0:1], v[2:3], v[4:5]
  EXPECT_TRUE(accepted(Target::gfx90a, 0xd3ef0008, 0x04120500, 0, 0, 0));
  EXPECT_FALSE(accepted(Target::gfx90a, 0xd3ef0008, 0x04120500, 1, 0, 0));
  EXPECT_FALSE(accepted(Target::gfx90a, 0xd3ef0008, 0x04120500, 0, 1, 0));
  EXPECT_FALSE(accepted(Target::gfx90a, 0xd3ef0008, 0x04120500, 0, 0, 1));
  // v_smfmac_f32_16x16x32_f16 v[8:11], v[0:1], v[2:5], v6: four sets of indices
  EXPECT_TRUE(accepted(Target::gfx942, 0xd3e20008, 0x041a0500, 0, 3, 0));
  EXPECT_TRUE(accepted(Target::gfx942, 0xd3e20008, 0x041a0500, 1, 7, 0));
  EXPECT_FALSE(accepted(Target::gfx942, 0xd3e20008, 0x041a0500, 0, 4, 0));
  EXPECT_FALSE(accepted(Target::gfx942, 0xd3e20008, 0x041a0500, 4, 0, 0));
  EXPECT_FALSE(accepted(Target::gfx942, 0xd3e20008, 0x041a0500, 0, 0, 1));
  EXPECT_THAT(error_of({Target::gfx90a, {0xd3cd0108, 0x04120500}}), ::testing::HasSubstr("cbsz:1 at offset"));
}

// ---------------------------------------------------------------- the rest

TEST(Modifiers, MessagesThatMeanSomethingAreRefusedByName) {
  EXPECT_EQ(error_of({Target::gfx1100, {0xbfb60003}}), "");  // s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
  EXPECT_THAT(error_of({Target::gfx1100, {0xbfb60001}}), ::testing::HasSubstr("sendmsg(MSG_INTERRUPT) at offset"));
  EXPECT_THAT(error_of({Target::gfx1030, {0xbf900001}}), ::testing::HasSubstr("sendmsg(MSG_INTERRUPT) at offset"));
  EXPECT_THAT(error_of({Target::gfx1030, {0xbf900003}}), ::testing::HasSubstr("MSG_GS_DONE"));
}

TEST(Ranges, BeyondSoManyTurnsGfx9HasNoSine) {
  // v_sin_f32 v1, v0; v_cos_f32 v1, v0
  const auto sine = [](u32 turns) { return run({Target::gfx900, {0x7e025300}}, {{0, 1, turns}}).rows[1][0]; };
  const auto cosine = [](u32 turns) { return run({Target::gfx900, {0x7e025500}}, {{0, 1, turns}}).rows[1][0]; };
  EXPECT_EQ(sine(std::bit_cast<u32>(255.25f)), 0x3f800000u);
  EXPECT_EQ(sine(std::bit_cast<u32>(256.25f)), 0u);
  EXPECT_EQ(sine(std::bit_cast<u32>(-256.25f)), 0u);
  EXPECT_EQ(cosine(std::bit_cast<u32>(255.5f)), 0xbf800000u);
  EXPECT_EQ(cosine(std::bit_cast<u32>(256.5f)), 0x3f800000u);
}

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
