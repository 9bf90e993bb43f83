#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "wavegate/amdgpu/wave/buffer_format.h"
#include "wavegate/amdgpu/wave/check.h"
#include "wavegate/amdgpu/wave/memory_place.h"

/// Buffers whose elements have a format: the descriptor's, or the instruction's.
namespace wavegate::amdgpu::wave {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Kind = MemoryAction::Kind;

const BufferFormat* format_of(const Wave& wave, const Step& step) {
  const isa::Generation generation = wave.machine->generation;
  if (step.memory.typed) return find_buffer_format(generation, step.instruction.format);
  const u32 word = wave.scalars[step.sources[step.memory.base].index + 3u];
  switch (generation) {
    case isa::Generation::gfx9: return find_buffer_format(generation, (word >> 15 & 15) | (word >> 12 & 7) << 4);
    case isa::Generation::gfx10: return find_buffer_format(generation, word >> 12 & 127);
    default: return find_buffer_format(generation, word >> 12 & 63);
  }
}

/// What a descriptor makes of an element's components: each of the result's is one of them, or 0, or 1.
std::array<u32, 4> selected(const std::array<u32, 4>& components, u32 descriptor_word, u32 one) {
  std::array<u32, 4> result{};
  for (unsigned i = 0; i < 4; ++i) {
    const u32 select = descriptor_word >> (3 * i) & 7;
    result[i] = select >= 4 ? components[select - 4] : select == 1 ? one : 0;
  }
  return result;
}

/// A component as half a register holds it, and back.
u32 narrowed(u32 component, const BufferFormat& format) {
  return format.is_integer() ? component & 0xffffu : half_bits(real(component), Rounding::nearest_even);
}
u32 widened(u32 half, const BufferFormat& format) {
  if (format.number == NumberFormat::sint)
    return static_cast<u32>(static_cast<std::int32_t>(static_cast<std::int16_t>(half)));
  return format.is_integer() ? half : bits(of_half(half));
}

void store_components(const MemoryAction& action, const BufferFormat& format, const std::array<u32, 4>& components,
                      Row* rows, unsigned lane) {
  for (unsigned i = 0; i < action.components; ++i) {
    u32& to = rows[action.half ? i / 2 : i].lane[lane];
    const bool high = action.high_half || i % 2 != 0;
    if (!action.half)
      to = components[i];
    else if (high)
      to = (to & 0xffffu) | narrowed(components[i], format) << 16;
    else
      to = (to & 0xffff0000u) | narrowed(components[i], format);
  }
}
std::array<u32, 4> components_of(const MemoryAction& action, const BufferFormat& format, const Row* rows,
                                 unsigned lane) {
  std::array<u32, 4> components{};
  for (unsigned i = 0; i < action.components; ++i) {
    const u32 word = rows[action.half ? i / 2 : i].lane[lane];
    const bool high = action.high_half || i % 2 != 0;
    components[i] = action.half ? widened(word >> (high ? 16 : 0) & 0xffffu, format) : word;
  }
  return components;
}

/// An element's bytes, in pieces where a swizzled buffer tears it; false if some of it is nowhere.
bool move_element(Wave& wave, const Step& step, const Place& place, u64 address, unsigned size, std::byte* element,
                  unsigned lane, bool writes) {
  for (unsigned at = 0; at < size; at += 4) {
    const unsigned bytes = std::min(size - at, 4u);
    const u64 piece = address + u64{at / 4} * place.word_stride;
    std::byte* const memory = locate(wave, place, piece, bytes, writes);
    if (memory == nullptr) {
      report(wave, step, writes ? FindingKind::out_of_bounds_write : FindingKind::out_of_bounds_read, lane, piece);
      return false;
    }
    if (wave.group->shadow != nullptr)
      note_access(wave, step, false, piece, bytes, writes ? AccessKind::write : AccessKind::read, lane);
    if (writes)
      std::memcpy(memory, element + at, bytes);
    else
      std::memcpy(element + at, memory, bytes);
  }
  return true;
}

}  // namespace

/// Values of typed buffers, one lane after the other.
const Step* run_formatted(Wave& wave, const Step& step) {
  const MemoryAction& action = step.memory;
  const LaneMask exec = wave.exec();
  const BufferFormat* const format = format_of(wave, step);
  if (format == nullptr) return run_unsupported(wave, step);
  wave.lane_instructions += static_cast<u64>(std::popcount(exec));
  u64* const lanes = wave.addresses.pairs();
  const Place place = buffer_place(wave, step, format->bytes, lanes);
  const bool writes = action.kind == Kind::store;
  Row spaces[2];
  const Row* const data = writes ? data_rows(wave, step.sources[action.data], spaces) : nullptr;
  Row* const to = writes ? nullptr : wave.row(step.destination.index);
  const u32 selects = wave.scalars[step.sources[action.base].index + 3u];
  for_each(exec, [&](unsigned lane) {
    std::byte element[16] = {};
    if (writes) {
      std::array<u32, 4> components = components_of(action, *format, data, lane);
      // What an instruction does not store stays.
      if (action.components < format->count) {
        if (!move_element(wave, step, place, lanes[lane], format->bytes, element, lane, false)) return;
        const auto before = unpack_element(*format, element);
        std::copy(before.begin() + action.components, before.end(), components.begin() + action.components);
      }
      pack_element(*format, components, element);
      move_element(wave, step, place, lanes[lane], format->bytes, element, lane, true);
      return;
    }
    std::array<u32, 4> components{};
    if (move_element(wave, step, place, lanes[lane], format->bytes, element, lane, false)) {
      components = unpack_element(*format, element);
      if (!action.typed) components = selected(components, selects, format->is_integer() ? 1 : bits(1.0f));
    }
    store_components(action, *format, components, to, lane);
  });
  return step.next;
}

}  // namespace wavegate::amdgpu::wave
