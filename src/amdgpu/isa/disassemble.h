#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wavegate/amdgpu/isa/instruction.h"

namespace wavegate::amdgpu::isa {

/// A line of a disassembly: an instruction, or a word that is none.
struct Line {
  std::uint64_t offset = 0;  ///< in bytes from the first word
  bool decoded = false;      ///< false: `instruction` is empty but for its length of one word
  bool is_target = false;    ///< a branch of this code leads here
  Instruction instruction;
};

/// Every word of a kernel, in order. A word that is no instruction becomes a line of its own.
std::vector<Line> disassemble(std::span<const std::uint32_t> words, Target target, WaveWidth wave);

/// Where a branch leads, in bytes from the first word; nothing if its target is no label: s_setpc, s_endpgm.
std::optional<std::int64_t> branch_target(const Line& line);

/// "L" and the offset in hexadecimal: how a branch target is named.
std::string label(std::uint64_t offset);

/// One line of text: "  v_add_f32_e32 v0, v1, v2", a branch with its label, ".long 0x..." for a word that is none.
std::string print(const Line& line, std::span<const std::uint32_t> words);

}  // namespace wavegate::amdgpu::isa
