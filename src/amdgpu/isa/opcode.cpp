#include "wavegate/amdgpu/isa/opcode.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace wavegate::amdgpu::isa {

namespace {

using enum OpcodeFlags::Flag;

constexpr OpcodeInfo kOpcodes[] = {
#define WAVEGATE_OPCODE(name, flags) {#name, flags},
#include "wavegate/amdgpu/isa/tables/opcodes.inc"
#undef WAVEGATE_OPCODE
};

struct Renamed {
  std::string_view name;
  Opcode opcode;
};

constexpr Renamed kRenamed[] = {
#define WAVEGATE_RENAMED(name, opcode) {#name, Opcode::opcode},
#include "wavegate/amdgpu/isa/tables/renamed.inc"
#undef WAVEGATE_RENAMED
};

constexpr auto kByName = [](const auto& a, const auto& b) { return a.name < b.name; };
static_assert(std::is_sorted(std::begin(kOpcodes), std::end(kOpcodes), kByName), "parse_opcode searches by halves");
static_assert(std::is_sorted(std::begin(kRenamed), std::end(kRenamed), kByName));

}  // namespace

const OpcodeInfo& info(Opcode opcode) {
  return kOpcodes[static_cast<std::size_t>(opcode)];
}

std::optional<Opcode> parse_opcode(std::string_view name) {
  const auto before = [](const auto& row, std::string_view wanted) { return row.name < wanted; };
  const auto* const row = std::lower_bound(std::begin(kOpcodes), std::end(kOpcodes), name, before);
  if (row != std::end(kOpcodes) && row->name == name) return static_cast<Opcode>(row - std::begin(kOpcodes));
  const auto* const renamed = std::lower_bound(std::begin(kRenamed), std::end(kRenamed), name, before);
  if (renamed != std::end(kRenamed) && renamed->name == name) return renamed->opcode;
  return std::nullopt;
}

}  // namespace wavegate::amdgpu::isa
