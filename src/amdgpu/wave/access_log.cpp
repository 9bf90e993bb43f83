#include "wavegate/amdgpu/wave/access_log.h"

#include <algorithm>

#include "wavegate/amdgpu/wave/check.h"

namespace wavegate::amdgpu::wave {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Access = AccessLog::Access;

bool writes(AccessKind kind) {
  return kind == AccessKind::write || kind == AccessKind::atomic;
}

bool conflict(AccessKind one, AccessKind other) {
  if (!writes(one) && !writes(other)) return false;
  const auto is_atomic = [](AccessKind kind) { return kind == AccessKind::atomic || kind == AccessKind::atomic_read; };
  if (is_atomic(one) && is_atomic(other)) return false;
  // What an atomic read waits for is stored atomically, which cannot be seen.
  return one != AccessKind::atomic_read && other != AccessKind::atomic_read;
}

bool conflict(const Access& one, const Access& other, bool in_lds) {
  if (one.step == nullptr || other.step == nullptr || !conflict(one.kind, other.kind)) return false;
  if (one.group != other.group) return !in_lds;
  return one.wave != other.wave && one.phase == other.phase;
}

void report_race(Wave& wave, bool in_lds, u64 address, unsigned lane, const Access& access, const Access& before) {
  Finding finding = finding_at(wave, *access.step, in_lds ? FindingKind::lds_race : FindingKind::global_race);
  finding.lane = lane;
  finding.address = address;
  finding.access = access.kind;
  Finding::OtherAccess other;
  other.code_address = before.step->address - wave.machine->image_base;
  other.kind = before.kind;
  other.instruction = text_of(wave, *before.step);
  other.group = before.group;
  other.wave = before.wave;
  finding.other = std::move(other);
  wave.machine->findings->add(std::move(finding));
}

void record(AccessLog::Entry& entry, const Access& access) {
  if (access.kind == AccessKind::write) {
    // Whatever is in conflict with an access before this one is so with this one, or that has been reported.
    entry = {};
    entry.written = access;
  } else if (access.kind == AccessKind::atomic) {
    if (!entry.atomic.of_same_wave(access)) entry.other_atomic = entry.atomic;
    entry.atomic = access;
  } else if (access.kind == AccessKind::read) {
    // An atomic read is in conflict with nothing, and must not drive out what is.
    if (!entry.read.of_same_wave(access) && entry.read.kind == AccessKind::read) entry.other_read = entry.read;
    entry.read = access;
  }
}

}  // namespace

template <typename Visit>
bool AccessLog::visit(bool in_lds, u64 address, unsigned bytes, const Visit& visit) {
  auto& words = in_lds ? lds_ : global_;
  auto found = words.find(address / 4);
  const bool full = !in_lds && entries_ >= maximum_entries_;
  if (found == words.end()) {
    if (full) return false;
    found = words.try_emplace(address / 4).first;
    entries_ += in_lds ? 0 : 1;
  }
  Word& word = found->second;
  if (bytes < 4 && word.bytes == nullptr) {
    if (full) return false;
    word.bytes = std::make_unique<std::array<Entry, 4>>();
    word.bytes->fill(word.whole);
    entries_ += in_lds ? 0 : 4;
  }
  if (word.bytes == nullptr) {
    visit(word.whole);
  } else {
    for (unsigned i = 0; i < bytes; ++i) visit((*word.bytes)[address % 4 + i]);
  }
  return true;
}

void AccessLog::leave_unwatched(const Wave& wave, const Step& step, u64 address, unsigned lane, AccessKind kind) {
  if (unwatched_) {
    ++unwatched_->occurrences;
    return;
  }
  unwatched_ = finding_at(wave, step, FindingKind::unwatched_accesses);
  unwatched_->lane = lane;
  unwatched_->address = address;
  unwatched_->access = kind;
  unwatched_->detail = "the first of those for which races were not looked for: too many words are accessed";
}

void AccessLog::end_group() {
  for (const auto& [word, doubt] : doubts_)
    if (doubt.wave != nullptr)
      report_race(*doubt.wave, doubt.in_lds, doubt.address, doubt.lane, doubt.access, doubt.before);
  doubts_.clear();
}

namespace {

/// The reads of a wave that compares and swaps were guesses.
void settle(AccessLog& log, AccessLog::Entry& entry, const Wave& wave, const Access& access, bool in_lds, u64 address) {
  for (Access* read : {&entry.read, &entry.other_read})
    if (read->of_same_wave(access)) read->kind = AccessKind::atomic_read;
  AccessLog::Doubt& doubt = log.doubt(in_lds, address);
  if (doubt.wave == &wave) doubt.wave = nullptr;
}

void raise(AccessLog& log, const AccessLog::Doubt& doubt) {
  AccessLog::Doubt& known = log.doubt(doubt.in_lds, doubt.address);
  if (known.wave != nullptr && known.wave != doubt.wave)
    report_race(*known.wave, known.in_lds, known.address, known.lane, known.access, known.before);
  known = doubt;
}

}  // namespace

void note_access(Wave& wave, const Step& step, bool in_lds, u64 address, unsigned bytes, AccessKind kind,
                 unsigned lane) {
  AccessLog& log = *wave.group->shadow;
  const Access access{wave.group->number, &step, static_cast<u32>(wave.group->barrier_phase),
                      static_cast<std::uint16_t>(wave.number), kind};
  const bool proves = kind == AccessKind::atomic && step.memory.atomic == AtomicOperation::compare_swap;
  bool watched = true;
  for (u64 at = address; at < address + bytes;) {
    const auto count = static_cast<unsigned>(std::min<u64>(4 - at % 4, address + bytes - at));
    watched &= log.visit(in_lds, at, count, [&](AccessLog::Entry& entry) {
      for (const Access* before :
           {&entry.written, &entry.atomic, &entry.other_atomic, &entry.read, &entry.other_read}) {
        if (!conflict(*before, access, in_lds)) continue;
        if (kind == AccessKind::read && before->kind == AccessKind::atomic)
          raise(log, {&wave, access, *before, at, lane, in_lds});
        else
          report_race(wave, in_lds, address, lane, access, *before);
        break;
      }
      if (proves) settle(log, entry, wave, access, in_lds, at);
      record(entry, access);
    });
    at += count;
  }
  if (!watched) log.leave_unwatched(wave, step, address, lane, kind);
}

}  // namespace wavegate::amdgpu::wave
