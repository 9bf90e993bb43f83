#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "wavegate/graph/graph.h"
#include "wavegate/program/expression.h"

namespace wavegate::lowering {

/// Between a program and its command graph: control flow is turned into latches, which are scalars of the arena like
/// the program's own, and into statements that compute them. What a statement becomes part of is not decided yet.

/// A grid among the arguments of indirect dispatches: entry `index` of a block.
struct GridSlot {
  uint32_t block = 0;
  uint32_t index = 0;
  friend bool operator==(const GridSlot&, const GridSlot&) = default;
};

/// destination = value.
struct Set {
  program::Scalar destination;
  program::ScalarExpr value;
};

/// buffer[index] = value, if the condition holds.
struct Store {
  graph::BufferId buffer{};
  program::ScalarExpr condition;
  program::ScalarExpr index;  ///< in words, within the buffer
  program::ScalarExpr value;  ///< of any type; its bits are stored
};

/// Every grid of the block, or an empty one, by the condition.
struct SetGrids {
  uint32_t block = 0;
  program::ScalarExpr condition;
};

/// One grid that the program computes, cut to `maximum`, or an empty one.
struct SetComputedGrid {
  GridSlot slot;
  program::ScalarExpr condition;
  std::array<program::ScalarExpr, 3> workgroups;
  graph::Grid maximum = {};
};

/// Work of one invocation on words. Statements run in order, and a value that was set is seen by what follows.
using Statement = std::variant<Set, Store, SetGrids, SetComputedGrid>;

/// Consecutive statements, which become one kernel, or the tail of the kernel before them.
struct Step {
  std::string label;
  std::vector<Statement> statements;
  std::optional<GridSlot> gate = {};  ///< runs only if the slot's grid, one workgroup, is not empty
  bool alone = false;                 ///< joins no other step
  bool may_be_tail = false;           ///< may become the tail of the dispatch before it
  bool must_be_tail = false;          ///< and is an error otherwise
};

/// A dispatch; with `grid_slot`, indirect.
struct Work {
  graph::Dispatch dispatch;
  std::optional<GridSlot> grid_slot = {};
  /// The latch under which it runs, where it is a kernel of ours and one workgroup: only then, a step that comes next
  /// may become its tail. `always_runs`: it runs whatever the latch says, and tests it itself.
  bool one_workgroup = false;
  bool always_runs = false;
  std::optional<program::Scalar> latch = {};
};

struct RepeatItem;
struct ConditionalItem;
struct LoopItem;
using Item = std::variant<Step, Work, graph::Copy, graph::Fill, std::shared_ptr<RepeatItem>,
                          std::shared_ptr<ConditionalItem>, std::shared_ptr<LoopItem>>;
using Sequence = std::vector<Item>;

struct RepeatItem {
  std::string label;
  uint32_t count = 0;
  Sequence body;
};
struct ConditionalItem {
  std::string label;
  program::Scalar predicate;
  Sequence body;
};
struct LoopItem {
  std::string label;
  uint32_t done_word = 0;  ///< in the observed buffer
  std::optional<uint64_t> maximum;
  uint32_t first_chunk = 0, largest_chunk = 0;
  Sequence body;
};

/// The grids that one condition turns on and off.
struct GridBlock {
  std::vector<graph::Grid> grids;  ///< each different; of a computed grid: its maximum
};

}  // namespace wavegate::lowering
