#include <algorithm>
#include <cstring>
#include <iterator>

#include "wavegate/amdgpu/wave/check.h"
#include "wavegate/amdgpu/wave/step.h"

/// Scalar loads and stores.
namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

void note(Wave& wave, const Step& step, AccessKind kind, u64 address, unsigned bytes) {
  if (wave.group->shadow != nullptr) note_access(wave, step, false, address, bytes, kind, 0);
}

/// The offset operands from source `first` on: an immediate, a register, or both.
u64 offset_of(const Wave& wave, const Step& step, unsigned first) {
  const Source& source = step.sources[first];
  if (source.mode == SourceMode::constant)
    return static_cast<u64>(static_cast<std::int64_t>(static_cast<std::int32_t>(source.value)));
  const u64 constant = static_cast<u64>(static_cast<std::int64_t>(step.instruction.offset));
  return source.mode == SourceMode::scalar ? wave.scalars[source.index] + constant : constant;
}

/// The word at an address: 0, and a finding, where there is none.
u32 load_word(Wave& wave, const Step& step, u64 address) {
  const auto bytes = wave.machine->memory->at(address, 4);
  u32 word = 0;
  if (bytes.empty())
    report(wave, step, FindingKind::out_of_bounds_read, 0, address);
  else
    std::memcpy(&word, bytes.data(), 4);
  if (!bytes.empty()) note(wave, step, AccessKind::read, address, 4);
  return word;
}

const Step* run_load(Wave& wave, const Step& step) {
  const u64 address = (wave.pair(step.sources[0].index) + offset_of(wave, step, 1)) & ~u64{3};
  u32 words[16];
  const unsigned count = std::min<unsigned>(step.destination.words, 16);
  const auto bytes = wave.machine->memory->at(address, u64{count} * 4);
  if (!bytes.empty() && wave.group->shadow == nullptr)
    std::memcpy(words, bytes.data(), bytes.size());
  else
    for (unsigned i = 0; i < count; ++i) words[i] = load_word(wave, step, address + u64{i} * 4);
  std::copy_n(words, count, &wave.scalars[step.destination.index]);
  return step.next;
}

/// Through a descriptor, with its bounds.
const Step* run_buffer_load(Wave& wave, const Step& step) {
  const u32* const buffer = &wave.scalars[step.sources[0].index];
  const u64 base = buffer[0] | static_cast<u64>(buffer[1] & 0xffffu) << 32;
  const u32 stride = buffer[1] >> 16 & 0x3fffu;
  const u64 size = stride == 0 ? buffer[2] : u64{stride} * buffer[2];
  const u64 offset = offset_of(wave, step, 1) & ~u64{3};
  u32 words[16];
  const unsigned count = std::min<unsigned>(step.destination.words, 16);
  for (unsigned i = 0; i < count; ++i) {
    const u64 place = offset + u64{i} * 4;
    words[i] = place + 4 <= size ? load_word(wave, step, base + place) : 0;
  }
  std::copy_n(words, count, &wave.scalars[step.destination.index]);
  return step.next;
}

template <typename T>
const Step* run_small_load(Wave& wave, const Step& step) {
  const u64 address = wave.pair(step.sources[0].index) + offset_of(wave, step, 1);
  const auto bytes = wave.machine->memory->at(address, sizeof(T));
  T value = 0;
  if (bytes.empty())
    report(wave, step, FindingKind::out_of_bounds_read, 0, address);
  else
    std::memcpy(&value, bytes.data(), sizeof(T));
  if (!bytes.empty()) note(wave, step, AccessKind::read, address, sizeof(T));
  write(wave, step.destination, static_cast<u32>(static_cast<std::int32_t>(value)));
  return step.next;
}

const Step* run_store(Wave& wave, const Step& step) {
  const u64 address = (wave.pair(step.sources[1].index) + offset_of(wave, step, 2)) & ~u64{3};
  for (unsigned i = 0; i < step.sources[0].words; ++i) {
    const MemoryRange* const range = wave.machine->memory->find(address + u64{i} * 4);
    const auto bytes = wave.machine->memory->at(address + u64{i} * 4, 4);
    if (bytes.empty() || !range->writable) {
      report(wave, step, FindingKind::out_of_bounds_write, 0, address + u64{i} * 4);
      continue;
    }
    note(wave, step, AccessKind::write, address + u64{i} * 4, 4);
    std::memcpy(bytes.data(), &wave.scalars[step.sources[0].index + i], 4);
  }
  return step.next;
}

struct ScalarMemoryRow {
  isa::Opcode opcode;
  Handler handler;
};
constexpr ScalarMemoryRow kRows[] = {
    {s_load_dword, run_load},
    {s_load_dwordx2, run_load},
    {s_load_dwordx4, run_load},
    {s_load_dwordx8, run_load},
    {s_load_dwordx16, run_load},
    {s_load_b96, run_load},
    {s_load_u8, run_small_load<std::uint8_t>},
    {s_load_i8, run_small_load<std::int8_t>},
    {s_load_u16, run_small_load<std::uint16_t>},
    {s_load_i16, run_small_load<std::int16_t>},
    {s_buffer_load_dword, run_buffer_load},
    {s_buffer_load_dwordx2, run_buffer_load},
    {s_buffer_load_dwordx4, run_buffer_load},
    {s_buffer_load_dwordx8, run_buffer_load},
    {s_buffer_load_dwordx16, run_buffer_load},
    {s_store_dword, run_store},
    {s_store_dwordx2, run_store},
    {s_store_dwordx4, run_store},
};

}  // namespace

Handler scalar_memory_handler(isa::Opcode opcode) {
  const auto* const row = std::ranges::find(kRows, opcode, &ScalarMemoryRow::opcode);
  return row == std::end(kRows) ? nullptr : row->handler;
}

}  // namespace wavegate::amdgpu::wave
