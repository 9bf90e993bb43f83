#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wavegate/amdgpu/wave/step.h"

/// Where memory instructions of lanes go: what memory_access.cpp and formatted_access.cpp share.
namespace wavegate::amdgpu::wave {

/// Where accesses go. Its bytes are empty where guest memory is looked up by address.
struct Place {
  std::span<std::byte> bytes;
  std::uint64_t base = 0;
  bool is_global = false;
  bool is_scratch = false;
  unsigned word_stride = 4;  ///< between the words of a lane; more where lanes are interleaved
  unsigned register_offset = 0;
};

/// Bytes of one lane, or nullptr if they lie in no memory or must not be written.
inline std::byte* locate(Wave& wave, const Place& place, std::uint64_t address, unsigned bytes, bool writes) {
  if (!place.is_global) {
    const std::uint64_t offset = address - place.base;
    return offset <= place.bytes.size() && bytes <= place.bytes.size() - offset ? place.bytes.data() + offset : nullptr;
  }
  const MemoryRange* const range = wave.machine->memory->find(address);
  if (range == nullptr || (writes && !range->writable)) return nullptr;
  const std::uint64_t offset = address - range->address;
  return bytes <= range->bytes.size() - offset ? range->bytes.data() + offset : nullptr;
}

/// Calls `visit(lane)` for each lane of a mask.
template <typename Visit>
void for_each(LaneMask lanes, const Visit& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// The rows that a step's data come from, or `space`, where a scalar is spread.
inline const Row* data_rows(Wave& wave, const Source& source, Row* space) {
  if (source.mode == SourceMode::row) return wave.row(source.index);
  fill(space[0].lane, static_cast<std::uint32_t>(read(wave, source)), wave.lanes);
  fill(space[1].lane, static_cast<std::uint32_t>(read(wave, source) >> 32), wave.lanes);
  return space;
}

/// The addresses of all lanes' accesses to so many bytes through a descriptor. What is outside its bounds leads
/// nowhere, which guest memory has at 0.
Place buffer_place(Wave& wave, const Step& step, unsigned bytes, std::uint64_t* lanes);

/// Loads and stores of typed buffers.
const Step* run_formatted(Wave& wave, const Step& step);

}  // namespace wavegate::amdgpu::wave
