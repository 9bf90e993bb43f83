#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/graph/graph.h"
#include "wavegate/program/kernel_source.h"
#include "wavegate/target/profile.h"

namespace wavegate::lowering {

/// The kernels of a graph, each once and simplified: a source is specialised for the device when it is first
/// dispatched.
class KernelTable {
 public:
  explicit KernelTable(const target::Profile& profile) : profile_(profile) {}

  /// The kernel of a source. Parameters for which `from_scalar` is true are read from scalars that are bound after
  /// the source's own bindings; `unsupported` for an opaque kernel.
  Result<graph::KernelId> add(const std::shared_ptr<const program::KernelSource>& source,
                              const std::vector<bool>& from_scalar);

  /// One of the lowering's own kernels, made when first asked for.
  Result<graph::KernelId> add(Result<kir::Kernel> (*make)());

  Result<graph::KernelId> add(kir::Kernel kernel);

  const kir::KernelCode& operator[](graph::KernelId id) const { return kernels_[static_cast<uint32_t>(id)]; }
  std::vector<graph::Kernel> take() { return std::move(kernels_); }

 private:
  graph::KernelId push(kir::KernelCode code);

  const target::Profile& profile_;
  std::vector<graph::Kernel> kernels_;
  std::vector<std::shared_ptr<const program::KernelSource>> sources_;  ///< keeps the keys below alive
  std::map<std::pair<const program::KernelSource*, std::vector<bool>>, graph::KernelId> by_source_;
  std::map<Result<kir::Kernel> (*)(), graph::KernelId> by_maker_;
};

}  // namespace wavegate::lowering
