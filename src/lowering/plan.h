#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "wavegate/graph/graph.h"
#include "wavegate/lowering/strategy.h"
#include "wavegate/program/program.h"

namespace wavegate::lowering {

/// Where a value of the program lies in the graph: a buffer, and an offset in bytes.
struct Place {
  graph::BufferId buffer{};
  uint64_t offset = 0;
};

/// Words of the arena that describe a loop after a run.
struct LoopPlaces {
  std::string label;
  uint64_t trips = 0;      ///< byte offset in the arena: iterations of its last entry
  uint64_t converged = 0;  ///< byte offset: 1 if the predicate was false after the last iteration
};

/// One line of `explain`: how a region is lowered, and why.
struct RegionReport {
  uint32_t depth = 0;
  std::string label;
  Strategy strategy = Strategy::gate;
  std::string reason;
  double microseconds = 0;       ///< estimate of an iteration of a loop, or of a branch that is taken
  double dead_microseconds = 0;  ///< estimate of an iteration beyond those needed, or of a branch that is not taken
};

/// What lowering a program gives: a command graph, and where the program's values lie in it.
struct Plan {
  std::shared_ptr<const graph::Graph> graph;
  std::vector<Place> buffers;     ///< by program::Buffer::id; the program's own come first
  std::vector<Place> scalars;     ///< by program::Scalar::id
  std::vector<LoopPlaces> loops;  ///< by program::Loop::id
  graph::BufferId arena{};
  /// Byte offset in the arena of a word that is 1 + the index in `computed_grids` of the first dispatch whose computed
  /// grid was larger than declared; zero if there was none.
  uint64_t fault = 0;
  std::vector<std::string> computed_grids;  ///< labels of the dispatches whose grids are computed
  std::vector<RegionReport> regions;
  std::vector<std::string> notes;  ///< what is not as the regions' strategies have it, for people
};

}  // namespace wavegate::lowering
