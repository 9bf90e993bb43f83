#include "wavegate/device/webgpu/recording.h"

#include <utility>

#include "wavegate/base/format.h"

namespace wavegate::device::webgpu {

/// Turns the graph's commands into steps.
struct Recording::Preparation {
  const graph::Graph& graph;
  Variants& variants;
  std::span<const gpu::Buffer> buffers;
  Recording& out;

  gpu::BoundRange at(const graph::Range& range) const {
    return {buffers[static_cast<uint32_t>(range.buffer)], range.offset, range.bytes};
  }

  Result<void> prepare_graph() {
    std::vector<Item> part;
    for (const graph::Command& command : graph.commands) {
      if (const auto* loop = std::get_if<std::shared_ptr<const graph::Loop>>(&command)) {
        out.parts_.push_back(std::exchange(part, {}));
        WAVEGATE_CHECK(prepare((*loop)->body, out.bodies_.emplace_back()));
      } else {
        WAVEGATE_CHECK(std::visit([&](const auto& specific) { return prepare(specific, part); }, command));
      }
    }
    out.parts_.push_back(std::move(part));
    out.steps_.finish();
    return {};
  }

  Result<void> prepare(const std::vector<graph::Command>& commands, std::vector<Item>& items) {
    for (const graph::Command& command : commands)
      WAVEGATE_CHECK(std::visit([&](const auto& specific) { return prepare(specific, items); }, command));
    return {};
  }

  Result<void> prepare(const std::shared_ptr<const graph::Repeat>& repeat, std::vector<Item>& items) {
    Item item;
    item.repeat = repeat->count;
    WAVEGATE_CHECK(prepare(repeat->body, item.body));
    if (item.repeat != 0 && !item.body.empty()) items.push_back(std::move(item));
    return {};
  }
  // Neither comes here: a loop stands at the top level, and the limits of the device exclude conditionals.
  Result<void> prepare(const std::shared_ptr<const graph::Loop>& loop, std::vector<Item>&) {
    return internal_error(format("loop \"{}\" stands in a block", loop->label));
  }
  Result<void> prepare(const std::shared_ptr<const graph::Conditional>& conditional, std::vector<Item>&) {
    return internal_error(format("conditional \"{}\" came to a device without predication", conditional->label));
  }

  static void add(std::span<const Step> steps, std::vector<Item>& items) {
    for (const Step& step : steps) items.push_back({step, 0, {}});
  }

  Result<void> prepare(const graph::Copy& copy, std::vector<Item>& items) {
    std::vector<Step> steps;
    out.steps_.copy(at(copy.source), at(copy.destination), steps);
    add(steps, items);
    return {};
  }

  Result<void> prepare(const graph::Fill& fill, std::vector<Item>& items) {
    std::vector<Step> steps;
    WAVEGATE_CHECK(out.steps_.fill(at(fill.destination), fill.word, steps));
    add(steps, items);
    return {};
  }

  Result<void> prepare(const graph::Dispatch& dispatch, std::vector<Item>& items) {
    const graph::Kernel& kernel = graph.kernels[static_cast<uint32_t>(dispatch.kernel)];
    std::vector<gpu::BoundRange> ranges;
    for (const graph::Range& range : dispatch.bindings) ranges.push_back(at(range));
    WAVEGATE_TRY(const BindingShape shape, shape_of(kernel, ranges, dispatch.label));
    WAVEGATE_TRY(std::shared_ptr<const Pipeline> pipeline, variants.get(dispatch.kernel, shape));
    std::vector<Step> steps;
    const bool is_opaque = std::holds_alternative<std::shared_ptr<const kir::OpaqueKernel>>(kernel);
    if (is_opaque) WAVEGATE_CHECK(set_apart(kernel, shape, dispatch, ranges, steps));
    std::vector<gpu::BoundRange> bound;
    for (uint32_t i = 0; i < ranges.size(); ++i)
      if (shape.same_as[i] == i) bound.push_back(ranges[i]);
    if (dispatch.indirect)
      out.steps_.dispatch_indirect(std::move(pipeline), bound, dispatch.words, at(*dispatch.indirect).buffer,
                                   dispatch.indirect->offset, steps);
    else
      out.steps_.dispatch(std::move(pipeline), bound, dispatch.words, dispatch.grid, steps);
    add(steps, items);
    return {};
  }

  /// The text of an opaque kernel says which bindings are only read, and WebGPU takes none of them from a buffer that
  /// the dispatch writes elsewhere: they are copied first, which nobody can tell since the ranges are apart.
  Result<void> set_apart(const graph::Kernel& kernel, const BindingShape& shape, const graph::Dispatch& dispatch,
                         std::vector<gpu::BoundRange>& ranges, std::vector<Step>& steps) {
    const std::vector<bool> written = written_bindings(kernel);
    for (uint32_t i = 0; i < ranges.size(); ++i) {
      if (shape.same_as[i] != i)
        return unsupported(
            format("dispatch \"{}\": kernel \"{}\", a finished module, gets one range in bindings {} and {} and writes "
                   "it, which WebGPU forbids; bind different buffers",
                   dispatch.label, graph::interface_of(kernel).name, shape.same_as[i], i));
      if (written[i] || !shape.writable[i]) continue;
      const gpu::Buffer copy =
          out.steps_.add_buffer(dispatch.label, (ranges[i].bytes + 3) / 4 * 4, gpu::kStorage | gpu::kCopyDestination);
      const gpu::BoundRange apart{copy, 0, ranges[i].bytes};
      out.steps_.copy(ranges[i], apart, steps);
      ranges[i] = apart;
    }
    return {};
  }
};

Result<std::unique_ptr<Recording>> Recording::prepare(Context& context, const graph::Graph& graph, Variants& variants,
                                                      std::span<const gpu::Buffer> buffers) {
  if (graph::encoded_size(graph.commands) > kMaximumCommands)
    return unsupported(
        format("graph \"{}\": its repeats spell out more than {} commands; give its loops smaller bounds "
               "or run them in several submissions",
               graph.name, kMaximumCommands));
  std::unique_ptr<Recording> recording(new Recording(context));
  WAVEGATE_CHECK((Preparation{graph, variants, buffers, *recording}.prepare_graph()));
  return recording;
}

void Recording::play(Player& player, const std::vector<Item>& items) const {
  for (const Item& item : items) {
    if (item.repeat == 0) player.play(steps_, item.step);
    for (uint32_t i = 0; i < item.repeat; ++i) play(player, item.body);
  }
}

void Recording::play_body(Player& player, size_t loop, uint32_t runs) const {
  for (uint32_t i = 0; i < runs; ++i) play(player, bodies_[loop]);
}

}  // namespace wavegate::device::webgpu
