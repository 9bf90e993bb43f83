#include "wavegate/amdgpu/wave/finding.h"

#include <algorithm>
#include <tuple>

namespace wavegate::amdgpu::wave {

std::string_view to_string(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds_read: return "out-of-bounds read";
    case FindingKind::out_of_bounds_write: return "out-of-bounds write";
    case FindingKind::misaligned_atomic: return "misaligned atomic";
    case FindingKind::uninitialised_register: return "uninitialised register";
    case FindingKind::lds_race: return "LDS race";
    case FindingKind::global_race: return "global race";
  }
  return "";
}

void Findings::add(Finding finding) {
  const std::lock_guard lock(mutex_);
  for (Finding& known : findings_) {
    if (known.kind != finding.kind || known.offset != finding.offset) continue;
    ++known.occurrences;
    return;
  }
  if (findings_.size() < kMaximum) findings_.push_back(std::move(finding));
}

std::vector<Finding> Findings::sorted() const {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> all = findings_;
  std::ranges::sort(all, {}, [](const Finding& finding) { return std::tuple(finding.offset, finding.kind); });
  return all;
}

}  // namespace wavegate::amdgpu::wave
