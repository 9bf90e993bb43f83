#include "wavegate/lowering/separate_arguments.h"

#include <algorithm>
#include <utility>

namespace wavegate::lowering {
namespace {

using graph::BufferId;
using graph::Command;
using graph::Range;

bool binds(const graph::Dispatch& dispatch, BufferId buffer) {
  return std::ranges::any_of(dispatch.bindings, [&](const Range& range) { return range.buffer == buffer; });
}

bool writes_its_grid_source(const Command& command) {
  if (const auto* dispatch = std::get_if<graph::Dispatch>(&command))
    return dispatch->indirect && binds(*dispatch, dispatch->indirect->buffer);
  const auto* const repeat = std::get_if<std::shared_ptr<const graph::Repeat>>(&command);
  if (repeat != nullptr) return std::ranges::any_of((*repeat)->body, writes_its_grid_source);
  const auto* const loop = std::get_if<std::shared_ptr<const graph::Loop>>(&command);
  return loop != nullptr && std::ranges::any_of((*loop)->body, writes_its_grid_source);
}

class Separator {
 public:
  Separator(BufferId arguments, BufferId written) : arguments_(arguments), written_(written) {}

  std::vector<Command> commands(const std::vector<Command>& from) const {
    std::vector<Command> out;
    out.reserve(from.size());
    for (const Command& command : from) std::visit([&](const auto& what) { add(what, out); }, command);
    return out;
  }

 private:
  void add(graph::Dispatch dispatch, std::vector<Command>& out) const {
    for (Range& range : dispatch.bindings)
      if (range.buffer == arguments_) range.buffer = written_;
    std::vector<Command> copies;
    for (graph::Use& use : dispatch.uses) {
      if (use.range.buffer != arguments_) continue;
      use.range.buffer = written_;
      Range grids = use.range;
      grids.buffer = arguments_;
      if (kir::writes(use.access)) copies.emplace_back(graph::Copy{dispatch.label + " grids", use.range, grids});
    }
    out.emplace_back(std::move(dispatch));
    std::ranges::move(copies, std::back_inserter(out));
  }
  void add(const graph::Copy& copy, std::vector<Command>& out) const { out.emplace_back(copy); }
  void add(graph::Fill fill, std::vector<Command>& out) const {
    out.emplace_back(fill);
    if (fill.destination.buffer != arguments_) return;
    fill.destination.buffer = written_;
    out.emplace_back(std::move(fill));
  }
  void add(const std::shared_ptr<const graph::Conditional>& conditional, std::vector<Command>& out) const {
    out.emplace_back(conditional);
  }
  template <typename Block>
  void add(const std::shared_ptr<const Block>& block, std::vector<Command>& out) const {
    auto changed = std::make_shared<Block>(*block);
    changed->body = commands(block->body);
    out.emplace_back(std::shared_ptr<const Block>(std::move(changed)));
  }

  BufferId arguments_;
  BufferId written_;
};

}  // namespace

void separate_arguments(graph::Graph& graph, BufferId arguments) {
  if (std::ranges::none_of(graph.commands, writes_its_grid_source)) return;
  graph::Buffer written = graph.buffers[static_cast<uint32_t>(arguments)];
  written.name += " written";
  written.indirect = false;
  const BufferId id{static_cast<uint32_t>(graph.buffers.size())};
  graph.buffers.push_back(std::move(written));
  graph.commands = Separator(arguments, id).commands(graph.commands);
}

}  // namespace wavegate::lowering
