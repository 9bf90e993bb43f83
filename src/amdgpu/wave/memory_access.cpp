#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "wavegate/amdgpu/wave/atomic.h"
#include "wavegate/amdgpu/wave/check.h"
#include "wavegate/amdgpu/wave/memory_place.h"

/// Memory instructions of lanes: addresses of all lanes first, then the accesses.
namespace wavegate::amdgpu::wave {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Kind = MemoryAction::Kind;

u32 load_narrow(const std::byte* from, const MemoryAction& action) {
  if (action.element_bytes == 1) {
    std::uint8_t value;
    std::memcpy(&value, from, 1);
    return action.sign_extend ? static_cast<u32>(static_cast<std::int32_t>(static_cast<std::int8_t>(value))) : value;
  }
  std::uint16_t value;
  std::memcpy(&value, from, 2);
  return action.sign_extend ? static_cast<u32>(static_cast<std::int32_t>(static_cast<std::int16_t>(value))) : value;
}

/// What a d16 load leaves of a register.
u32 merged(u32 old, u32 value, const MemoryAction& action) {
  if (!action.half) return value;
  return action.high_half ? (old & 0xffffu) | value << 16 : (old & 0xffff0000u) | (value & 0xffffu);
}

void load_lane(const MemoryAction& action, Row* rows, unsigned word, unsigned lane, const std::byte* from) {
  u32& to = rows[word].lane[lane];
  if (action.element_bytes == 4)
    std::memcpy(&to, from, 4);
  else
    to = merged(to, load_narrow(from, action), action);
}

void store_lane(const MemoryAction& action, u32 value, std::byte* to) {
  if (action.high_half) value >>= 16;
  std::memcpy(to, &value, action.element_bytes);
}

unsigned bytes_of(const MemoryAction& action) {
  return action.element_bytes < 4 ? action.element_bytes : 4u;
}

/// Loads as compilers make them of atomic ones: gfx942's have sc0 or sc1, gfx12's a scope beyond a compute unit.
bool is_coherent(const Step& step) {
  const isa::Instruction& load = step.instruction;
  return load.has(isa::MemoryFlags::glc) || load.has(isa::MemoryFlags::scc) || (load.cache_policy & 3) != 0;
}

/// Tells of a word's access: the log, or, of scratch memory, whether what is there was ever defined.
void watch(Wave& wave, const Step& step, const Place& place, u64 address, unsigned word, unsigned lane) {
  const MemoryAction& action = step.memory;
  const bool writes = action.kind == Kind::store;
  const Source& data = step.sources[action.data];
  const unsigned row = data.index + word;
  const bool undefined = writes && action.space != MemorySpace::lds && data.mode == SourceMode::row &&
                         wave.written != nullptr && (wave.written->rows[row] >> lane & 1) == 0;
  if (place.is_scratch || (place.is_global && address - wave.machine->scratch < wave.machine->scratch_bytes)) {
    if (writes)
      wave.group->shadow->set_undefined(address, undefined);
    else if (wave.written != nullptr && wave.group->shadow->is_undefined(address))
      wave.written->undefined_loads[word] |= LaneMask{1} << lane;
    return;
  }
  if (undefined) report_undefined(wave, step, row, lane);
  const AccessKind reads = place.is_global && is_coherent(step) ? AccessKind::atomic_read : AccessKind::read;
  note_access(wave, step, !place.is_global, address, bytes_of(action), writes ? AccessKind::write : reads, lane);
}

/// One lane after the other, each access looked up: where something is out of bounds, or is being checked.
void access_singly(Wave& wave, const Step& step, const Place& place, const u64* addresses, LaneMask lanes,
                   const Row* data) {
  const MemoryAction& action = step.memory;
  const bool writes = action.kind == Kind::store;
  Row* const to = wave.row(step.destination.index + place.register_offset);
  for_each(lanes, [&](unsigned lane) {
    for (unsigned word = 0; word < action.words; ++word) {
      const u64 address = addresses[lane] + u64{word} * place.word_stride;
      std::byte* const memory = locate(wave, place, address, bytes_of(action), writes);
      if (memory == nullptr) {
        report(wave, step, writes ? FindingKind::out_of_bounds_write : FindingKind::out_of_bounds_read, lane, address);
        if (!writes) to[word].lane[lane] = merged(to[word].lane[lane], 0, action);
        continue;
      }
      if (wave.group->shadow != nullptr) watch(wave, step, place, address, word, lane);
      if (writes)
        store_lane(action, data[word].lane[lane], memory);
      else
        load_lane(action, to, word, lane, memory);
    }
  });
}

/// All lanes of an instruction that lie within one range of memory.
void access_together(Wave& wave, const Step& step, const Place& place, std::byte* memory, const u64* offsets,
                     bool contiguous, LaneMask lanes, const Row* data) {
  const MemoryAction& action = step.memory;
  const bool whole = contiguous && lanes == wave.full && action.words == 1 && action.element_bytes == 4;
  if (action.kind == Kind::store) {
    if (whole) {
      std::memcpy(memory + offsets[0], data[0].lane, wave.lanes * sizeof(u32));
      return;
    }
    for (unsigned word = 0; word < action.words; ++word)
      for_each(lanes, [&](unsigned lane) {
        store_lane(action, data[word].lane[lane], memory + offsets[lane] + u64{word} * place.word_stride);
      });
    return;
  }
  Row* const to = wave.row(step.destination.index + place.register_offset);
  if (whole) {
    std::memcpy(to->lane, memory + offsets[0], wave.lanes * sizeof(u32));
    return;
  }
  for (unsigned word = 0; word < action.words; ++word)
    for_each(lanes, [&](unsigned lane) {
      load_lane(action, to, word, lane, memory + offsets[lane] + u64{word} * place.word_stride);
    });
}

/// The range that the first of the lanes' addresses lies in: most often the one of the last access.
const MemoryRange* range_of(Wave& wave, u64 address) {
  const MemoryRange* const last = wave.range;
  if (last != nullptr && address - last->address < last->bytes.size()) return last;
  return wave.range = wave.machine->memory->find(address);
}

void access_lanes(Wave& wave, const Step& step, Place place, const u64* addresses, LaneMask lanes, const Row* data) {
  if (lanes == 0) return;
  Values offsets;
  if (wave.group->shadow == nullptr) {
    bool usable = true;
    if (place.is_global) {
      const MemoryRange* const range = range_of(wave, addresses[std::countr_zero(lanes)]);
      usable = range != nullptr && (range->writable || step.memory.kind == Kind::load);
      if (usable) place.bytes = range->bytes, place.base = range->address;
    }
    if (usable) {
      const unsigned extent = bytes_of(step.memory) + (step.memory.words - 1) * place.word_stride;
      const Span span = offsets_within(offsets.pairs(), addresses, wave.spread(lanes), place.base, place.bytes.size(),
                                       extent, wave.lanes);
      if (span.inside)
        return access_together(wave, step, place, place.bytes.data(), offsets.pairs(), span.contiguous, lanes, data);
    }
  }
  access_singly(wave, step, place, addresses, lanes, data);
}

/// An atomic on 8 bytes whose words lie apart, as those of a lane's scratch memory do, which no other lane sees.
u64 apply_apart(AtomicOperation operation, std::byte* low, std::byte* high, u64 data, u64 second) {
  u32 words[2];
  std::memcpy(&words[0], low, 4);
  std::memcpy(&words[1], high, 4);
  const u64 before = words[0] | static_cast<u64>(words[1]) << 32;
  const u64 after = after_atomic(operation, 8, before, data, second);
  words[0] = static_cast<u32>(after), words[1] = static_cast<u32>(after >> 32);
  std::memcpy(low, &words[0], 4);
  std::memcpy(high, &words[1], 4);
  return before;
}

/// Lanes of an atomic are one after the other, the lowest first.
void access_atomically(Wave& wave, const Step& step, const Place& place, const u64* addresses, LaneMask lanes,
                       const Row* data, const Row* second) {
  const MemoryAction& action = step.memory;
  const bool wide = action.element_bytes == 8;
  const auto value_of = [&](const Row* rows, unsigned lane) {
    return rows == nullptr ? u64{0} : rows[0].lane[lane] | (wide ? static_cast<u64>(rows[1].lane[lane]) << 32 : 0);
  };
  Row* const to = action.returns ? wave.row(step.destination.index + place.register_offset) : nullptr;
  Row results[2];
  for_each(lanes, [&](unsigned lane) {
    const u64 address = addresses[lane];
    const bool apart = wide && place.word_stride != 4;
    const unsigned bytes = apart ? 4 : action.element_bytes;
    std::byte* memory = locate(wave, place, address, bytes, true);
    std::byte* const high = apart ? locate(wave, place, address + place.word_stride, 4, true) : nullptr;
    if (apart && high == nullptr) memory = nullptr;
    if (memory == nullptr) report(wave, step, FindingKind::out_of_bounds_write, lane, address);
    if (memory != nullptr && address % bytes != 0) {
      report(wave, step, FindingKind::misaligned_atomic, lane, address);
      memory = nullptr;
    }
    u64 before = 0;
    if (memory != nullptr) {
      if (wave.group->shadow != nullptr && !place.is_scratch)
        note_access(wave, step, !place.is_global, address, action.element_bytes, AccessKind::atomic, lane);
      const u64 datum = value_of(data, lane), other = value_of(second, lane);
      before = apart ? apply_apart(action.atomic, memory, high, datum, other)
                     : apply_atomic(action.atomic, action.element_bytes, memory, datum, other, place.is_global);
    }
    results[0].lane[lane] = static_cast<u32>(before);
    results[1].lane[lane] = static_cast<u32>(before >> 32);
  });
  if (to == nullptr) return;
  const u32* const active = wave.spread(lanes);
  blend(to[0].lane, results[0].lane, active, wave.lanes);
  if (wide) blend(to[1].lane, results[1].lane, active, wave.lanes);
}

bool compares(AtomicOperation operation) {
  return operation == AtomicOperation::compare_swap || operation == AtomicOperation::compare_swap_f32 ||
         operation == AtomicOperation::compare_swap_f64;
}

void access(Wave& wave, const Step& step, const Place& place, const u64* addresses, LaneMask lanes) {
  Row spaces[4];
  const MemoryAction& action = step.memory;
  const Row* const data = action.kind == Kind::load ? nullptr : data_rows(wave, step.sources[action.data], spaces);
  if (action.kind != Kind::atomic) return access_lanes(wave, step, place, addresses, lanes, data);
  // A compare-and-swap has the value to write first and the one to compare with behind it; of LDS, in an operand each.
  const Row* second = nullptr;
  if (action.space == MemorySpace::lds && step.sources[action.second_data].mode != SourceMode::none)
    second = data_rows(wave, step.sources[action.second_data], spaces + 2);
  else if (action.space != MemorySpace::lds && compares(action.atomic))
    second = data + action.words;
  access_atomically(wave, step, place, addresses, lanes, data, second);
}

// ---------------------------------------------------------------- spaces

const Step* run_global(Wave& wave, const Step& step) {
  const LaneMask exec = wave.exec();
  wave.lane_instructions += static_cast<u64>(std::popcount(exec));
  const Source& address = step.sources[step.memory.address];
  const Source& base = step.sources[step.memory.base];
  u64* const lanes = wave.addresses.pairs();
  const u64 offset = static_cast<u64>(static_cast<std::int64_t>(step.instruction.offset));
  const u64 start = offset + (base.mode == SourceMode::scalar ? wave.pair(base.index) : 0);
  if (address.mode == SourceMode::none) {
    fill(lanes, start, wave.lanes);
  } else {
    const Row* const rows = wave.row(address.index);
    addresses(lanes, rows[0].lane, address.words >= 2 ? rows[1].lane : nullptr, start, wave.lanes);
  }
  Place place;
  place.is_global = true;
  access(wave, step, place, lanes, exec);
  return step.next;
}

/// A lane's byte of scratch memory, as an address: dwords of all lanes lie side by side.
u64 scratch_address(const Wave& wave, unsigned lane, u32 offset) {
  return wave.scratch_base + u64{offset / 4} * (4 * wave.lanes) + lane * 4 + offset % 4;
}
Place scratch_place(const Wave& wave) {
  Place place;
  place.bytes = wave.machine->memory->at(wave.scratch_base, wave.scratch_bytes * wave.lanes);
  place.base = wave.scratch_base;
  place.is_scratch = true;
  place.word_stride = 4 * wave.lanes;
  return place;
}

const Step* run_scratch(Wave& wave, const Step& step) {
  const LaneMask exec = wave.exec();
  wave.lane_instructions += static_cast<u64>(std::popcount(exec));
  const Source& address = step.sources[step.memory.address];
  const Source& base = step.sources[step.memory.base];
  const u32 start = static_cast<u32>(step.instruction.offset) +
                    (base.mode == SourceMode::none ? 0 : static_cast<u32>(read(wave, base)));
  u64* const lanes = wave.addresses.pairs();
  for (unsigned lane = 0; lane < wave.lanes; ++lane)
    lanes[lane] = scratch_address(wave, lane,
                                  start + (address.mode == SourceMode::row ? wave.row(address.index)->lane[lane] : 0));
  access(wave, step, scratch_place(wave), lanes, exec);
  return step.next;
}

Place lds_place(const Wave& wave) {
  Place place;
  place.bytes = wave.group->lds;
  return place;
}

/// An address's upper half may lead it to LDS or to scratch memory.
const Step* run_flat(Wave& wave, const Step& step) {
  const LaneMask exec = wave.exec();
  wave.lane_instructions += static_cast<u64>(std::popcount(exec));
  const Source& address = step.sources[step.memory.address];
  const Row* const rows = wave.row(address.index);
  u64* const lanes = wave.addresses.pairs();
  LaneMask shared = 0, scratch = 0;
  addresses(lanes, rows[0].lane, rows[1].lane, static_cast<u64>(static_cast<std::int64_t>(step.instruction.offset)),
            wave.lanes);
  for_each(exec, [&](unsigned lane) {
    const u32 aperture = static_cast<u32>(lanes[lane] >> 32);
    if (aperture == kSharedAperture) {
      shared |= LaneMask{1} << lane;
      lanes[lane] &= 0xffffffffu;
    } else if (aperture == kPrivateAperture) {
      scratch |= LaneMask{1} << lane;
      lanes[lane] = scratch_address(wave, lane, static_cast<u32>(lanes[lane]));
    }
  });
  Place global;
  global.is_global = true;
  if (const LaneMask rest = exec & ~shared & ~scratch) access(wave, step, global, lanes, rest);
  if (shared != 0) access(wave, step, lds_place(wave), lanes, shared);
  if (scratch != 0) access(wave, step, scratch_place(wave), lanes, scratch);
  return step.next;
}

const Step* run_lds(Wave& wave, const Step& step) {
  const LaneMask exec = wave.exec();
  wave.lane_instructions += static_cast<u64>(std::popcount(exec));
  const MemoryAction& action = step.memory;
  const Source& address = step.sources[action.address];
  Row space;
  const u32* row = space.lane;
  if (address.mode == SourceMode::row)
    row = wave.row(address.index)->lane;
  else
    fill(space.lane, static_cast<u32>(read(wave, address)), wave.lanes);
  Values lanes, others;
  Place place = lds_place(wave);
  if (!action.two_addresses) {
    addresses(lanes.pairs(), row, nullptr, static_cast<u32>(step.instruction.offset) & 0xffffu, wave.lanes);
    access(wave, step, place, lanes.pairs(), exec);
    return step.next;
  }
  addresses(lanes.pairs(), row, nullptr, u64{static_cast<u32>(step.instruction.offset) & 0xffu} * action.stride,
            wave.lanes);
  addresses(others.pairs(), row, nullptr, u64{step.instruction.offset1} * action.stride, wave.lanes);
  Row spaces[4];
  if (action.kind == Kind::atomic) {
    // What the first returns may come where the second's data is.
    Row data[2];
    std::copy_n(data_rows(wave, step.sources[2], spaces), action.words, data);
    access_atomically(wave, step, place, lanes.pairs(), exec, data_rows(wave, step.sources[1], spaces), nullptr);
    place.register_offset = action.words;
    access_atomically(wave, step, place, others.pairs(), exec, data, nullptr);
    return step.next;
  }
  const bool writes = action.kind == Kind::store;
  const Row* const first = writes ? data_rows(wave, step.sources[1], spaces) : nullptr;
  const Row* const second = writes ? data_rows(wave, step.sources[2], spaces + 2) : nullptr;
  access_lanes(wave, step, place, lanes.pairs(), exec, first);
  place.register_offset = action.words;
  access_lanes(wave, step, place, others.pairs(), exec, second);
  return step.next;
}

/// Each lane's word lies behind that of the lane before: in global memory from a scalar address on, in LDS from M0.
const Step* run_by_lane(Wave& wave, const Step& step) {
  const LaneMask exec = wave.exec();
  wave.lane_instructions += static_cast<u64>(std::popcount(exec));
  const bool is_global = step.memory.space == MemorySpace::global;
  const u64 offset = static_cast<u64>(static_cast<std::int64_t>(step.instruction.offset));
  const u64 start = is_global ? wave.pair(step.sources[step.memory.base].index) + offset
                              : (wave.scalars[scalar::kM0] & 0xffffu) + (offset & 0xffffu);
  u64* const lanes = wave.addresses.pairs();
  for (unsigned lane = 0; lane < wave.lanes; ++lane) lanes[lane] = start + u64{lane} * 4;
  Place place = is_global ? Place{} : lds_place(wave);
  place.is_global = is_global;
  access(wave, step, place, lanes, exec);
  return step.next;
}

// ---------------------------------------------------------------- buffers

/// A buffer descriptor.
struct Buffer {
  u64 base;
  u32 stride, records, index_stride, element_bytes, bounds;
  bool swizzled, adds_lane;
};
Buffer buffer_of(const Wave& wave, unsigned sgpr, bool has_index) {
  const u32* const words = &wave.scalars[sgpr];
  const isa::Generation generation = wave.machine->generation;
  Buffer buffer;
  buffer.base = words[0] | static_cast<u64>(words[1] & 0xffffu) << 32;
  buffer.stride = words[1] >> 16 & 0x3fffu;
  buffer.swizzled = generation >= isa::Generation::gfx11 ? (words[1] >> 30 & 3) != 0 : (words[1] >> 31) != 0;
  buffer.records = words[2];
  buffer.index_stride = 8u << (words[3] >> 21 & 3);
  buffer.element_bytes = generation == isa::Generation::gfx9 ? 2u << (words[3] >> 19 & 3) : 4u;
  buffer.adds_lane = (words[3] >> 23 & 1) != 0;
  // Records of gfx9 are bytes unless there are indices and a stride.
  const bool raw = buffer.stride == 0 || !has_index;
  buffer.bounds = generation == isa::Generation::gfx9 ? (raw ? 3u : 1u) : words[3] >> 28 & 3;
  return buffer;
}
bool is_outside(const Buffer& buffer, u64 index, u64 offset, unsigned bytes) {
  switch (buffer.bounds) {
    case 0: return index >= buffer.records || offset + bytes > buffer.stride;
    case 1: return index >= buffer.records;
    case 2: return buffer.records == 0;
    default: return (buffer.swizzled ? offset : index * buffer.stride + offset) + bytes > buffer.records;
  }
}

}  // namespace

Place buffer_place(Wave& wave, const Step& step, unsigned bytes, u64* lanes) {
  const isa::Instruction& instruction = step.instruction;
  const MemoryAction& action = step.memory;
  const bool has_index = instruction.has(isa::MemoryFlags::idxen),
             has_offset = instruction.has(isa::MemoryFlags::offen);
  const Buffer buffer = buffer_of(wave, step.sources[action.base].index, has_index);
  const u32 wave_offset = static_cast<u32>(read(wave, step.sources[action.base_offset]));
  const Source& address = step.sources[action.address];
  const Row* const rows = address.mode == SourceMode::row ? wave.row(address.index) : nullptr;
  LaneMask outside = 0;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    const u64 index = (has_index && rows != nullptr ? rows[0].lane[lane] : 0) + (buffer.adds_lane ? lane : 0);
    const u64 offset = static_cast<u32>(instruction.offset) +
                       (has_offset && rows != nullptr ? u64{rows[has_index ? 1 : 0].lane[lane]} : 0);
    if (is_outside(buffer, index, offset, bytes)) outside |= LaneMask{1} << lane;
    u64 place = index * buffer.stride + offset;
    if (buffer.swizzled)
      place = (index / buffer.index_stride * buffer.stride + offset / buffer.element_bytes * buffer.element_bytes) *
                  buffer.index_stride +
              index % buffer.index_stride * buffer.element_bytes + offset % buffer.element_bytes;
    lanes[lane] = buffer.base + wave_offset + place;
  }
  for_each(outside & wave.exec(), [&](unsigned lane) { lanes[lane] = 0; });
  Place place;
  place.is_global = true;
  if (buffer.swizzled) place.word_stride = buffer.element_bytes * buffer.index_stride;
  return place;
}

namespace {

const Step* run_buffer(Wave& wave, const Step& step) {
  const MemoryAction& action = step.memory;
  const LaneMask exec = wave.exec();
  wave.lane_instructions += static_cast<u64>(std::popcount(exec));
  u64* const lanes = wave.addresses.pairs();
  const unsigned bytes = action.kind == Kind::atomic ? action.element_bytes : bytes_of(action) + 4 * (action.words - 1);
  const Place place = buffer_place(wave, step, bytes, lanes);
  access(wave, step, place, lanes, exec);
  return step.next;
}

// ---------------------------------------------------------------- loads to LDS

/// Each lane's word goes to LDS at M0, the instruction's offset and four bytes for each lane before it.
template <Handler load>
const Step* run_to_lds(Wave& wave, const Step& step) {
  const Step* const next = load(wave, step);
  const Place place = lds_place(wave);
  const u64 base = u64{wave.scalars[scalar::kM0] & 0xffffu} + static_cast<u32>(step.instruction.offset);
  const Row& row = *wave.row(vector::kHeldBack);
  for_each(wave.exec(), [&](unsigned lane) {
    const u64 address = base + lane * 4;
    std::byte* const memory = locate(wave, place, address, 4, true);
    if (memory == nullptr) return report(wave, step, FindingKind::out_of_bounds_write, lane, address);
    if (wave.group->shadow != nullptr) note_access(wave, step, true, address, 4, AccessKind::write, lane);
    std::memcpy(memory, &row.lane[lane], 4);
  });
  return next;
}

}  // namespace

Handler memory_handler(const MemoryAction& action) {
  if (action.components != 0) return run_formatted;
  if (action.by_lane) return run_by_lane;
  if (action.to_lds) {
    switch (action.space) {
      case MemorySpace::global: return run_to_lds<run_global>;
      case MemorySpace::scratch: return run_to_lds<run_scratch>;
      case MemorySpace::buffer: return run_to_lds<run_buffer>;
      default: return run_unsupported;
    }
  }
  switch (action.space) {
    case MemorySpace::global: return run_global;
    case MemorySpace::flat: return run_flat;
    case MemorySpace::scratch: return run_scratch;
    case MemorySpace::lds: return run_lds;
    case MemorySpace::buffer: return run_buffer;
  }
  return nullptr;
}

}  // namespace wavegate::amdgpu::wave
