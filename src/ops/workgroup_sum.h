#pragma once

#include <functional>
#include <string>
#include <vector>

#include "wavegate/kir/builder.h"

namespace wavegate::ops {

/// Invocations in a workgroup of every reduction. Part of the meaning: it fixes the tree, and so the bytes.
inline constexpr uint32_t kReductionWidth = 256;

/// Sums one value an invocation over a workgroup of kReductionWidth, several sums at once, by a fixed tree: sixteen
/// invocations add sixteen values each, one adds their sums. No subgroup operations, so that every device gives the
/// same bytes. Two barriers. May be called in a workgroup-uniform loop.
class WorkgroupSum {
 public:
  /// Declares the workgroup arrays of `count` sums.
  WorkgroupSum(kir::Builder& builder, uint32_t count);

  /// Calls `use` with the sums in the invocation with local id 0 only. Control flow must be workgroup-uniform.
  void sum(const std::vector<kir::Expr>& values, const std::function<void(const std::vector<kir::Expr>&)>& use);

 private:
  kir::Builder& b_;
  std::vector<kir::MemoryRef> values_, sums_;
};

}  // namespace wavegate::ops
