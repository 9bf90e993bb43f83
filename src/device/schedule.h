#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "wavegate/graph/graph.h"

namespace wavegate::device {

/// What one command buffer holds: a part of the graph (see Recording), or some runs of a loop's body.
struct Piece {
  enum class Kind : uint8_t { part, chunk };
  Kind kind = Kind::part;
  size_t index = 0;   ///< of the part, or of the loop
  uint32_t runs = 0;  ///< of the body, in a chunk
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// One submission.
struct Batch {
  std::vector<Piece> pieces;
  /// The loop of the chunk that it ends with, if what follows depends on whether that has left the loop done.
  std::optional<size_t> looks_at = {};
  friend bool operator==(const Batch&, const Batch&) = default;
};

/// Decides what a run of a graph submits, and when. The host submits what next() gives until it gives nothing, waits
/// for the oldest batch that looks at a loop, tells the loop's state with ended(), and so on until all is_submitted().
///
/// While a loop is not known to be done, kInFlight of its chunks are in flight; the device then has work while the host
/// looks. Nothing is looked at that could not change what is submitted: what certainly follows goes along.
class Schedule {
 public:
  static constexpr uint32_t kInFlight = 2;

  /// `graph` outlives the result.
  explicit Schedule(const graph::Graph& graph);

  /// The next submission, if one can be made now.
  std::optional<Batch> next();

  /// Would looking at the loop now change anything?
  bool is_open(size_t loop) const { return loop == loop_ && !part_is_next_ && !is_submitted_; }

  /// A batch that looks at the loop has ended. Ignored unless the loop is open.
  void ended(size_t loop, bool done);

  /// Nothing follows what next() gave.
  bool is_submitted() const { return is_submitted_; }

  /// Precondition: not everything is submitted.
  const graph::Loop& loop() const { return *loops_[loop_]; }
  const graph::Loop& loop(size_t index) const { return *loops_[index]; }
  size_t loop_count() const { return loops_.size(); }

 private:
  uint64_t remaining() const;

  std::vector<const graph::Loop*> loops_;
  size_t loop_ = 0;           ///< the loop, or the part before it if that is next
  bool part_is_next_ = true;  ///< the part before loop_ was not given yet
  bool is_submitted_ = false;
  // Of loop_.
  uint64_t runs_ = 0;       ///< given
  uint32_t chunk_ = 0;      ///< size of the next chunk
  uint32_t in_flight_ = 0;  ///< chunks that are looked at
};

}  // namespace wavegate::device
