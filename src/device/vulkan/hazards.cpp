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

HazardTracker::HazardTracker(uint32_t memory_count, StageMask stages) {
  for (const Stage stage : kEveryStage)
    if (stages & mask(stage)) unordered_.push_back({mask(stage), std::vector<Memory>(memory_count)});
}

std::optional<Barrier> HazardTracker::next(std::span<const MemoryUse> uses) {
  Barrier barrier;
  for (Unordered& unordered : unordered_) {
    if (!unordered.conflicts(uses)) continue;
    barrier.before |= unordered.before;
    barrier.written |= unordered.written;
    barrier.after |= unordered.stage;
    unordered.clear();
  }
  for (Unordered& unordered : unordered_)
    for (const MemoryUse& use : uses) unordered.insert(use);
  if (!barrier.after) return std::nullopt;
  return barrier;
}

bool HazardTracker::Unordered::conflicts(std::span<const MemoryUse> uses) const {
  return std::any_of(uses.begin(), uses.end(), [&](const MemoryUse& use) {
    if (mask(use.stage) != stage) return false;
    const Memory& memory = memories[use.memory];
    if (!memory.touched) return false;
    return memory.written.overlaps(use.begin, use.end) || (use.writes && memory.read.overlaps(use.begin, use.end));
  });
}

void HazardTracker::Unordered::insert(const MemoryUse& use) {
  Memory& memory = memories[use.memory];
  if (!memory.touched) {
    memory.touched = true;
    touched.push_back(use.memory);
  }
  before |= mask(use.stage);
  if (use.reads) memory.read.insert(use.begin, use.end);
  if (use.writes) {
    memory.written.insert(use.begin, use.end);
    written |= mask(use.stage);
  }
}

void HazardTracker::Unordered::clear() {
  for (uint32_t index : touched) {
    memories[index].read.clear();
    memories[index].written.clear();
    memories[index].touched = false;
  }
  touched.clear();
  before = 0;
  written = 0;
}

}  // namespace wavegate::device::vulkan
