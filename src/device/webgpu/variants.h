#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/webgpu/gpu.h"
#include "wavegate/device/webgpu/pipelines.h"
#include "wavegate/graph/graph.h"
#include "wavegate/target/profile.h"

namespace wavegate::device::webgpu {

/// How a dispatch binds memory, as far as the text of its kernel depends on it.
///
/// WebGPU wants of a dispatch that no two writable bindings overlap, and that a buffer of which one binding is writable
/// is not bound as read-only beside it.
struct BindingShape {
  /// By descriptor: the first that shows the same memory, if both must be writable; else itself.
  std::vector<uint32_t> same_as;
  /// By descriptor: declared writable, since the kernel writes it or another that lies in the same buffer.
  std::vector<bool> writable;
  friend auto operator<=>(const BindingShape&, const BindingShape&) = default;
};

/// By descriptor: does the kernel write it? The arena, which is last, if it writes any scalar.
std::vector<bool> written_bindings(const graph::Kernel& kernel);

/// The shape of bindings that lie in these ranges. `unsupported`, by the dispatch's label: ranges of a written buffer
/// that overlap without being the same.
Result<BindingShape> shape_of(const graph::Kernel& kernel, std::span<const gpu::BoundRange> ranges,
                              const std::string& label);

/// The pipelines of a graph's kernels, each in the variants that its dispatches need.
class Variants {
 public:
  Variants(PipelineStore& store, const target::Profile& profile, const graph::Graph& graph)
      : store_(store), profile_(profile), graph_(graph) {}

  /// The pipeline for a shape. Of an opaque kernel, whose text decides, there is one variant. Inside an error scope.
  Result<std::shared_ptr<const Pipeline>> get(graph::KernelId kernel, const BindingShape& shape);

  /// What WebGPU refused must not be believed later.
  void forget_all();

 private:
  using Key = std::tuple<graph::KernelId, BindingShape>;

  PipelineStore& store_;
  const target::Profile& profile_;
  const graph::Graph& graph_;
  std::map<Key, std::shared_ptr<const Pipeline>> pipelines_;
};

/// The pipeline of a kernel of ours. Inside an error scope.
Result<std::shared_ptr<const Pipeline>> make_pipeline(PipelineStore& store, const target::Profile& profile,
                                                      const kir::Kernel& kernel, const std::vector<bool>& writable);

}  // namespace wavegate::device::webgpu
