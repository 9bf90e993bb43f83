#include "wavegate/device/check.h"

#include <algorithm>
#include <memory>
#include <string>

#include "wavegate/base/format.h"

namespace wavegate::device {
namespace {

using target::Limits;
constexpr char kAxes[] = {'x', 'y', 'z'};

class Checker {
 public:
  Checker(const graph::Graph& graph, const target::Profile& profile)
      : graph_(graph), limits_(profile.limits), features_(profile.features) {}

  Result<void> run() const {
    WAVEGATE_CHECK(check_buffers());
    for (const graph::Kernel& kernel : graph_.kernels) WAVEGATE_CHECK(check_kernel(kernel));
    return check_commands(graph_.commands);
  }

 private:
  Error too_much(std::string message) const {
    return unsupported(std::move(message), format("graph \"{}\"", graph_.name));
  }

  const graph::Buffer& buffer_of(const graph::Range& range) const {
    return graph_.buffers[static_cast<uint32_t>(range.buffer)];
  }

  Result<void> check_buffers() const {
    uint64_t total = 0;
    for (const graph::Buffer& buffer : graph_.buffers) {
      if (buffer.bytes > limits_.buffer_bytes) {
        return too_much(format("buffer \"{}\": {} bytes exceed the device's largest buffer of {} bytes; split it",
                               buffer.name, buffer.bytes, limits_.buffer_bytes));
      }
      if (buffer.external) continue;
      if (buffer.bytes > limits_.memory_bytes || total > limits_.memory_bytes - buffer.bytes) {
        return too_much(
            format("buffer \"{}\": its {} bytes after {} bytes of other buffers exceed the device's {} bytes "
                   "of memory; use fewer or smaller values",
                   buffer.name, buffer.bytes, total, limits_.memory_bytes));
      }
      total += buffer.bytes;
    }
    return {};
  }

  Result<void> check_kernel(const graph::Kernel& kernel) const {
    const kir::Interface& interface = graph::interface_of(kernel);
    const auto& size = interface.workgroup_size;
    uint64_t invocations = 1;
    for (size_t d = 0; d < 3; ++d) {
      invocations *= size[d];
      if (size[d] > limits_.workgroup_size[d]) {
        return too_much(
            format("kernel \"{}\": workgroup size {} in {} exceeds the device's {}; use a smaller workgroup",
                   interface.name, size[d], kAxes[d], limits_.workgroup_size[d]));
      }
    }
    if (invocations > limits_.workgroup_invocations) {
      return too_much(
          format("kernel \"{}\": {} invocations in a workgroup exceed the device's {}; use a smaller "
                 "workgroup",
                 interface.name, invocations, limits_.workgroup_invocations));
    }
    if (graph::binding_count(kernel) > limits_.storage_buffers) {
      return too_much(
          format("kernel \"{}\": {} storage buffers{} exceed the device's {}; join buffers or split the "
                 "kernel",
                 interface.name, graph::binding_count(kernel),
                 interface.scalar_count() != 0 ? " (the arena counts as one)" : "", limits_.storage_buffers));
    }
    if (graph::word_count(kernel) > limits_.immediate_words) {
      return too_much(
          format("kernel \"{}\": {} launch words exceed the device's {}; pass fewer parameters or put them "
                 "into a buffer",
                 interface.name, graph::word_count(kernel), limits_.immediate_words));
    }
    return check_workgroup_memory(kernel);
  }

  Result<void> check_workgroup_memory(const graph::Kernel& kernel) const {
    const auto* ours = std::get_if<std::shared_ptr<const kir::Kernel>>(&kernel);
    if (!ours) return {};
    const uint64_t bytes = kir::workgroup_bytes(**ours);
    if (bytes <= limits_.workgroup_memory) return {};
    return too_much(
        format("kernel \"{}\": {} bytes of workgroup memory exceed the device's {}; use shorter workgroup "
               "arrays",
               (*ours)->interface.name, bytes, limits_.workgroup_memory));
  }

  Result<void> check_commands(const std::vector<graph::Command>& commands) const {
    for (const graph::Command& command : commands)
      WAVEGATE_CHECK(std::visit([&](const auto& specific) { return check_command(specific); }, command));
    return {};
  }

  Result<void> check_command(const graph::Copy&) const { return {}; }
  Result<void> check_command(const graph::Fill&) const { return {}; }
  Result<void> check_command(const std::shared_ptr<const graph::Repeat>& repeat) const {
    return check_commands(repeat->body);
  }
  Result<void> check_command(const std::shared_ptr<const graph::Loop>& loop) const {
    return check_commands(loop->body);
  }

  Result<void> check_command(const std::shared_ptr<const graph::Conditional>& conditional) const {
    if (!features_.conditional_rendering) {
      return too_much(
          format("conditional \"{}\": the device has no predicated dispatches (VK_EXT_conditional_rendering); use "
                 "another strategy than predication",
                 conditional->label));
    }
    return check_commands(conditional->body);
  }

  Result<void> check_command(const graph::Dispatch& dispatch) const {
    const graph::Kernel& kernel = graph_.kernels[static_cast<uint32_t>(dispatch.kernel)];
    const std::string& name = graph::interface_of(kernel).name;
    for (size_t d = 0; d < 3; ++d) {
      if (dispatch.grid[d] <= limits_.grid[d]) continue;
      return too_much(
          format("kernel \"{}\": {}dispatch \"{}\" of {} workgroups exceeds the device's {} in {}; split it "
                 "or use {}",
                 name, dispatch.indirect ? "indirect " : "", dispatch.label, dispatch.grid[d], limits_.grid[d],
                 kAxes[d], d == 0 ? "y" : "x"));
    }
    for (const graph::Range& range : dispatch.bindings) {
      if (range.offset % limits_.binding_alignment != 0) {
        return too_much(
            format("kernel \"{}\": dispatch \"{}\" binds buffer \"{}\" at offset {}, which is not a multiple "
                   "of the device's {}; align the range",
                   name, dispatch.label, buffer_of(range).name, range.offset, limits_.binding_alignment));
      }
      if (range.bytes > limits_.binding_bytes) {
        return too_much(
            format("kernel \"{}\": dispatch \"{}\" binds {} bytes of buffer \"{}\", which exceed the device's "
                   "{} in one binding; bind a part of it",
                   name, dispatch.label, range.bytes, buffer_of(range).name, limits_.binding_bytes));
      }
    }
    return {};
  }

  const graph::Graph& graph_;
  const Limits& limits_;
  const target::Features& features_;
};

}  // namespace

Result<void> check_graph(const graph::Graph& graph, const target::Profile& profile) {
  return Checker(graph, profile).run();
}

}  // namespace wavegate::device
