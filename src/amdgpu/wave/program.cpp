#include "wavegate/amdgpu/wave/program.h"

#include <algorithm>
#include <cstring>

#include "wavegate/amdgpu/isa/decode.h"

namespace wavegate::amdgpu::wave {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// One of the two operations of a dual instruction, as an instruction of its own.
isa::Instruction half_of(const isa::Instruction& dual, bool second) {
  isa::Instruction half = dual;
  const unsigned first = second ? dual.second_operands : 0u;
  const unsigned last = second ? dual.operand_count : dual.second_operands;
  half.encoding = isa::Encoding::vop2;
  half.opcode = half.second_opcode = second ? dual.second_opcode : dual.opcode;
  half.operand_count = static_cast<std::uint8_t>(last - first);
  half.destination_count = 1;
  half.second_operands = half.operand_count;
  half.operands = {};
  std::copy(dual.operands.begin() + first, dual.operands.begin() + last, half.operands.begin());
  return half;
}

/// Whether one reads what the other writes.
bool reads(const isa::Instruction& reader, const isa::Instruction& writer) {
  const isa::Operand& written = writer.operands[0];
  const auto sources = reader.sources();
  return std::ranges::any_of(sources, [&](const isa::Operand& source) {
    return source.kind == written.kind && source.value == written.value;
  });
}

isa::Instruction move(const isa::Instruction& like, const isa::Operand& to, const isa::Operand& from) {
  isa::Instruction instruction = like;
  instruction.encoding = isa::Encoding::vop1;
  instruction.opcode = instruction.second_opcode = isa::Opcode::v_mov_b32;
  instruction.operand_count = 2;
  instruction.operands = {to, from};
  return instruction;
}

}  // namespace

Step* Program::find(u64 address) {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? nullptr : found->second;
}

const Step* Program::at(u64 address) {
  const std::lock_guard lock(mutex_);
  if (const Step* const known = find(address)) return known;
  const bool is_code = std::ranges::any_of(image_.segments, [&](const object::ImageSegment& segment) {
    return segment.executable && address >= segment.address && address - segment.address < segment.bytes.size();
  });
  if (!is_code || address % 4 != 0) return nullptr;
  follow(address);
  return find(address);
}

void Program::follow(u64 entry) {
  std::vector<u64> open{entry};
  const std::size_t first_new = steps_.size();
  const auto make_values = [&] { return &values_.emplace_back(); };
  const auto add = [&](const isa::Instruction& instruction, u64 address) -> Step& {
    Step& step = steps_.emplace_back();
    step.address = address;
    step.instruction = instruction;
    translate(step, make_values);
    return step;
  };
  std::unordered_map<const Step*, u64> behind;  // where a step goes on, and where it branches to
  std::unordered_map<const Step*, u64> targets;
  while (!open.empty()) {
    u64 address = open.back();
    open.pop_back();
    while (find(address) == nullptr) {
      u32 words[5] = {};
      const auto segment = std::ranges::find_if(image_.segments, [&](const object::ImageSegment& candidate) {
        return candidate.executable && address >= candidate.address &&
               address - candidate.address < candidate.bytes.size();
      });
      std::size_t count = 0;
      if (segment != image_.segments.end()) {
        const std::size_t offset = static_cast<std::size_t>(address - segment->address);
        count = std::min<std::size_t>(5, (segment->bytes.size() - offset) / 4);
        std::memcpy(words, segment->bytes.data() + offset, count * 4);
      }
      isa::Instruction instruction;
      if (!isa::try_decode({words, count}, target_, width_, instruction)) instruction = {};
      instruction.target = target_;
      const isa::OpcodeInfo& info = isa::info(instruction.opcode);
      Step* last = nullptr;
      if (instruction.words != 0 && instruction.encoding == isa::Encoding::vopd) {
        // Both halves read before either writes: the one whose result the other reads goes last, or is held back.
        isa::Instruction one = half_of(instruction, false), other = half_of(instruction, true);
        if (reads(other, one)) std::swap(one, other);
        const isa::Operand held{isa::OperandKind::vgpr, 1, isa::ValueType::bits, 0, 0};
        const bool hold = reads(other, one);
        Step& first = add(one, address);
        if (hold) first.destination.index = vector::kHeldBack;
        by_address_[address] = &first;
        Step& second = add(other, address);
        first.next = &second;
        last = &second;
        if (hold) {
          Step& third = add(move(one, one.operands[0], held), address);
          third.sources[0].index = vector::kHeldBack;
          second.next = &third;
          last = &third;
        }
      } else {
        last = &add(instruction, address);
        by_address_[address] = last;
      }
      if (instruction.words == 0) break;
      const u64 next = address + instruction.bytes();
      if (info.has(isa::OpcodeFlags::branch)) {
        for (const isa::Operand& operand : instruction.operands)
          if (operand.kind == isa::OperandKind::label) {
            targets[last] =
                next + static_cast<u64>(static_cast<std::int64_t>(static_cast<std::int32_t>(operand.value))) * 4;
            open.push_back(targets[last]);
          }
      }
      if (info.has(isa::OpcodeFlags::terminator)) break;
      behind[last] = next;
      address = next;
    }
  }
  for (std::size_t i = first_new; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    if (const auto next = behind.find(&step); next != behind.end()) step.next = find(next->second);
    if (const auto target = targets.find(&step); target != targets.end()) step.target = find(target->second);
  }
}

}  // namespace wavegate::amdgpu::wave
