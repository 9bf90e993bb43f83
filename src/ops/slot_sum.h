#pragma once

#include <functional>
#include <vector>

#include "wavegate/kir/builder.h"
#include "wavegate/ops/mapping.h"

namespace wavegate::ops {

/// Sums over the slots of a workgroup, several at once, by a fixed tree: sixteen sums of every sixteenth slot in order,
/// then the sum of those in order. No subgroup operations, so that every device gives the same bytes.
class SlotSum {
 public:
  using Terms = std::vector<kir::Expr>;

  /// Declares the workgroup arrays of up to `count` sums. The workgroup has width_of(mapping) invocations.
  SlotSum(kir::Builder& builder, Mapping mapping, uint32_t count);

  /// Calls terms_of(slot) for the slots of this invocation below `slots`, 1 to 256; those above hold nothing. Ends with
  /// a barrier, and may be called again. Control flow must be workgroup-uniform, also in a call of terms_of when wide.
  void add(uint32_t slots, const std::function<Terms(kir::Expr)>& terms_of);

  /// The sums of the last add(), in any invocation.
  Terms totals() const;

 private:
  kir::Builder& b_;
  Mapping mapping_;
  std::vector<kir::MemoryRef> values_, sums_;
  size_t used_ = 0;  ///< sums of the last add()
};

}  // namespace wavegate::ops
