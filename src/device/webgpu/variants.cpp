#include "wavegate/device/webgpu/variants.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/emit/wgsl/emitter.h"
#include "wavegate/kir/passes/merge_bindings.h"

namespace wavegate::device::webgpu {
namespace {

using OursPointer = std::shared_ptr<const kir::Kernel>;
using OpaquePointer = std::shared_ptr<const kir::OpaqueKernel>;

bool overlap(const gpu::BoundRange& a, const gpu::BoundRange& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}
bool are_same(const gpu::BoundRange& a, const gpu::BoundRange& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.bytes == b.bytes;
}

std::vector<gpu::BindingKind> kinds_of(const std::vector<bool>& writable) {
  std::vector<gpu::BindingKind> kinds;
  kinds.reserve(writable.size());
  for (const bool each : writable)
    kinds.push_back(each ? gpu::BindingKind::storage : gpu::BindingKind::read_only_storage);
  return kinds;
}

/// By descriptor, the index of its binding in the interface. Scalars share the last descriptor, and have none here.
std::vector<uint32_t> buffers_of(const kir::Interface& interface) {
  std::vector<uint32_t> buffers;
  for (uint32_t i = 0; i < interface.bindings.size(); ++i)
    if (interface.bindings[i].kind == kir::BindingKind::buffer) buffers.push_back(i);
  return buffers;
}

Result<kir::Kernel> merged(const kir::Kernel& kernel, const std::vector<uint32_t>& same_as) {
  kir::Kernel result = kernel;
  const std::vector<uint32_t> buffers = buffers_of(kernel.interface);
  std::vector<uint32_t> bindings(kernel.interface.bindings.size());
  std::iota(bindings.begin(), bindings.end(), 0u);
  for (size_t i = 0; i < buffers.size(); ++i) bindings[buffers[i]] = buffers[same_as[i]];
  auto done = kir::merge_bindings(result, bindings);
  if (done.ok()) return result;
  return unsupported(format(
      "kernel \"{}\" gets one range in two bindings and writes it, which WebGPU forbids, and they cannot be made "
      "one: {}; bind different buffers",
      kernel.interface.name, done.error().message));
}

}  // namespace

std::vector<bool> written_bindings(const graph::Kernel& kernel) {
  const kir::Interface& interface = graph::interface_of(kernel);
  const bool is_opaque = std::holds_alternative<OpaquePointer>(kernel);
  std::vector<bool> written(graph::binding_count(kernel));
  uint32_t ordinal = 0;
  for (const kir::BindingInfo& info : interface.bindings) {
    const bool is_in_arena = !is_opaque && info.kind == kir::BindingKind::scalar;
    const uint32_t descriptor = is_in_arena ? interface.buffer_count() : ordinal++;
    if (kir::writes(info.access)) written[descriptor] = true;
  }
  return written;
}

Result<BindingShape> shape_of(const graph::Kernel& kernel, std::span<const gpu::BoundRange> ranges,
                              const std::string& label) {
  const std::vector<bool> written = written_bindings(kernel);
  BindingShape shape{std::vector<uint32_t>(ranges.size()), written};
  std::iota(shape.same_as.begin(), shape.same_as.end(), 0u);
  for (uint32_t i = 0; i < ranges.size(); ++i)
    for (uint32_t j = 0; j < ranges.size(); ++j)
      if (written[j] && ranges[i].buffer == ranges[j].buffer) shape.writable[i] = true;
  // Of a finished module what is only read is set apart, so that it matters only whether one of two is written.
  const std::vector<bool>& matters = std::holds_alternative<OpaquePointer>(kernel) ? written : shape.writable;
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    for (uint32_t j = 0; j < i; ++j) {
      if ((!matters[i] && !matters[j]) || !overlap(ranges[i], ranges[j])) continue;
      if (!are_same(ranges[i], ranges[j]))
        return unsupported(
            format("dispatch \"{}\": kernel \"{}\" gets ranges in bindings {} and {} that overlap, and writes their "
                   "buffer, which WebGPU forbids; bind ranges that are apart, or the same one",
                   label, graph::interface_of(kernel).name, j, i));
      shape.same_as[i] = std::min(shape.same_as[i], shape.same_as[j]);
    }
  }
  return shape;
}

Result<std::shared_ptr<const Pipeline>> make_pipeline(PipelineStore& store, const target::Profile& profile,
                                                      const kir::Kernel& kernel, const std::vector<bool>& writable) {
  WAVEGATE_TRY(emit::wgsl::Module module, emit::wgsl::emit(kernel, profile, {.writable = writable}));
  const std::vector<gpu::BindingKind> kinds = kinds_of(module.writable);
  return store.get({std::move(module.text), "main", kinds, kernel.interface.launch_words() != 0},
                   kernel.interface.name);
}

Result<std::shared_ptr<const Pipeline>> Variants::get(graph::KernelId id, const BindingShape& shape) {
  const auto known = pipelines_.find({id, shape});
  if (known != pipelines_.end()) return known->second;
  const graph::Kernel& kernel = graph_.kernels[static_cast<uint32_t>(id)];
  std::shared_ptr<const Pipeline> pipeline;
  if (const auto* opaque = std::get_if<OpaquePointer>(&kernel)) {
    if ((*opaque)->wgsl.empty())
      return unsupported(format("kernel \"{}\" has no WGSL, which is what WebGPU takes; give it a source in WGSL",
                                (*opaque)->interface.name));
    pipeline = store_.get(
        {(*opaque)->wgsl, (*opaque)->entry_point, kinds_of(written_bindings(kernel)), graph::word_count(kernel) != 0},
        (*opaque)->interface.name);
  } else {
    const kir::Kernel& ours = *std::get<OursPointer>(kernel);
    std::vector<bool> writable;
    for (uint32_t i = 0; i < shape.writable.size(); ++i)
      if (shape.same_as[i] == i) writable.push_back(shape.writable[i]);
    if (writable.size() == shape.writable.size()) {
      WAVEGATE_TRY(pipeline, make_pipeline(store_, profile_, ours, writable));
    } else {
      WAVEGATE_TRY(const kir::Kernel one, merged(ours, shape.same_as));
      WAVEGATE_TRY(pipeline, make_pipeline(store_, profile_, one, writable));
    }
  }
  pipelines_.emplace(Key{id, shape}, pipeline);
  return pipeline;
}

void Variants::forget_all() {
  store_.forget_all();
  pipelines_.clear();
}

}  // namespace wavegate::device::webgpu
