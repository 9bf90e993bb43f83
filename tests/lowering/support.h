#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "wavegate/kir/builder.h"
#include "wavegate/lowering/lower.h"
#include "wavegate/lowering/scalar_emitter.h"
#include "wavegate/lowering/step_kernel.h"

namespace wavegate::lowering {

using kir::Access;
using kir::Builder;
using kir::Type;
using program::Buffer;
using program::Initial;
using program::literal;
using program::Program;
using program::Scalar;
using program::ScalarExpr;

/// The value of a result, or a failed test that shows the error.
template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(result).value();
}

/// A processor; its limits are the defaults.
inline target::Profile profile() {
  target::Profile made;
  made.is_cpu = true;
  made.features.conditional_rendering = true;
  made.limits.binding_alignment = 64;
  return made;
}
inline target::Profile gpu_profile() {
  target::Profile made = profile();
  made.is_cpu = false;
  return made;
}

/// data[i] = data[i] + 1 for 64 elements a workgroup.
inline std::shared_ptr<const program::KernelSource> touch_kernel(std::array<uint32_t, 3> workgroup = {64, 1, 1},
                                                                 bool meets = false) {
  Builder b("touch", workgroup);
  auto data = b.buffer("data", Type::i32, Access::read_write);
  data[b.global_id()] = data[b.global_id()] + 1;
  if (meets) b.barrier();
  return program::make_kernel_source(value_of(b.finish()));
}
inline void touch(Program& program, Buffer data, program::Grid grid = {1, 1, 1}) {
  static const auto kernel = touch_kernel();
  program.dispatch({.label = "touch", .kernel = kernel, .bindings = {data}, .grid = grid});
}

/// A module that no device would load: what the lowering does with one it never opens.
class OpaqueSource final : public program::KernelSource {
 public:
  explicit OpaqueSource(kir::Interface interface) : interface_(std::move(interface)) {}
  const kir::Interface& interface() const override { return interface_; }
  using KernelSource::is_opaque;
  bool is_opaque() const override { return true; }
  Result<kir::KernelCode> specialise(const target::Profile&) const override {
    return kir::KernelCode(std::make_shared<const kir::OpaqueKernel>(kir::OpaqueKernel{.interface = interface_}));
  }

 private:
  kir::Interface interface_;
};
inline std::shared_ptr<const program::KernelSource> opaque_kernel() {
  kir::Interface interface;
  interface.name = "opaque";
  interface.bindings = {{"data", kir::BindingKind::buffer, Type::i32, Access::read_write}};
  return std::make_shared<OpaqueSource>(interface);
}

inline Options forced(Strategy strategy) {
  Options options;
  options.strategy = strategy;
  return options;
}

/// The dispatches of a graph, those inside its blocks too, each once.
inline void collect(const std::vector<graph::Command>& commands, std::vector<const graph::Dispatch*>& found) {
  for (const graph::Command& command : commands) {
    if (const auto* dispatch = std::get_if<graph::Dispatch>(&command)) found.push_back(dispatch);
    if (const auto* block = std::get_if<std::shared_ptr<const graph::Repeat>>(&command)) collect((*block)->body, found);
    if (const auto* block = std::get_if<std::shared_ptr<const graph::Conditional>>(&command))
      collect((*block)->body, found);
    if (const auto* block = std::get_if<std::shared_ptr<const graph::Loop>>(&command)) collect((*block)->body, found);
  }
}
inline std::vector<const graph::Dispatch*> dispatches(const std::vector<graph::Command>& commands) {
  std::vector<const graph::Dispatch*> found;
  collect(commands, found);
  return found;
}
inline std::vector<const graph::Dispatch*> dispatches(const Plan& plan) {
  return dispatches(plan.graph->commands);
}
/// Those whose label is, or begins with, this.
inline std::vector<const graph::Dispatch*> dispatches(const Plan& plan, std::string_view label) {
  std::vector<const graph::Dispatch*> found = dispatches(plan);
  std::erase_if(found, [&](const graph::Dispatch* each) { return !each->label.starts_with(label); });
  return found;
}

template <typename Block>
std::vector<std::shared_ptr<const Block>> blocks(const std::vector<graph::Command>& commands) {
  std::vector<std::shared_ptr<const Block>> found;
  for (const graph::Command& command : commands)
    if (const auto* block = std::get_if<std::shared_ptr<const Block>>(&command)) found.push_back(*block);
  return found;
}

inline const kir::Kernel& kernel_of(const Plan& plan, const graph::Dispatch& dispatch) {
  return *std::get<std::shared_ptr<const kir::Kernel>>(plan.graph->kernels[static_cast<uint32_t>(dispatch.kernel)]);
}

inline int64_t count(const kir::Kernel& kernel, kir::Op op) {
  int64_t found = 0;
  kir::walk(kernel.body, [&](const kir::Instruction& each) { found += each.op == op ? 1 : 0; });
  return found;
}

/// The scalars that an expression reads.
inline std::set<uint32_t> scalars_of(const ScalarExpr& expression) {
  std::set<uint32_t> found;
  note_scalars(expression.root(), found);
  return found;
}

}  // namespace wavegate::lowering
