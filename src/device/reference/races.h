#pragma once

#include <cstdint>
#include <vector>

namespace wavegate::device::reference {

/// Finds accesses of two invocations to one element of workgroup memory, at least one a store that changes it, with
/// no barrier between them. Lockstep would hide such a race; other devices would not. A barrier of the workgroup
/// orders all, one of a subgroup its own invocations; atomics do not race with each other.
class RaceDetector {
 public:
  /// What was done to one element lately, and by whom.
  struct Cell {
    struct Record {
      uint64_t epoch = 0;           ///< of the workgroup; older ones are over
      uint32_t subgroup_epoch = 0;  ///< of the subgroup
      uint32_t who = 0;             ///< a lane, or several: see races.cpp
    };
    Record read;
    Record write;
    Record atomic;
  };

  RaceDetector(uint32_t lane_count, uint32_t subgroup_size)
      : subgroup_size_(subgroup_size), subgroup_epochs_((lane_count + subgroup_size - 1) / subgroup_size) {}
  RaceDetector() = default;

  /// All that was done before is over: a workgroup starts, or has met at a barrier.
  void start_epoch() { ++epoch_; }
  /// A subgroup has met at a barrier of its own.
  void start_subgroup_epoch(uint32_t lane) { ++subgroup_epochs_[lane / subgroup_size_]; }

  // Each notes an access and says whether it is free of races.
  bool read(Cell& cell, uint32_t lane) const;
  /// A store that leaves the element as it was races with nobody.
  bool write(Cell& cell, uint32_t lane, bool changes) const;
  bool atomic(Cell& cell, uint32_t lane) const;

 private:
  bool conflicts(const Cell::Record& record, uint32_t lane) const;
  void note(Cell::Record& record, uint32_t lane) const;

  uint32_t subgroup_size_ = 1;
  uint64_t epoch_ = 1;
  std::vector<uint32_t> subgroup_epochs_;
};

}  // namespace wavegate::device::reference
