#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace wavegate::device::vulkan {

/// Where in a device's pipeline a command touches memory. Bits, to be combined into a StageMask.
enum class Stage : uint8_t {
  compute = 1,   ///< a kernel's loads and stores
  transfer = 2,  ///< copies and fills
  indirect = 4,  ///< the reading of a dispatch's grid
};
using StageMask = uint8_t;

constexpr StageMask mask(Stage stage) {
  return static_cast<StageMask>(stage);
}

/// A byte range that a command touches. `memory` is the number of a physical buffer: two names of one buffer have
/// one number.
struct MemoryUse {
  uint32_t memory = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  Stage stage = Stage::compute;
  bool reads = false;
  bool writes = false;
};

/// A barrier between everything before it and everything after it. With `written` zero it only orders execution:
/// that is all a write after a read needs.
struct Barrier {
  StageMask before = 0;   ///< stages of the commands since the last barrier
  StageMask written = 0;  ///< those of them that wrote
  friend bool operator==(const Barrier&, const Barrier&) = default;
};

/// Disjoint byte ranges in order. Holds at most kMaximum of them and then rounds up to the hull, so that a hostile
/// graph costs bounded time; rounding up can only add a barrier.
class RangeSet {
 public:
  static constexpr size_t kMaximum = 256;
  bool overlaps(uint64_t begin, uint64_t end) const;
  void insert(uint64_t begin, uint64_t end);
  void clear() { ranges_.clear(); }

 private:
  struct Range {
    uint64_t begin;
    uint64_t end;
  };
  std::vector<Range> ranges_;
};

/// Decides where a sequence of commands needs barriers, and asks for as few as it can: one only before a command
/// that conflicts with another since the last barrier (read after write, write after write, write after read). Since
/// a barrier covers all earlier commands and all stages of later ones, what came before it is forgotten.
class HazardTracker {
 public:
  explicit HazardTracker(uint32_t memory_count) : memories_(memory_count) {}

  /// Takes the next command. Returns the barrier that must stand before it, if one must.
  std::optional<Barrier> next(std::span<const MemoryUse> uses);

 private:
  struct Memory {
    RangeSet read;
    RangeSet written;
    bool touched = false;
  };

  bool conflicts(std::span<const MemoryUse> uses) const;
  void clear();

  std::vector<Memory> memories_;
  std::vector<uint32_t> touched_;  ///< memories with ranges, so that clearing costs no more than they do
  Barrier since_;                  ///< stages since the last barrier
};

}  // namespace wavegate::device::vulkan
