#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "amdgpu/wave/values/compared.h"
#include "amdgpu/wave/values/control_names.h"
#include "amdgpu/wave/values/machine.h"
#include "amdgpu/wave/values/operands.h"
#include "wavegate/amdgpu/isa/decode.h"
#include "wavegate/amdgpu/isa/print.h"
#include "wavegate/amdgpu/wave/program.h"

/// Instructions without a value: where a program goes on, what it says of itself, and what changes nothing.
namespace wavegate::amdgpu::wave::testing {
namespace {

constexpr u64 kCode = 0x1000;
/// s_movk_i32 s0, 1: of all generations alike.
constexpr u32 kSetS0 = 0xb0000001;

struct Case {
  Sample sample;
  Registers before;
  Interpreter interpreter;
  std::string name;

  Case(const Sample& one, isa::Target target, u64& random)
      : sample(one),
        before(random_registers(isa::info(target).generation, isa::lanes(one.width), random)),
        interpreter(target, one.width),
        name(isa::to_string(one.instruction.opcode)) {
    before.scc = static_cast<u32>(next_random(random) & 1);
    before.scalars[0] = 0x12345678;
  }
  /// Runs the sample's words and those behind it.
  Registers run(std::vector<u32> behind = {}) {
    std::vector<u32> words = sample.words;
    words.insert(words.end(), behind.begin(), behind.end());
    const auto error = interpreter.run(words, before);
    EXPECT_FALSE(error.has_value()) << isa::print(sample.instruction) << ": " << *error;
    return interpreter.registers();
  }
  /// With other bits, if they are an instruction of the same opcode.
  bool change(u32 word, u32 bits, u32 value) {
    Sample changed = sample;
    changed.words[word] = (changed.words[word] & ~bits) | (value & bits);
    const isa::Target target = sample.instruction.target;
    if (!isa::try_decode(changed.words, target, sample.width, changed.instruction) ||
        changed.instruction.opcode != sample.instruction.opcode || !is_implemented(changed.instruction))
      return false;
    sample = changed;
    return true;
  }
};

class Control : public ::testing::TestWithParam<int> {
 protected:
  isa::Target target() const { return static_cast<isa::Target>(GetParam()); }
  /// Calls `visit` with cases of every opcode whose name is among some.
  template <typename Visit>
  void each(std::span<const std::string_view> names, const Visit& visit) {
    u64 random = static_cast<u64>(GetParam());
    int cases = 0;
    for (Sample& sample : samples(target())) {
      sample.instruction.target = target();
      if (std::ranges::find(names, isa::to_string(sample.instruction.opcode)) == names.end()) continue;
      if (!is_implemented(sample.instruction)) continue;
      for (int i = 0; i < 8; ++i) {
        Case one(sample, target(), random);
        visit(one, random);
        ++cases;
        if (HasFailure()) return;
      }
    }
    EXPECT_GT(cases, 0);
  }
};

bool is_taken(const Case& one, const Registers& registers) {
  if (one.name == "s_cbranch_scc0") return registers.scc == 0;
  if (one.name == "s_cbranch_scc1") return registers.scc != 0;
  if (one.name == "s_cbranch_vccz") return registers.mask(Registers::kVcc) == 0;
  if (one.name == "s_cbranch_vccnz") return registers.mask(Registers::kVcc) != 0;
  if (one.name == "s_cbranch_execz") return registers.exec() == 0;
  if (one.name == "s_cbranch_execnz") return registers.exec() != 0;
  return true;
}

TEST_P(Control, ABranchGoesOnWhereItsConditionSays) {
  each(kBranchNames, [&](Case& one, u64& random) {
    if (!one.change(0, 0xffff, 1)) return;
    if (next_random(random) % 2 == 0) one.before.set(Registers::kVcc, 0, 2);
    if (next_random(random) % 4 == 0) one.before.set_mask(Registers::kVcc, 0);
    if (next_random(random) % 2 == 0) one.before.set_mask(Registers::kExec, 0);
    Registers expected = one.before;
    if (!is_taken(one, expected)) expected.scalars[0] = 1;
    EXPECT_EQ(difference(expected, one.run({kSetS0}), {}), "") << isa::print(one.sample.instruction);
  });
}

TEST_P(Control, JumpsLeadToAnAddressAndCallsKeepTheOneBehindThem) {
  each(kJumpNames, [&](Case& one, u64&) {
    if (one.name == "s_call_b64" && !one.change(0, 0xffff, 1)) return;
    const u64 behind = kCode + one.sample.words.size() * 4;
    Registers expected = one.before;
    if (one.name == "s_setpc_b64" || one.name == "s_swappc_b64") {
      const unsigned index = Registers::scalar_index(one.sample.instruction.sources()[0]);
      if (index == Registers::kNone || index >= Registers::kM0 || index == 0) return;
      one.before.set(index, behind + 4, 2);
      expected.set(index, behind + 4, 2);
    }
    if (one.sample.instruction.destination_count != 0) {
      const unsigned index = Registers::scalar_index(one.sample.instruction.operands[0]);
      if (index == 0) return;
      if (index != Registers::kNone) expected.set(index, behind, 2);
    }
    if (one.name == "s_getpc_b64") expected.scalars[0] = 1;
    EXPECT_EQ(difference(expected, one.run({kSetS0}), {}), "") << isa::print(one.sample.instruction);
  });
}

TEST_P(Control, AProgramEndsWhereItSaysSo) {
  each(kEndNames, [&](Case& one, u64&) {
    EXPECT_EQ(difference(one.before, one.run({kSetS0}), {}), "") << isa::print(one.sample.instruction);
  });
}

TEST_P(Control, FieldsOfModeAreReadAndWritten) {
  each(kModeNames, [&](Case& one, u64& random) {
    const u32 offset = static_cast<u32>(next_random(random) % 10),
              width = 1 + static_cast<u32>(next_random(random) % (10 - offset));
    const bool whole = one.name == "s_round_mode" || one.name == "s_denorm_mode";
    const u32 mode = 1, field = mode | offset << 6 | (width - 1) << 11;
    const u32 value = static_cast<u32>(next_random(random));
    if (!one.change(0, 0xffff, whole ? value & 15 : field)) return;
    const isa::Instruction& instruction = one.sample.instruction;
    Registers expected = one.before;
    const u32 mask = ((1u << width) - 1) << offset;
    if (one.name == "s_getreg_b32") {
      const unsigned index = Registers::scalar_index(instruction.operands[0]);
      if (index != Registers::kNone) expected.set(index, (expected.mode & mask) >> offset, 1);
    } else if (one.name == "s_setreg_b32") {
      u32 written = 0;
      for (const isa::Operand& operand : std::span(instruction.operands).first(instruction.operand_count))
        if (operand.kind != isa::OperandKind::immediate) written = static_cast<u32>(expected.scalar(operand));
      expected.mode = (expected.mode & ~mask) | (written << offset & mask);
    } else if (one.name == "s_setreg_imm32_b32") {
      expected.mode = (expected.mode & ~mask) | (one.sample.words[1] << offset & mask);
    } else {
      const u32 first = one.name == "s_round_mode" ? 0 : 4;
      expected.mode = (expected.mode & ~(15u << first)) | (value & 15) << first;
    }
    EXPECT_EQ(difference(expected, one.run(), {}), "") << isa::print(instruction);
  });
}

TEST_P(Control, TimeGoesOn) {
  // Later ones ask for it with a message.
  if (isa::info(target()).generation >= isa::Generation::gfx11) return;
  each(kTimeNames, [&](Case& one, u64&) {
    const unsigned index = Registers::scalar_index(one.sample.instruction.operands[0]);
    if (index == Registers::kNone) return;
    Registers first = one.run();
    const u64 before = first.pair(index), after = one.run().pair(index);
    EXPECT_GT(after, before) << isa::print(one.sample.instruction);
    first.set(index, one.before.pair(index), 2);
    EXPECT_EQ(difference(one.before, first, {}), "") << isa::print(one.sample.instruction);
  });
}

TEST_P(Control, WhatHasNoValueChangesNothing) {
  u64 random = static_cast<u64>(GetParam());
  for (const Sample& sample : samples(target())) {
    if (!changes_nothing(isa::to_string(sample.instruction.opcode)) || !is_implemented(sample.instruction)) continue;
    Case one(varied(sample, target(), random), target(), random);
    EXPECT_EQ(difference(one.before, one.run(), {}), "") << isa::print(one.sample.instruction);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Control, ::testing::Range(0, isa::kTargetCount), [](const auto& parameter) {
  return std::string(isa::to_string(static_cast<isa::Target>(parameter.param)));
});

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
