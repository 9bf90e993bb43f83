#pragma once

#include <map>
#include <memory>
#include <string>
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

  /// Kernels that read alike are one.
  Result<graph::KernelId> add(kir::Kernel kernel);

  /// The kernel with a latch as its last scalar (of an opaque module: its last buffer), which returns at once where the
  /// latch is zero. `unsupported`, with the reason, for a module that cannot be changed so.
  Result<graph::KernelId> guarded(graph::KernelId kernel);

  const kir::KernelCode& operator[](graph::KernelId id) const { return kernels_[static_cast<uint32_t>(id)]; }
  bool has_opaque() const;

 private:
  graph::KernelId push(kir::KernelCode code);
  Result<graph::KernelId> make_guarded(graph::KernelId kernel);

  const target::Profile& profile_;
  std::vector<graph::Kernel> kernels_;
  std::vector<std::shared_ptr<const program::KernelSource>> sources_;  ///< keeps the keys below alive
  std::map<std::pair<const program::KernelSource*, std::vector<bool>>, graph::KernelId> by_source_;
  std::map<std::string, graph::KernelId> by_text_;
  std::map<graph::KernelId, Result<graph::KernelId>> guarded_;
};

}  // namespace wavegate::lowering
