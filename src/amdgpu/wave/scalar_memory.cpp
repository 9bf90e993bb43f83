#include <algorithm>
#include <cstring>
#include <iterator>

#include "wavegate/amdgpu/wave/atomic.h"
#include "wavegate/amdgpu/wave/check.h"

/// Scalar loads, stores and atomics.
namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

void note(Wave& wave, const Step& step, AccessKind kind, u64 address, unsigned bytes) {
  if (wave.group->shadow != nullptr) note_access(wave, step, false, address, bytes, kind, 0);
}

/// What a register that is an offset counts: of scratch memory 64 bytes.
constexpr u64 kByte = 1, kScratchUnit = 64;

/// The offset operands from source `first` on: an immediate, a register, or both.
template <u64 unit = kByte>
u64 offset_of(const Wave& wave, const Step& step, unsigned first) {
  const Source& source = step.sources[first];
  if (source.mode == SourceMode::constant)
    return static_cast<u64>(static_cast<std::int64_t>(static_cast<std::int32_t>(source.value)));
  const u64 constant = static_cast<u64>(static_cast<std::int64_t>(step.instruction.offset));
  return source.mode == SourceMode::scalar ? wave.scalars[source.index] * unit + constant : constant;
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

template <u64 unit>
const Step* run_load(Wave& wave, const Step& step) {
  const u64 address = (wave.pair(step.sources[0].index) + offset_of<unit>(wave, step, 1)) & ~u64{3};
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

/// A descriptor, as scalar instructions take it: a range of bytes.
struct ScalarBuffer {
  u64 base, size;
};
ScalarBuffer buffer_at(const Wave& wave, const Source& source) {
  const u32* const words = &wave.scalars[source.index];
  const u32 stride = words[1] >> 16 & 0x3fffu;
  return {words[0] | static_cast<u64>(words[1] & 0xffffu) << 32, stride == 0 ? words[2] : u64{stride} * words[2]};
}

const Step* run_buffer_load(Wave& wave, const Step& step) {
  const ScalarBuffer buffer = buffer_at(wave, step.sources[0]);
  const u64 offset = offset_of(wave, step, 1) & ~u64{3};
  u32 words[16];
  const unsigned count = std::min<unsigned>(step.destination.words, 16);
  for (unsigned i = 0; i < count; ++i) {
    const u64 place = offset + u64{i} * 4;
    words[i] = place + 4 <= buffer.size ? load_word(wave, step, buffer.base + place) : 0;
  }
  std::copy_n(words, count, &wave.scalars[step.destination.index]);
  return step.next;
}

template <typename T>
void load_small(Wave& wave, const Step& step, u64 address) {
  const auto bytes = wave.machine->memory->at(address, sizeof(T));
  T value = 0;
  if (bytes.empty())
    report(wave, step, FindingKind::out_of_bounds_read, 0, address);
  else
    std::memcpy(&value, bytes.data(), sizeof(T));
  if (!bytes.empty()) note(wave, step, AccessKind::read, address, sizeof(T));
  write(wave, step.destination, static_cast<u32>(static_cast<std::int32_t>(value)));
}

template <typename T>
const Step* run_small_load(Wave& wave, const Step& step) {
  load_small<T>(wave, step, wave.pair(step.sources[0].index) + offset_of(wave, step, 1));
  return step.next;
}
template <typename T>
const Step* run_small_buffer_load(Wave& wave, const Step& step) {
  const ScalarBuffer buffer = buffer_at(wave, step.sources[0]);
  const u64 offset = offset_of(wave, step, 1);
  if (offset + sizeof(T) <= buffer.size)
    load_small<T>(wave, step, buffer.base + offset);
  else
    write(wave, step.destination, 0);
  return step.next;
}

/// Memory that may be written; nullptr, and a finding, where there is none.
std::byte* writable(Wave& wave, const Step& step, u64 address, unsigned bytes) {
  const MemoryRange* const range = wave.machine->memory->find(address);
  const auto place = wave.machine->memory->at(address, bytes);
  if (!place.empty() && range->writable) return place.data();
  report(wave, step, FindingKind::out_of_bounds_write, 0, address);
  return nullptr;
}

void store_word(Wave& wave, const Step& step, u64 address, u32 word) {
  std::byte* const place = writable(wave, step, address, 4);
  if (place == nullptr) return;
  note(wave, step, AccessKind::write, address, 4);
  std::memcpy(place, &word, 4);
}

template <u64 unit>
const Step* run_store(Wave& wave, const Step& step) {
  const u64 address = (wave.pair(step.sources[1].index) + offset_of<unit>(wave, step, 2)) & ~u64{3};
  for (unsigned i = 0; i < step.sources[0].words; ++i)
    store_word(wave, step, address + u64{i} * 4, wave.scalars[step.sources[0].index + i]);
  return step.next;
}

const Step* run_buffer_store(Wave& wave, const Step& step) {
  const ScalarBuffer buffer = buffer_at(wave, step.sources[1]);
  const u64 offset = offset_of(wave, step, 2) & ~u64{3};
  for (unsigned i = 0; i < step.sources[0].words; ++i)
    if (const u64 place = offset + u64{i} * 4; place + 4 <= buffer.size)
      store_word(wave, step, buffer.base + place, wave.scalars[step.sources[0].index + i]);
  return step.next;
}

/// The address of an atomic's place; nothing beyond a descriptor's bounds.
std::optional<u64> atomic_address(const Wave& wave, const Step& step, unsigned base, unsigned bytes, bool buffered) {
  const u64 offset = offset_of(wave, step, base + 1);
  if (!buffered) return (wave.pair(step.sources[base].index) + offset) & ~u64{3};
  const ScalarBuffer buffer = buffer_at(wave, step.sources[base]);
  if ((offset & ~u64{3}) + bytes > buffer.size) return std::nullopt;
  return buffer.base + (offset & ~u64{3});
}

/// Where the value before is wanted, it comes where the data was, which is then a destination and the last source.
void apply(Wave& wave, const Step& step, AtomicOperation operation, unsigned bytes, bool buffered) {
  const bool returns = step.instruction.destination_count != 0;
  const unsigned data = step.sources[returns ? 2 : 0].index;
  const auto address = atomic_address(wave, step, returns ? 0 : 1, bytes, buffered);
  const auto value_at = [&](unsigned index) { return bytes == 8 ? wave.pair(index) : wave.scalars[index]; };
  u64 before = 0;
  if (std::byte* const place = address ? writable(wave, step, *address, bytes) : nullptr) {
    if (*address % bytes != 0) {
      report(wave, step, FindingKind::misaligned_atomic, 0, *address);
    } else {
      note(wave, step, AccessKind::atomic, *address, bytes);
      // Of a compare-and-swap, the value to compare with lies behind the one to write.
      const u64 second = operation == AtomicOperation::compare_swap ? value_at(data + bytes / 4) : 0;
      before = apply_atomic(operation, bytes, place, value_at(data), second, true);
    }
  }
  if (!returns) return;
  if (bytes == 8)
    wave.set_pair(step.destination.index, before);
  else
    wave.scalars[step.destination.index] = static_cast<u32>(before);
}
template <AtomicOperation operation, unsigned bytes, bool buffered>
const Step* run_atomic(Wave& wave, const Step& step) {
  apply(wave, step, operation, bytes, buffered);
  return step.next;
}

struct ScalarMemoryRow {
  isa::Opcode opcode;
  Handler handler;
};
#define WAVEGATE_SCALAR_ATOMIC(name, operation)                                    \
  {s_atomic_##name, run_atomic<AtomicOperation::operation, 4, false>},             \
      {s_atomic_##name##_x2, run_atomic<AtomicOperation::operation, 8, false>},    \
      {s_buffer_atomic_##name, run_atomic<AtomicOperation::operation, 4, true>}, { \
    s_buffer_atomic_##name##_x2, run_atomic<AtomicOperation::operation, 8, true>   \
  }
constexpr ScalarMemoryRow kRows[] = {
    {s_load_dword, run_load<kByte>},
    {s_load_dwordx2, run_load<kByte>},
    {s_load_dwordx4, run_load<kByte>},
    {s_load_dwordx8, run_load<kByte>},
    {s_load_dwordx16, run_load<kByte>},
    {s_load_b96, run_load<kByte>},
    {s_load_u8, run_small_load<std::uint8_t>},
    {s_load_i8, run_small_load<std::int8_t>},
    {s_load_u16, run_small_load<std::uint16_t>},
    {s_load_i16, run_small_load<std::int16_t>},
    {s_buffer_load_dword, run_buffer_load},
    {s_buffer_load_dwordx2, run_buffer_load},
    {s_buffer_load_dwordx4, run_buffer_load},
    {s_buffer_load_dwordx8, run_buffer_load},
    {s_buffer_load_dwordx16, run_buffer_load},
    {s_buffer_load_b96, run_buffer_load},
    {s_buffer_load_u8, run_small_buffer_load<std::uint8_t>},
    {s_buffer_load_i8, run_small_buffer_load<std::int8_t>},
    {s_buffer_load_u16, run_small_buffer_load<std::uint16_t>},
    {s_buffer_load_i16, run_small_buffer_load<std::int16_t>},
    {s_store_dword, run_store<kByte>},
    {s_store_dwordx2, run_store<kByte>},
    {s_store_dwordx4, run_store<kByte>},
    {s_scratch_load_dword, run_load<kScratchUnit>},
    {s_scratch_load_dwordx2, run_load<kScratchUnit>},
    {s_scratch_load_dwordx4, run_load<kScratchUnit>},
    {s_scratch_store_dword, run_store<kScratchUnit>},
    {s_scratch_store_dwordx2, run_store<kScratchUnit>},
    {s_scratch_store_dwordx4, run_store<kScratchUnit>},
    {s_buffer_store_dword, run_buffer_store},
    {s_buffer_store_dwordx2, run_buffer_store},
    {s_buffer_store_dwordx4, run_buffer_store},
    WAVEGATE_SCALAR_ATOMIC(swap, swap),
    WAVEGATE_SCALAR_ATOMIC(cmpswap, compare_swap),
    WAVEGATE_SCALAR_ATOMIC(add, add),
    WAVEGATE_SCALAR_ATOMIC(sub, subtract),
    WAVEGATE_SCALAR_ATOMIC(smin, signed_minimum),
    WAVEGATE_SCALAR_ATOMIC(umin, unsigned_minimum),
    WAVEGATE_SCALAR_ATOMIC(smax, signed_maximum),
    WAVEGATE_SCALAR_ATOMIC(umax, unsigned_maximum),
    WAVEGATE_SCALAR_ATOMIC(and, bit_and),
    WAVEGATE_SCALAR_ATOMIC(or, bit_or),
    WAVEGATE_SCALAR_ATOMIC(xor, bit_xor),
    WAVEGATE_SCALAR_ATOMIC(inc, increment),
    WAVEGATE_SCALAR_ATOMIC(dec, decrement),
};

}  // namespace

Handler scalar_memory_handler(isa::Opcode opcode) {
  const auto* const row = std::ranges::find(kRows, opcode, &ScalarMemoryRow::opcode);
  return row == std::end(kRows) ? nullptr : row->handler;
}

}  // namespace wavegate::amdgpu::wave
