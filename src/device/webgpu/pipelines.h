#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wavegate/device/webgpu/gpu.h"
#include "wavegate/device/webgpu/owned.h"

namespace wavegate::device::webgpu {

/// What a pipeline is made of.
struct Module {
  std::string wgsl;
  std::string entry_point;
  std::vector<gpu::BindingKind> bindings;  ///< of group 0
  bool has_words = false;                  ///< group 1 holds the launch words
  friend auto operator<=>(const Module&, const Module&) = default;
};

/// A kernel ready to run.
struct Pipeline {
  Owned<gpu::Pipeline> pipeline;
  gpu::BindGroupLayout bindings = gpu::BindGroupLayout::none;  ///< the store's
  bool has_words = false;
};

/// The pipelines of a device: one for equal modules.
class PipelineStore {
 public:
  explicit PipelineStore(gpu::Device device) : device_(device) {}

  /// The pipeline of a module; `name` is the kernel's, for people. Whether WebGPU takes the module is told to the error
  /// scope around; if it does not, pipelines must be forgotten, so that the next one who wants it hears so too.
  std::shared_ptr<const Pipeline> get(Module module, const std::string& name);
  /// After an error nobody knows which pipelines are good: what is wanted later is made anew.
  void forget_all() { pipelines_.clear(); }

  /// The layout of the group that launch words are in.
  gpu::BindGroupLayout words_layout();

 private:
  gpu::BindGroupLayout layout(const std::vector<gpu::BindingKind>& kinds);

  gpu::Device device_;
  std::map<std::vector<gpu::BindingKind>, Owned<gpu::BindGroupLayout>> layouts_;
  std::map<Module, std::shared_ptr<const Pipeline>> pipelines_;
};

}  // namespace wavegate::device::webgpu
