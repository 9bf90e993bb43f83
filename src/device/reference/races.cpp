#include "wavegate/device/reference/races.h"

namespace wavegate::device::reference {
namespace {

// Cell::Record::who is a lane, or kSubgroup plus a subgroup of which several lanes came, or kMany subgroups.
constexpr uint32_t kSubgroup = 0x80000000;
constexpr uint32_t kMany = 0xffffffff;

/// The subgroup that all of a record's lanes belong to; kMany if there is none.
uint32_t subgroup_of(uint32_t who, uint32_t subgroup_size) {
  if (who == kMany) return kMany;
  return who >= kSubgroup ? who - kSubgroup : who / subgroup_size;
}

}  // namespace

bool RaceDetector::conflicts(const Cell::Record& record, uint32_t lane) const {
  if (record.epoch != epoch_ || record.who == lane) return false;
  const uint32_t subgroup = lane / subgroup_size_;
  return subgroup_of(record.who, subgroup_size_) != subgroup || record.subgroup_epoch == subgroup_epochs_[subgroup];
}

void RaceDetector::note(Cell::Record& record, uint32_t lane) const {
  const uint32_t subgroup = lane / subgroup_size_;
  const uint32_t subgroup_epoch = subgroup_epochs_[subgroup];
  const uint32_t before = subgroup_of(record.who, subgroup_size_);
  if (record.epoch != epoch_ || (before == subgroup && record.subgroup_epoch != subgroup_epoch)) {
    record = {epoch_, subgroup_epoch, lane};
  } else if (record.who != lane) {
    record.who = before == subgroup ? kSubgroup + subgroup : kMany;
  }
}

bool RaceDetector::read(Cell& cell, uint32_t lane) const {
  const bool free = !conflicts(cell.write, lane) && !conflicts(cell.atomic, lane);
  note(cell.read, lane);
  return free;
}

bool RaceDetector::write(Cell& cell, uint32_t lane, bool changes) const {
  const bool free =
      !changes || (!conflicts(cell.read, lane) && !conflicts(cell.write, lane) && !conflicts(cell.atomic, lane));
  note(cell.write, lane);
  return free;
}

bool RaceDetector::atomic(Cell& cell, uint32_t lane) const {
  const bool free = !conflicts(cell.read, lane) && !conflicts(cell.write, lane);
  note(cell.atomic, lane);
  return free;
}

}  // namespace wavegate::device::reference
