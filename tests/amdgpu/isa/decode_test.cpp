#include "wavegate/amdgpu/isa/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "wavegate/amdgpu/isa/disassemble.h"
#include "wavegate/amdgpu/isa/print.h"

namespace wavegate::amdgpu::isa {
namespace {

using testing::HasSubstr;

constexpr WaveWidth k32 = WaveWidth::wave32;
constexpr WaveWidth k64 = WaveWidth::wave64;

Instruction decoded(std::vector<std::uint32_t> words, Target target = Target::gfx1030, WaveWidth wave = k32) {
  const auto instruction = decode(words, target, wave);
  EXPECT_TRUE(instruction.ok()) << (instruction.ok() ? "" : instruction.error().to_string());
  return instruction.ok() ? *instruction : Instruction{};
}

/// A line of tests/amdgpu/isa/expected: what LLVM 19 says of some words.
struct Expectation {
  WaveWidth wave = k64;
  std::vector<std::uint32_t> words;
  std::string text;  ///< "-": no instruction
};

std::vector<Expectation> expectations(std::string_view target) {
  std::ifstream file(std::string(WAVEGATE_SOURCE_DIR) + "/tests/amdgpu/isa/expected/" + std::string(target) + ".txt");
  std::vector<Expectation> all;
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    std::istringstream head(line.substr(0, tab));
    Expectation& one = all.emplace_back();
    int lanes = 0;
    head >> lanes;
    one.wave = lanes == 32 ? k32 : k64;
    for (std::string word; head >> word;)
      one.words.push_back(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16)));
    one.text = line.substr(tab + 1);
  }
  return all;
}

class Targets : public testing::TestWithParam<int> {
 protected:
  Target target() const { return static_cast<Target>(GetParam()); }
};

TEST_P(Targets, EveryOpcodeOfEveryFormatReadsAsLlvmReadsIt) {
  const auto all = expectations(to_string(target()));
  ASSERT_GT(all.size(), 1000u);
  int wrong = 0;
  for (const Expectation& one : all) {
    Instruction instruction;
    const bool ok = try_decode(one.words, target(), one.wave, instruction);
    const std::string text = ok ? print(instruction) : "-";
    const bool whole = !ok || instruction.words == one.words.size();
    if (text == one.text && whole) continue;
    if (++wrong < 10)
      ADD_FAILURE() << "wave" << lanes(one.wave) << ' ' << std::hex << one.words[0] << ": \"" << text << "\", LLVM: \""
                    << one.text << '"';
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(Targets, AnInstructionCutShortIsNone) {
  for (const Expectation& one : expectations(to_string(target()))) {
    if (one.text == "-" || one.words.size() < 2) continue;
    Instruction instruction;
    const std::span<const std::uint32_t> part(one.words.data(), one.words.size() - 1);
    // What is left may be a shorter instruction, but nothing that reaches beyond it.
    if (try_decode(part, target(), one.wave, instruction)) {
      EXPECT_LE(instruction.words, part.size()) << one.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Targets, testing::Range(0, kTargetCount), [](const auto& parameter) {
  return std::string(to_string(static_cast<Target>(parameter.param)));
});

TEST(Decode, NoWordsAreNoInstruction) {
  Instruction instruction;
  EXPECT_FALSE(try_decode({}, Target::gfx1030, k32, instruction));
}

TEST(Decode, AnErrorShowsTheWords) {
  const std::uint32_t words[] = {0xffffffff, 0x12345678};
  const auto instruction = decode(words, Target::gfx1030, k32);
  ASSERT_FALSE(instruction.ok());
  EXPECT_THAT(instruction.error().to_string(), HasSubstr("ffffffff"));
  EXPECT_THAT(instruction.error().to_string(), HasSubstr("gfx1030"));
}

TEST(Decode, ImpliedOperandsAreOperands) {
  const Instruction select = decoded({0x02020301});
  EXPECT_EQ(print(select), "v_cndmask_b32_e32 v1, v1, v1, vcc_lo");
  ASSERT_EQ(select.operand_count, 4);
  EXPECT_EQ(select.operands[3].kind, OperandKind::vcc);
  EXPECT_EQ(select.operands[3].type, ValueType::lane_mask);
  const Instruction compare = decoded({0x7d840301}, Target::gfx1030, k64);
  EXPECT_EQ(compare.opcode, Opcode::v_cmp_eq_u32);
  EXPECT_EQ(compare.destination_count, 1);
  EXPECT_EQ(compare.operands[0].words, 2);
}

TEST(Decode, RenamedInstructionsAreOneOpcode) {
  EXPECT_EQ(decoded({0xdc308000, 0x017d0000}).opcode, Opcode::global_load_dword);
  const Instruction renamed = decoded({0xdc520000, 0x017c0000}, Target::gfx1100);
  EXPECT_EQ(renamed.opcode, Opcode::global_load_dword);
  EXPECT_EQ(mnemonic(renamed), "global_load_b32");
  EXPECT_EQ(decoded({0x680202ff, 5}, Target::gfx900, k64).opcode, Opcode::v_add_nc_u32);
}

TEST(Decode, AnAtomicWithGlcHasADestination) {
  const Instruction returns = decoded({0xdcc98000, 0x057d0100});
  EXPECT_EQ(print(returns), "global_atomic_add v5, v[0:1], v1, off glc");
  EXPECT_EQ(returns.destination_count, 1);
  const Instruction drops = decoded({0xdcc88000, 0x007d0100});
  EXPECT_EQ(print(drops), "global_atomic_add v[0:1], v1, off");
  EXPECT_EQ(drops.destination_count, 0);
}

TEST(Decode, BothHalvesOfADualInstructionHaveTheirOperands) {
  const Instruction dual = decoded({0xc9100301, 0x02040103}, Target::gfx1100);
  EXPECT_EQ(print(dual), "v_dual_add_f32 v2, v1, v1 :: v_dual_mov_b32 v5, v3");
  EXPECT_EQ(dual.opcode, Opcode::v_add_f32);
  EXPECT_EQ(dual.second_opcode, Opcode::v_mov_b32);
  EXPECT_EQ(dual.second_operands, 3);
  EXPECT_EQ(dual.operand_count, 5);
}

TEST(Constants, InlineNumbersTakeTheFormatOfTheirOperand) {
  const auto bits = [](std::vector<std::uint32_t> words, int operand) {
    return constant_bits(decoded(std::move(words)).operands[static_cast<std::size_t>(operand)]);
  };
  EXPECT_EQ(bits({0x060002f2}, 1), 0x3f800000u);                      // v_add_f32 v0, 1.0, v1
  EXPECT_EQ(bits({0x640002f2}, 1), 0x3c00u);                          // v_add_f16
  EXPECT_EQ(bits({0xd5640000, 0x000200f2}, 1), 0x3ff0000000000000u);  // v_add_f64
  EXPECT_EQ(bits({0x060002f8}, 1), 0x3e22f983u);                      // 1 / (2 pi)
  EXPECT_EQ(bits({0xd5640000, 0x000200f8}, 1), 0x3fc45f306dc9c882u);
  EXPECT_EQ(bits({0xbe8004c1}, 1), 0xffffffffffffffffu);  // s_mov_b64 s[0:1], -1
  EXPECT_EQ(bits({0xbe8003c1}, 1), 0xffffffffu);          // s_mov_b32 s0, -1
  EXPECT_EQ(bits({0xd5640000, 0x000200ff, 0x40000000}, 1), 0x4000000000000000u);
}

TEST(Disassembly, BranchesLeadToLabels) {
  const std::vector<std::uint32_t> words = {0xbf820001, 0xbf800000, 0xbf82fffd, 0xbf810000};
  const auto lines = disassemble(words, Target::gfx1030, k32);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(branch_target(lines[0]), 8);
  EXPECT_EQ(branch_target(lines[2]), 0);
  EXPECT_TRUE(lines[0].is_target);
  EXPECT_FALSE(lines[1].is_target);
  EXPECT_TRUE(lines[2].is_target);
  EXPECT_EQ(print(lines[2], words), "s_branch " + label(0));
  EXPECT_EQ(print(lines[3], words), "s_endpgm");
}

TEST(Disassembly, WordsThatAreNoInstructionKeepTheirPlace) {
  const std::vector<std::uint32_t> words = {0xffffffff, 0xbf810000};
  const auto lines = disassemble(words, Target::gfx1030, k32);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_FALSE(lines[0].decoded);
  EXPECT_EQ(print(lines[0], words), ".long 0xffffffff");
  EXPECT_EQ(lines[1].offset, 4u);
}

}  // namespace
}  // namespace wavegate::amdgpu::isa
