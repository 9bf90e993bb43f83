#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/lowering/kernel_table.h"
#include "wavegate/lowering/schedule.h"
#include "wavegate/lowering/values.h"
#include "wavegate/target/profile.h"

namespace wavegate::lowering {

/// Where the blocks of indirect grids lie, in words of the arguments; the table of declared grids has the same layout.
struct GridLayout {
  std::vector<uint32_t> first_word;  ///< by block
  std::vector<uint32_t> word_count;  ///< by block; 0: nothing uses it
  uint32_t word(GridSlot slot) const { return first_word[slot.block] + 3 * slot.index; }
};

/// What statements touch, one after the other. `values` and `layout` outlive it.
class StepFootprint {
 public:
  StepFootprint(const Values& values, const GridLayout& layout) : values_(values), layout_(layout) {}
  void add(const Statement& statement);

  /// By scalar; `read`: read before it is set.
  const std::map<uint32_t, kir::Access>& scalars() const { return scalars_; }
  const std::map<graph::BufferId, kir::Access>& buffers() const { return buffers_; }
  const std::vector<graph::Use>& uses() const { return uses_; }  ///< of the buffers
  uint32_t launch_words() const { return static_cast<uint32_t>(scalars_.size()) + parameters_; }
  /// Whether a kernel of a device can bind them.
  bool fits(const target::Limits& limits) const {
    return launch_words() <= limits.immediate_words &&
           buffers_.size() + (scalars_.empty() ? 0 : 1) <= limits.storage_buffers;
  }

 private:
  void read(const program::ScalarExpr& value);
  void touch(graph::BufferId buffer, kir::Access access, uint64_t first_word, uint64_t words);
  void note(const Set& set);
  void note(const Store& store);
  void note(const SetGrids& grids);
  void note(const SetComputedGrid& grid);

  const Values& values_;
  const GridLayout& layout_;
  std::map<uint32_t, kir::Access> scalars_;
  std::map<graph::BufferId, kir::Access> buffers_;
  std::vector<graph::Use> uses_;
  uint32_t parameters_ = 0;
};

/// Statements as a kernel of one invocation. Its bindings are the buffers, then the scalars, each named once; every
/// scalar is loaded at most once and stored once. Grids, slots and offsets of indirect arguments are launch words, so
/// that steps of one shape share one kernel.
struct StepKernel {
  kir::Kernel kernel;
  std::vector<graph::BufferId> buffers;  ///< one a buffer binding
  std::vector<program::Scalar> scalars;  ///< one a scalar binding
  std::vector<uint32_t> parameters;      ///< launch words after those of the scalars
  std::vector<graph::Use> uses;          ///< of the buffers
};
Result<StepKernel> step_kernel(const Values& values, const GridLayout& layout, std::span<const Statement> statements);

/// The kernel of a step, dispatched. Ranges of whole buffers have size zero until sizes are known.
Result<graph::Dispatch> step_dispatch(std::string label, std::span<const Statement> statements,
                                      const GridLayout& layout, const Values& values, KernelTable& kernels);

/// Whether nothing would be done: grids of blocks that nobody uses are not written.
bool is_void(const GridLayout& layout, const Statement& statement);

}  // namespace wavegate::lowering
