#include "wavegate/amdgpu/isa/disassemble.h"

#include <algorithm>

#include "wavegate/amdgpu/isa/decode.h"
#include "wavegate/amdgpu/isa/print.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::isa {

std::vector<Line> disassemble(std::span<const std::uint32_t> words, Target target, WaveWidth wave) {
  std::vector<Line> lines;
  std::vector<std::uint64_t> targets;
  for (std::size_t at = 0; at < words.size();) {
    Line& line = lines.emplace_back();
    line.offset = 4 * at;
    line.decoded = try_decode(words.subspan(at), target, wave, line.instruction);
    if (!line.decoded) {
      line.instruction = Instruction{};
      line.instruction.words = 1;
    } else if (const auto to = branch_target(line)) {
      targets.push_back(static_cast<std::uint64_t>(*to));
    }
    at += line.instruction.words;
  }
  std::sort(targets.begin(), targets.end());
  for (Line& line : lines) line.is_target = std::binary_search(targets.begin(), targets.end(), line.offset);
  return lines;
}

std::optional<std::int64_t> branch_target(const Line& line) {
  if (!line.decoded) return std::nullopt;
  for (unsigned i = 0; i < line.instruction.operand_count; ++i) {
    const Operand& operand = line.instruction.operands[i];
    if (operand.kind == OperandKind::label)
      return static_cast<std::int64_t>(line.offset + line.instruction.bytes()) +
             4 * std::int64_t{static_cast<std::int32_t>(operand.value)};
  }
  return std::nullopt;
}

std::string label(std::uint64_t offset) {
  return format("L{:04x}", offset);
}

std::string print(const Line& line, std::span<const std::uint32_t> words) {
  if (!line.decoded) return format(".long {:#010x}", words[static_cast<std::size_t>(line.offset / 4)]);
  std::string text = print(line.instruction);
  const auto target = branch_target(line);
  if (!target) return text;
  // The displacement is the last operand of every branch.
  const std::size_t last = text.rfind(' ') + 1;
  const std::uint64_t size = 4 * static_cast<std::uint64_t>(words.size());
  if (*target < 0 || static_cast<std::uint64_t>(*target) > size) return text;
  return text.substr(0, last) + label(static_cast<std::uint64_t>(*target));
}

}  // namespace wavegate::amdgpu::isa
