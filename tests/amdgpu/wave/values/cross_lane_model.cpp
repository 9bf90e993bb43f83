#include "amdgpu/wave/values/cross_lane_model.h"

#include <algorithm>
#include <array>

#include "amdgpu/wave/values/machine.h"

namespace wavegate::amdgpu::wave::testing {

namespace {

using isa::Generation;
using isa::Instruction;
using isa::Operand;

constexpr std::string_view kNames[] = {
    "v_readfirstlane_b32", "v_readlane_b32",    "v_writelane_b32",      "v_mbcnt_lo_u32_b32",    "v_mbcnt_hi_u32_b32",
    "v_permlane16_b32",    "v_permlanex16_b32", "v_permlane16_var_b32", "v_permlanex16_var_b32", "v_permlane64_b32",
    "v_swap_b32",          "v_movrels_b32",     "v_movreld_b32",        "v_pk_mov_b32",          "ds_bpermute_b32",
    "ds_permute_b32",      "ds_swizzle_b32",    "s_movrels_b32",        "s_movrels_b64",         "s_movreld_b32",
    "s_movreld_b64",       "v_movrelsd_b32",    "v_movrelsd_2_b32",     "v_swaprel_b32",         "s_movrelsd_2_b32",
};

/// A result in lanes, from registers as they were.
struct Move {
  Registers& to;
  const Registers from;
  const Instruction& instruction;

  const Operand& source(unsigned i) const { return instruction.sources()[i]; }
  u32 word(unsigned i, unsigned lane) const { return from.word(source(i), 0, lane); }
  bool is_on(unsigned lane) const { return (from.exec() >> lane & 1) != 0; }
  unsigned row() const { return Registers::row_index(instruction.operands[0]); }

  template <typename Value>
  void each(const Value& value) const {
    for (unsigned lane = 0; lane < from.lanes; ++lane)
      if (is_on(lane)) to.rows[row()][lane] = value(lane);
  }
  void scalar(u64 value, unsigned words = 1) const {
    if (const unsigned index = Registers::scalar_index(instruction.operands[0]); index != Registers::kNone)
      to.set(index, value, words);
  }
};

unsigned first_lane(const Move& move) {
  for (unsigned lane = 0; lane < move.from.lanes; ++lane)
    if (move.is_on(lane)) return lane;
  return 0;
}
u32 ones_below(u32 mask, unsigned lane, unsigned first) {
  u32 count = 0;
  for (unsigned bit = 0; bit < 32; ++bit)
    if (first + bit < lane && (mask >> bit & 1) != 0) ++count;
  return count;
}

/// Sixteen lanes read from their own row or, crossing, from the other one of the two; selectors are four bits each.
void permute_rows(const Move& move, bool crosses, bool by_lane) {
  // op_sel[0] reads lanes that are off, op_sel[1] has 0 for those that may not be read.
  const bool fetch = (move.instruction.op_sel & 1) != 0, bound = (move.instruction.op_sel & 2) != 0;
  for (unsigned lane = 0; lane < move.from.lanes; ++lane) {
    if (!move.is_on(lane)) continue;
    const unsigned place = lane % 16;
    const u32 selectors = by_lane ? move.word(1, lane) : move.word(place < 8 ? 1 : 2, lane) >> (place % 8 * 4);
    unsigned from = lane / 16 * 16 + (selectors & 15);
    if (crosses) from ^= 16;
    const bool valid = fetch || move.is_on(from);
    if (valid || bound) move.to.rows[move.row()][lane] = valid ? move.word(0, from) : 0;
  }
}

/// In gfx10 and gfx11 each half of a wave64 has a crossbar of its own.
unsigned through_crossbar(const Registers& registers, u32 address, unsigned lane) {
  const bool halves = registers.generation == Generation::gfx10 || registers.generation == Generation::gfx11;
  if (registers.lanes == 64 && halves) return lane / 32 * 32 + address / 4 % 32;
  return address / 4 % registers.lanes;
}
void permute_lds(const Move& move, bool backward) {
  const u32 offset = static_cast<u32>(move.instruction.offset);
  std::array<u32, 64> sent{};
  for (unsigned lane = 0; lane < move.from.lanes; ++lane) {
    const unsigned other = through_crossbar(move.from, move.word(0, lane) + offset, lane);
    if (backward)
      sent[lane] = move.is_on(other) ? move.word(1, other) : 0;
    else if (move.is_on(lane))
      sent[other] = move.word(1, lane);
  }
  move.each([&](unsigned lane) { return sent[lane]; });
}
/// The offset is a pattern: bit 15, four lanes each of which has two bits; else masks of and, or, xor, of 32 lanes.
void swizzle(const Move& move) {
  const unsigned pattern = static_cast<unsigned>(move.instruction.offset) & 0xffff;
  move.each([&](unsigned lane) {
    unsigned from = 0;
    if ((pattern & 0x8000) != 0)
      from = lane / 4 * 4 + (pattern >> (lane % 4 * 2) & 3);
    else
      from = lane / 32 * 32 + ((((lane % 32) & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
    return move.is_on(from) ? move.word(0, from) : 0;
  });
}

void swap_rows(const Move& move) {
  const unsigned other = Registers::row_index(move.instruction.operands[1]);
  for (unsigned lane = 0; lane < move.from.lanes; ++lane)
    if (move.is_on(lane)) {
      move.to.rows[move.row()][lane] = move.from.rows[other][lane];
      move.to.rows[other][lane] = move.from.rows[move.row()][lane];
    }
}

void move_packed(const Move& move) {
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned high = move.instruction.op_sel >> i & 1;
    for (unsigned lane = 0; lane < move.from.lanes; ++lane)
      if (move.is_on(lane)) move.to.rows[move.row() + i][lane] = move.from.word(move.source(i), high, lane);
  }
}

void move_scalars(const Move& move, bool source_moves, unsigned words) {
  const u32 by = move.from.scalars[Registers::kM0];
  const unsigned from = Registers::scalar_index(move.source(0));
  if (source_moves) {
    const unsigned place = from + by;
    move.scalar(words == 2 ? move.from.pair(place) : move.from.scalars[place], words);
  } else {
    move.to.set(Registers::scalar_index(move.instruction.operands[0]) + by, move.from.scalar(move.source(0)), words);
  }
}

}  // namespace

bool is_cross_lane(std::string_view name) {
  return std::ranges::find(kNames, name) != std::end(kNames);
}

bool prepare_cross_lane(Registers& registers, const Instruction& instruction, u64& random) {
  const std::string_view name = isa::to_string(instruction.opcode);
  if (instruction.dpp != isa::DppKind::none || instruction.sdwa) return false;
  // Swizzles of gfx9's and later FFT and rotation modes are refused.
  if (name == "ds_swizzle_b32") return (instruction.offset & 0xffff) < 0xc000;
  if (name == "v_swap_b32") return Registers::row_index(instruction.operands[1]) != Registers::kNone;
  if (name.find("rel") == std::string_view::npos) return true;
  registers.scalars[Registers::kM0] = static_cast<u32>(next_random(random) % 8 * 2);
  const u32 by = registers.scalars[Registers::kM0];
  if (name.find("_movrelsd") != std::string_view::npos || name == "v_swaprel_b32") {
    // A field for the source and one for the destination, or M0 for both.
    const u32 apart = static_cast<u32>(next_random(random) % 16);
    if (name != "v_movrelsd_b32") registers.scalars[Registers::kM0] |= apart << 16 | (apart % 4) << 26;
    const Operand &to = instruction.operands[0], &from = instruction.sources()[0];
    if (name.starts_with("s_"))
      return to.kind == isa::OperandKind::sgpr && from.kind == isa::OperandKind::sgpr && from.value + by < 100 &&
             to.value + apart < 100;
    return to.kind == isa::OperandKind::vgpr && from.kind == isa::OperandKind::vgpr && from.value + by < 256 &&
           to.value + std::max(by, apart) < 256;
  }
  const bool scalar = name.starts_with("s_"), source = name.find("movrels") != std::string_view::npos;
  const Operand& moved = source ? instruction.sources()[0] : instruction.operands[0];
  if (scalar) return moved.kind == isa::OperandKind::sgpr && moved.value + by + 2 <= 100;
  return moved.kind == isa::OperandKind::vgpr && moved.value + by < 256;
}

void execute_cross_lane(Registers& registers, const Instruction& instruction) {
  const std::string_view name = isa::to_string(instruction.opcode);
  const Move move{registers, registers, instruction};
  const u32 by = registers.scalars[Registers::kM0];
  if (name == "v_readfirstlane_b32") return move.scalar(move.word(0, first_lane(move)));
  if (name == "v_readlane_b32") return move.scalar(move.word(0, move.word(1, 0) % registers.lanes));
  if (name == "v_writelane_b32") {
    registers.rows[move.row()][move.word(1, 0) % registers.lanes] = move.word(0, 0);
    return;
  }
  if (name == "v_mbcnt_lo_u32_b32")
    return move.each([&](unsigned lane) { return move.word(1, lane) + ones_below(move.word(0, lane), lane, 0); });
  if (name == "v_mbcnt_hi_u32_b32")
    return move.each([&](unsigned lane) { return move.word(1, lane) + ones_below(move.word(0, lane), lane, 32); });
  if (name == "v_permlane64_b32") {
    if (registers.lanes == 64) move.each([&](unsigned lane) { return move.word(0, lane ^ 32); });
    return;
  }
  if (name.starts_with("v_permlane"))
    return permute_rows(move, name.find("x16") != std::string_view::npos, name.find("_var") != std::string_view::npos);
  if (name == "v_swap_b32") return swap_rows(move);
  if (name == "v_movrels_b32") {
    const unsigned from = Registers::row_index(move.source(0)) + by;
    return move.each([&](unsigned lane) { return move.from.rows[from][lane]; });
  }
  if (name.starts_with("v_movrelsd") || name == "v_swaprel_b32") {
    const bool one = name == "v_movrelsd_b32";
    const unsigned from = Registers::row_index(move.source(0)) + (one ? by : by & 0x3ff);
    const unsigned to = move.row() + (one ? by : by >> 16 & 0x3ff);
    for (unsigned lane = 0; lane < registers.lanes; ++lane) {
      if (!move.is_on(lane)) continue;
      registers.rows[to][lane] = move.from.rows[from][lane];
      if (name == "v_swaprel_b32") registers.rows[from][lane] = move.from.rows[to][lane];
    }
    return;
  }
  if (name == "v_movreld_b32") {
    for (unsigned lane = 0; lane < registers.lanes; ++lane)
      if (move.is_on(lane)) registers.rows[move.row() + by][lane] = move.word(0, lane);
    return;
  }
  if (name == "v_pk_mov_b32") return move_packed(move);
  if (name == "ds_swizzle_b32") return swizzle(move);
  if (name.starts_with("ds_")) return permute_lds(move, name == "ds_bpermute_b32");
  if (name == "s_movrelsd_2_b32") {
    const unsigned to = Registers::scalar_index(instruction.operands[0]) + (by >> 16 & 0x3ff);
    registers.scalars[to] = move.from.scalars[Registers::scalar_index(move.source(0)) + (by & 0x3ff)];
    return;
  }
  move_scalars(move, name.find("movrels") != std::string_view::npos, name.ends_with("64") ? 2 : 1);
}

}  // namespace wavegate::amdgpu::wave::testing
