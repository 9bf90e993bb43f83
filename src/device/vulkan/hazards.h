#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace wavegate::device::vulkan {

/// Where in a device's pipeline a command touches memory. Bits, to be combined into a StageMask.
enum class Stage : uint8_t {
  compute = 1,      ///< a kernel's loads and stores
  transfer = 2,     ///< copies and fills
  indirect = 4,     ///< the reading of a dispatch's grid
  conditional = 8,  ///< the reading of a conditional's predicate
};
using StageMask = uint8_t;
constexpr Stage kEveryStage[] = {Stage::compute, Stage::transfer, Stage::indirect, Stage::conditional};

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

/// A barrier between everything before it and some stages of what comes after it. With `written` zero it only orders
/// execution: that is all a write after a read needs.
struct Barrier {
  StageMask before = 0;   ///< stages of the commands that it orders
  StageMask written = 0;  ///< those of them that wrote
  StageMask after = 0;    ///< stages of later commands that it orders and that see what was written
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

/// Decides where a sequence of commands needs barriers, and asks for as little as it can: one only before a command
/// that conflicts with an earlier one (read after write, write after write, write after read), and only for the stages
/// in which it does, since a barrier before the reading of grids costs several times one among kernels. For each stage
/// there is a list of what came before and is not ordered before that stage yet; a barrier empties the lists of the
/// stages after it.
class HazardTracker {
 public:
  static constexpr StageMask kAllStages =
      mask(Stage::compute) | mask(Stage::transfer) | mask(Stage::indirect) | mask(Stage::conditional);

  /// `stages` are all that the uses will have.
  explicit HazardTracker(uint32_t memory_count, StageMask stages = kAllStages);

  /// Takes the next command. Returns the barrier that must stand before it, if one must.
  std::optional<Barrier> next(std::span<const MemoryUse> uses);

 private:
  struct Memory {
    RangeSet read;
    RangeSet written;
    bool touched = false;
  };
  /// What is not ordered before a stage yet.
  struct Unordered {
    StageMask stage = 0;
    std::vector<Memory> memories;
    std::vector<uint32_t> touched = {};  ///< memories with ranges, so that clearing costs no more than they do
    StageMask before = 0;
    StageMask written = 0;

    bool conflicts(std::span<const MemoryUse> uses) const;
    void insert(const MemoryUse& use);
    void clear();
  };

  std::vector<Unordered> unordered_;  ///< one a stage
};

}  // namespace wavegate::device::vulkan
