#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "wavegate/device/reference/code.h"
#include "wavegate/device/reference/interpreter.h"
#include "wavegate/device/reference/races.h"

namespace wavegate::device::reference {

/// The active lanes of a block: a bit mask and the range [begin, end) that it lies in.
struct Lanes {
  const uint64_t* words = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t count = 0;

  bool any() const { return count != 0; }
  bool dense() const { return count == end - begin; }
  bool contains(uint32_t lane) const { return (words[lane / 64] >> (lane % 64) & 1) != 0; }
};

/// Calls `visit(lane)` in increasing order until it returns false; says whether it never did.
template <typename Visit>
bool for_each_lane(const Lanes& lanes, Visit&& visit) {
  if (lanes.dense()) {
    for (uint32_t lane = lanes.begin; lane < lanes.end; ++lane)
      if (!visit(lane)) return false;
    return true;
  }
  for (uint32_t word = lanes.begin / 64; word * 64 < lanes.end; ++word)
    for (uint64_t bits = lanes.words[word]; bits != 0; bits &= bits - 1)
      if (!visit(word * 64 + static_cast<uint32_t>(std::countr_zero(bits)))) return false;
  return true;
}

/// A memory of the kernel as one workgroup sees it.
struct MemoryView {
  std::byte* bytes = nullptr;
  uint8_t* written = nullptr;
  uint64_t length = 0;       ///< elements
  uint64_t lane_stride = 0;  ///< bytes between the copies of two lanes; 0 if they share one
  uint32_t element_bytes = 4;
  RaceDetector::Cell* cells = nullptr;  ///< one an element of workgroup memory; else null
};

/// What device-scoped claims of one instruction said in the first workgroup, in order.
struct DeviceClaim {
  std::vector<uint64_t> first;
  size_t next = 0;
};

/// The state of the workgroup that runs: values of its lanes, masks of its blocks, memories.
struct Machine {
  const Code* code = nullptr;
  const Launch* launch = nullptr;
  uint32_t lane_count = 0;
  uint32_t mask_words = 0;
  std::array<uint32_t, 3> workgroup = {};
  std::array<std::vector<uint32_t>, 3> local_ids;  ///< by dimension, then lane
  std::vector<uint64_t> values;                    ///< by slot, then lane
  std::vector<uint64_t> masks;                     ///< by mask, then word
  std::vector<MemoryView> memories;
  std::vector<Storage> private_storages;               ///< of workgroup and local memories, by memory
  std::vector<std::vector<RaceDetector::Cell>> cells;  ///< of workgroup memories, by memory
  RaceDetector races;
  uint32_t races_subgroup_size = 0;  ///< what `races` was made for
  MemoryView arena;
  std::vector<uint64_t> staging;
  std::unordered_map<const Step*, DeviceClaim> device_claims;
  uint64_t steps = 0;
  std::vector<uint64_t> iterations;  ///< that each lane began, where the launch limits them; else empty
  std::optional<Error> error;

  uint64_t* lanes_of(Slot slot) { return values.data() + size_t{slot} * lane_count; }
  uint64_t* mask(uint32_t index) { return masks.data() + size_t{index} * mask_words; }
  Lanes lanes(uint32_t mask_index);
  const std::string& kernel_name() const { return code->kernel->interface.name; }

  /// Records the error `kernel "<name>": <what> (invocation x, y, z)` and returns false.
  bool fault(uint32_t lane, const std::string& what);
  /// As above, for the workgroup as a whole.
  bool fault(const std::string& what);
};

/// Runs a load, store, scalar access, atomic: all that touches memory. False after a fault.
bool run_memory_step(Machine& machine, const Step& step, const Lanes& lanes);

/// Runs a barrier, assume_uniform or subgroup operation. False after a fault.
bool run_convergent_step(Machine& machine, const Step& step, const Lanes& lanes);

}  // namespace wavegate::device::reference
