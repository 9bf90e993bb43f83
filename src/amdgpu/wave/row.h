#pragma once

#include <cstdint>

namespace wavegate::amdgpu::wave {

/// Lanes of a row: as many as the widest wave has. A wave32 uses the lower half.
inline constexpr unsigned kRowLanes = 64;

/// One register of all lanes, or one word of a value of all lanes.
struct alignas(64) Row {
  std::uint32_t lane[kRowLanes];
};

/// The values of one operand in all lanes as an operation takes them: words in the first row, 64-bit values throughout.
struct alignas(64) Values {
  std::uint32_t word[2 * kRowLanes];

  std::uint64_t* pairs() { return reinterpret_cast<std::uint64_t*>(word); }
  const std::uint64_t* pairs() const { return reinterpret_cast<const std::uint64_t*>(word); }
  float* floats() { return reinterpret_cast<float*>(word); }
};

/// A bit for each lane.
using LaneMask = std::uint64_t;

constexpr LaneMask mask_of(unsigned lanes) {
  return lanes >= kRowLanes ? ~LaneMask{0} : (LaneMask{1} << lanes) - 1;
}

}  // namespace wavegate::amdgpu::wave
