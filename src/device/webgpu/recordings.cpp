#include "wavegate/device/webgpu/recordings.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace wavegate::device::webgpu {

bool Recordings::Kept::is_stale() const {
  return std::ranges::any_of(external, [](const auto& memory) { return memory.expired(); });
}

Result<std::shared_ptr<const Recording>> Recordings::get(Context& context, const graph::Graph& graph,
                                                         Variants& variants, const GraphMemory& memory) {
  std::erase_if(kept_, [](const Kept& kept) { return kept.is_stale(); });
  const auto known = std::ranges::find_if(kept_, [&](const Kept& kept) { return kept.handles == memory.handles(); });
  if (known != kept_.end()) {
    std::rotate(kept_.begin(), known, std::next(known));
    return kept_.front().recording;
  }
  Kept made;
  made.handles = memory.handles();
  for (const auto& bound : memory.external())
    if (bound) made.external.push_back(bound);
  WAVEGATE_TRY(made.recording, Recording::prepare(context, graph, variants, memory.handles()));
  if (kept_.size() == kMost) kept_.pop_back();
  kept_.insert(kept_.begin(), std::move(made));
  return kept_.front().recording;
}

}  // namespace wavegate::device::webgpu
