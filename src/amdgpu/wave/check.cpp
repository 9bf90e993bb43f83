#include "wavegate/amdgpu/wave/check.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "wavegate/amdgpu/isa/decode.h"
#include "wavegate/amdgpu/isa/print.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

bool is_copy(const isa::Instruction& instruction) {
  switch (instruction.opcode) {
    case s_mov_b32:
    case s_mov_b64:
    case v_readfirstlane_b32:
    case v_readlane_b32:
    case v_writelane_b32: return true;
    case v_mov_b32:
    case v_mov_b64:
    case v_accvgpr_read_b32:
    case v_accvgpr_write_b32:
    case v_accvgpr_mov_b32: return instruction.dpp == isa::DppKind::none && !instruction.sdwa;
    default: return false;
  }
}

/// Which words of a source a step uses, a bit for each.
u64 used_words(const Wave& wave, const Step& step, unsigned i) {
  const isa::Instruction& instruction = step.instruction;
  const Source& source = step.sources[i];
  // Of a mask in a wave32 there is one register, though instructions name two.
  if (source.storage == Storage::flag && wave.lanes == 32) return 1;
  const unsigned low = instruction.op_sel >> i & 1, high = instruction.op_sel_hi >> i & 1;
  switch (instruction.opcode) {
    // Of a 64-bit sum whose upper half nobody uses, compilers leave the addend's undefined.
    case v_mad_u64_u32: return i == 2 ? 1 : 3;
    case v_pk_add_f32:
    case v_pk_mul_f32:
    case v_pk_fma_f32: return source.words < 2 ? 1 : 1u << low | 1u << high;
    case v_pk_mov_b32: return source.words < 2 ? 1 : 1u << low;
    default: return (u64{1} << source.words) - 1;
  }
}

/// The lanes for which a word of a source was written.
LaneMask defined_lanes(const Wave& wave, const Source& source, unsigned word) {
  const unsigned index = source.index + word;
  if (source.mode == SourceMode::row) return wave.written->rows[index];
  if (source.mode == SourceMode::scalar && index < scalar::kM0 && !wave.written->scalars[index]) return 0;
  return ~LaneMask{0};
}

void copy(Wave& wave, const Step& step) {
  auto& written = *wave.written;
  const Source& source = step.sources[0];
  const Destination& destination = step.destination;
  const LaneMask exec = wave.exec();
  LaneMask lanes = exec;
  unsigned lane = exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(exec));
  if (step.instruction.opcode == v_readlane_b32 || step.instruction.opcode == v_writelane_b32) {
    lane = static_cast<u32>(read(wave, step.sources[1])) & (wave.lanes - 1);
    lanes = LaneMask{1} << lane;
  }
  for (unsigned word = 0; word < destination.words; ++word) {
    const LaneMask defined = defined_lanes(wave, source, source.words > word ? word : 0u);
    if (destination.mode == SourceMode::row) {
      LaneMask& row = written.rows[destination.index + word];
      row = (row & ~lanes) | (defined & lanes);
    } else if (destination.mode == SourceMode::scalar) {
      written.scalars[destination.index + word] = (defined >> lane & 1) != 0;
    }
  }
}

/// What a store moves may go to scratch memory, which memory instructions find out.
bool is_stored(const Step& step, unsigned source) {
  return step.memory.kind == MemoryAction::Kind::store && step.memory.space != MemorySpace::lds &&
         source == step.memory.data;
}

}  // namespace

std::string text_of(const Wave& wave, const Step& step) {
  std::array<u32, 5> words{};
  const auto bytes = wave.machine->memory->at(step.address, u64{step.instruction.words} * 4);
  if (bytes.empty() || bytes.size() > sizeof(words)) return isa::print(step.instruction);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  isa::Instruction whole;
  const auto width = wave.lanes == 32 ? isa::WaveWidth::wave32 : isa::WaveWidth::wave64;
  const bool decoded = isa::try_decode({words.data(), bytes.size() / 4}, wave.machine->target, width, whole);
  return isa::print(decoded ? whole : step.instruction);
}

std::string place_text(const Wave& wave, const Step& step) {
  const Machine& machine = *wave.machine;
  if (machine.object == nullptr || machine.launched == nullptr)
    return format("{:#x}", step.address - machine.code_base);
  return to_string(find_place(*machine.object, *machine.launched, step.address - machine.image_base));
}

Finding finding_at(const Wave& wave, const Step& step, FindingKind kind) {
  Finding finding;
  finding.kind = kind;
  finding.code_address = step.address - wave.machine->image_base;
  finding.instruction = text_of(wave, step);
  finding.workgroup = wave.group->id;
  finding.wave = wave.number;
  return finding;
}

void report(Wave& wave, const Step& step, FindingKind kind, unsigned lane, u64 address) {
  Finding finding = finding_at(wave, step, kind);
  finding.lane = lane;
  finding.address = address;
  wave.machine->findings->add(std::move(finding));
}

void report_undefined(Wave& wave, const Step& step, unsigned row, unsigned lane) {
  Finding finding = finding_at(wave, step, FindingKind::uninitialised_register);
  finding.lane = lane;
  finding.address = row;
  finding.detail = row >= vector::kAccumulation ? format("a{}", row - vector::kAccumulation) : format("v{}", row);
  wave.machine->findings->add(std::move(finding));
}

void check_sources(Wave& wave, const Step& step) {
  wave.written->undefined_loads.fill(0);
  const LaneMask exec = wave.exec();
  const bool copies = is_copy(step.instruction);
  for (unsigned i = copies ? 1 : 0; i < step.sources.size(); ++i) {
    const Source& source = step.sources[i];
    if ((source.mode != SourceMode::row && source.mode != SourceMode::scalar) || is_stored(step, i)) continue;
    // The lane that v_writelane leaves as it was is read by nobody.
    if (copies && source.mode == SourceMode::row) continue;
    const u64 used = used_words(wave, step, i);
    for (unsigned word = 0; word < source.words; ++word) {
      if ((used >> word & 1) == 0) continue;
      const unsigned index = source.index + word;
      const LaneMask missing =
          (source.mode == SourceMode::row ? exec : LaneMask{1}) & ~defined_lanes(wave, source, word);
      if (missing == 0) continue;
      if (source.mode == SourceMode::row) {
        report_undefined(wave, step, index, static_cast<unsigned>(std::countr_zero(missing)));
        continue;
      }
      Finding finding = finding_at(wave, step, FindingKind::uninitialised_register);
      finding.address = index;
      finding.detail = index == scalar::kVcc ? "vcc_lo" : index == scalar::kVcc + 1 ? "vcc_hi" : format("s{}", index);
      wave.machine->findings->add(std::move(finding));
    }
  }
  if (copies) copy(wave, step);
}

void note_results(Wave& wave, const Step& step, LaneMask exec) {
  if (is_copy(step.instruction)) return;
  auto& written = *wave.written;
  for (const Destination* destination : {&step.destination, &step.mask_destination}) {
    const bool is_mask = destination == &step.mask_destination && wave.lanes == 32;
    const unsigned words = is_mask ? std::min<unsigned>(destination->words, 1) : destination->words;
    for (unsigned word = 0; word < words; ++word) {
      if (destination->mode == SourceMode::scalar) written.scalars[destination->index + word] = true;
      if (destination->mode != SourceMode::row) continue;
      const LaneMask undefined = word < written.undefined_loads.size() ? written.undefined_loads[word] : 0;
      LaneMask& row = written.rows[destination->index + word];
      row = (row | exec) & ~undefined;
    }
  }
}

}  // namespace wavegate::amdgpu::wave
