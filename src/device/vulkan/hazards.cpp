#include "wavegate/device/vulkan/hazards.h"

#include <algorithm>

namespace wavegate::device::vulkan {

bool RangeSet::overlaps(uint64_t begin, uint64_t end) const {
  if (begin >= end) return false;
  const auto first_after =
      std::partition_point(ranges_.begin(), ranges_.end(), [&](const Range& range) { return range.end <= begin; });
  return first_after != ranges_.end() && first_after->begin < end;
}

void RangeSet::insert(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  const auto first =
      std::partition_point(ranges_.begin(), ranges_.end(), [&](const Range& range) { return range.end < begin; });
  const auto last = std::partition_point(first, ranges_.end(), [&](const Range& range) { return range.begin <= end; });
  if (first != last) {
    *first = {std::min(begin, first->begin), std::max(end, std::prev(last)->end)};
    ranges_.erase(std::next(first), last);
    return;
  }
  ranges_.insert(first, {begin, end});
  if (ranges_.size() > kMaximum) ranges_ = {{ranges_.front().begin, ranges_.back().end}};
}

std::optional<Barrier> HazardTracker::next(std::span<const MemoryUse> uses) {
  std::optional<Barrier> barrier;
  if (conflicts(uses)) {
    barrier = since_;
    clear();
  }
  for (const MemoryUse& use : uses) {
    Memory& memory = memories_[use.memory];
    if (!memory.touched) {
      memory.touched = true;
      touched_.push_back(use.memory);
    }
    since_.before |= mask(use.stage);
    if (use.reads) memory.read.insert(use.begin, use.end);
    if (use.writes) {
      memory.written.insert(use.begin, use.end);
      since_.written |= mask(use.stage);
    }
  }
  return barrier;
}

bool HazardTracker::conflicts(std::span<const MemoryUse> uses) const {
  return std::any_of(uses.begin(), uses.end(), [&](const MemoryUse& use) {
    const Memory& memory = memories_[use.memory];
    if (!memory.touched) return false;
    return memory.written.overlaps(use.begin, use.end) || (use.writes && memory.read.overlaps(use.begin, use.end));
  });
}

void HazardTracker::clear() {
  for (uint32_t index : touched_) {
    memories_[index].read.clear();
    memories_[index].written.clear();
    memories_[index].touched = false;
  }
  touched_.clear();
  since_ = {};
}

}  // namespace wavegate::device::vulkan
