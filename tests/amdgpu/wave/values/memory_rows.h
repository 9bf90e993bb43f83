#pragma once

#include <string_view>

#include "amdgpu/wave/values/soft_float.h"

namespace wavegate::amdgpu::wave::testing {

enum class Space : std::uint8_t { global, flat, scratch, buffer, lds, scalar, scalar_buffer };

/// What a memory instruction moves, by its name.
struct MemoryRow {
  enum class Kind : std::uint8_t { load, store, atomic };
  Space space{};
  Kind kind{};
  int bytes = 4;  ///< of an element: 1 and 2 of narrow ones, 4 of words; of atomics 4 or 8
  int words = 1;  ///< registers of a lane
  bool extends_sign = false;
  int half = -1;      ///< of a register that is the element: 0 low, 1 high; -1 all of it
  bool pair = false;  ///< two places, `stride` bytes times the offsets away
  int stride = 0;
  /// Memory after, of what was there, the data and the second data.
  u64 (*after)(u64 old, u64 data, u64 second) = nullptr;
  bool compares = false;  ///< has a second datum: ds_cmpst has it first
  bool second_first = false;
  bool by_lane = false;  ///< no address: words of lanes lie side by side
  u64 offset_unit = 1;   ///< bytes that a scalar register counts as an offset
  char type = 'u';       ///< of the element: NaNs of floats may differ
};

/// nullptr if there is none.
const MemoryRow* find_memory_row(std::string_view name);

}  // namespace wavegate::amdgpu::wave::testing
