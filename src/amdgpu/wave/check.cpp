#include "wavegate/amdgpu/wave/check.h"

#include <bit>

#include "wavegate/amdgpu/isa/print.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::wave {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::string_view name_of(AccessKind kind) {
  return kind == AccessKind::read ? "read" : kind == AccessKind::write ? "write" : "atomic";
}

Finding finding_at(const Wave& wave, const Step& step, FindingKind kind) {
  Finding finding;
  finding.kind = kind;
  finding.offset = step.address - wave.machine->code_base;
  finding.instruction = isa::print(step.instruction);
  finding.workgroup = wave.group->id;
  finding.wave = wave.number;
  return finding;
}

bool conflicts(const AccessLog::Access& one, const AccessLog::Access& other, bool in_lds) {
  if (!one.valid || (one.kind == AccessKind::atomic && other.kind == AccessKind::atomic)) return false;
  if (one.group != other.group) return !in_lds;
  return one.wave != other.wave && one.phase == other.phase;
}

void report_race(Wave& wave, const Step& step, bool in_lds, u64 address, unsigned lane, AccessKind kind,
                 const AccessLog::Access& other) {
  Finding finding = finding_at(wave, step, in_lds ? FindingKind::lds_race : FindingKind::global_race);
  finding.lane = lane;
  finding.address = address;
  finding.detail = format("{} after the {} at offset {:#x} of wave {}", name_of(kind), name_of(other.kind),
                          other.offset, other.wave);
  wave.machine->findings->add(std::move(finding));
}

bool is_program_counter_or_constant(const Source& source) {
  return source.mode != SourceMode::row && source.mode != SourceMode::scalar;
}

}  // namespace

AccessLog::Word* AccessLog::word(bool in_lds, u64 address) {
  auto& words = in_lds ? lds_ : global_;
  if (words.size() >= kMaximum && !words.contains(address)) return nullptr;
  return &words[address];
}

void note_access(Wave& wave, const Step& step, bool in_lds, u64 address, unsigned bytes, AccessKind kind,
                 unsigned lane) {
  const AccessLog::Access access{wave.group->number,
                                 wave.group->barrier_phase,
                                 wave.number,
                                 static_cast<u32>(step.address - wave.machine->code_base),
                                 kind,
                                 true};
  for (u64 at = address / 4 * 4; at < address + bytes; at += 4) {
    AccessLog::Word* const word = wave.group->shadow->word(in_lds, at);
    if (word == nullptr) return;
    if (conflicts(word->written, access, in_lds)) report_race(wave, step, in_lds, address, lane, kind, word->written);
    if (kind != AccessKind::read && conflicts(word->read, access, in_lds))
      report_race(wave, step, in_lds, address, lane, kind, word->read);
    (kind == AccessKind::read ? word->read : word->written) = access;
  }
}

void check_sources(Wave& wave, const Step& step) {
  const LaneMask exec = wave.exec();
  const auto& written = *wave.written;
  for (unsigned i = 0; i < step.sources.size(); ++i) {
    const Source& source = step.sources[i];
    if (is_program_counter_or_constant(source)) continue;
    // Of a 64-bit sum whose upper half nobody uses, compilers leave the addend's undefined.
    const bool low_alone = i == 2 && step.instruction.opcode == isa::Opcode::v_mad_u64_u32;
    for (unsigned word = 0; word < (low_alone ? 1u : source.words); ++word) {
      const unsigned index = source.index + word;
      const bool is_row = source.mode == SourceMode::row;
      const LaneMask missing = is_row ? exec & ~written.rows[index] : LaneMask{0};
      if (is_row ? missing == 0 : (written.scalars[index] || index >= scalar::kM0)) continue;
      Finding finding = finding_at(wave, step, FindingKind::uninitialised_register);
      finding.lane = missing == 0 ? 0 : static_cast<unsigned>(std::countr_zero(missing));
      finding.address = index;
      finding.detail = index >= vector::kAccumulation ? format("a{}", index - vector::kAccumulation)
                                                      : format("{}{}", is_row ? "v" : "s", index);
      wave.machine->findings->add(std::move(finding));
    }
  }
}

void note_results(Wave& wave, const Step& step, LaneMask exec) {
  auto& written = *wave.written;
  for (const Destination* destination : {&step.destination, &step.mask_destination}) {
    const unsigned words = destination->words;
    if (destination->mode == SourceMode::row)
      for (unsigned word = 0; word < words; ++word) {
        // v_writelane writes a lane whether it is on or off; which one it was does not matter to what it is used for.
        const bool lane = step.instruction.opcode == isa::Opcode::v_writelane_b32;
        written.rows[destination->index + word] |= lane ? ~LaneMask{0} : exec;
      }
    if (destination->mode == SourceMode::scalar)
      for (unsigned word = 0; word < words; ++word) written.scalars[destination->index + word] = true;
  }
}

}  // namespace wavegate::amdgpu::wave
