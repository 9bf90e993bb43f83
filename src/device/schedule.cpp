#include "wavegate/device/schedule.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace wavegate::device {
namespace {

constexpr uint64_t kUnbounded = std::numeric_limits<uint64_t>::max();

}  // namespace

Schedule::Schedule(const graph::Graph& graph) {
  for (const graph::Command& command : graph.commands)
    if (const auto* loop = std::get_if<std::shared_ptr<const graph::Loop>>(&command)) loops_.push_back(loop->get());
}

uint64_t Schedule::remaining() const {
  const graph::Loop& loop = *loops_[loop_];
  return loop.maximum ? *loop.maximum - runs_ : kUnbounded;
}

std::optional<Batch> Schedule::next() {
  Batch batch;
  while (!is_submitted_) {
    if (part_is_next_) {
      batch.pieces.push_back({Piece::Kind::part, loop_, 0});
      part_is_next_ = false;
      is_submitted_ = loop_ == loops_.size();
      if (is_submitted_) return batch;
      runs_ = 0;
      chunk_ = loops_[loop_]->first_chunk;
      in_flight_ = 0;
    }
    if (in_flight_ == kInFlight) return std::nullopt;
    if (remaining() == 0) {
      ++loop_;
      part_is_next_ = true;
      continue;
    }
    const auto runs = static_cast<uint32_t>(std::min<uint64_t>(chunk_, remaining()));
    batch.pieces.push_back({Piece::Kind::chunk, loop_, runs});
    runs_ += runs;
    chunk_ = graph::next_chunk(*loops_[loop_], runs_);
    // The first chunk is followed by a second in any case; if that is the last one there is nothing to decide.
    const bool rest_follows = remaining() == 0 || (in_flight_ == 0 && runs_ == runs && remaining() <= chunk_);
    if (rest_follows) continue;
    ++in_flight_;
    batch.looks_at = loop_;
    return batch;
  }
  return std::nullopt;
}

void Schedule::ended(size_t loop, bool done) {
  if (!is_open(loop)) return;
  --in_flight_;
  if (!done) return;
  ++loop_;
  part_is_next_ = true;
}

}  // namespace wavegate::device
