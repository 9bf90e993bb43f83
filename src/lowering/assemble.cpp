#include "wavegate/lowering/assemble.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/lowering/separate_arguments.h"
#include "wavegate/lowering/step_kernel.h"
#include "wavegate/lowering/tail.h"
#include "wavegate/lowering/work.h"

namespace wavegate::lowering {
namespace {

using graph::Command;
using graph::Range;

GridLayout lay_out(const std::vector<GridBlock>& blocks) {
  GridLayout layout;
  uint32_t next = 0;
  for (const GridBlock& block : blocks) {
    layout.first_word.push_back(next);
    layout.word_count.push_back(static_cast<uint32_t>(block.grids.size()) * 3);
    next += layout.word_count.back();
  }
  return layout;
}

class Assembler {
 public:
  Assembler(const Flow& flow, const Values& values, KernelTable& kernels, const target::Profile& profile)
      : flow_(flow), values_(values), kernels_(kernels), profile_(profile), layout_(lay_out(flow.blocks)) {}

  Result<std::shared_ptr<const graph::Graph>> run() {
    auto graph = std::make_shared<graph::Graph>();
    graph->name = values_.program().name();
    graph->buffers = values_.graph_buffers(argument_words());
    fill_grid_table(graph->buffers[static_cast<uint32_t>(values_.grids)]);
    buffers_ = &graph->buffers;
    start_fresh(graph->commands);
    WAVEGATE_CHECK(commands(flow_.commands, graph->commands));
    keep_used_kernels(graph->commands, graph->kernels);
    if (!profile_.features.writes_its_grid_source) separate_arguments(*graph, values_.arguments);
    WAVEGATE_CHECK(graph::verify(*graph));
    return std::shared_ptr<const graph::Graph>(std::move(graph));
  }

 private:
  uint32_t argument_words() const {
    return layout_.first_word.empty() ? 0 : layout_.first_word.back() + layout_.word_count.back();
  }

  /// The declared grids, laid out as the arguments.
  void fill_grid_table(graph::Buffer& table) const {
    auto bytes = std::make_shared<std::vector<std::byte>>(table.bytes);
    size_t at = 0;
    for (const GridBlock& block : flow_.blocks)
      for (const graph::Grid& grid : block.grids) {
        std::memcpy(bytes->data() + at, grid.data(), 12);
        at += 12;
      }
    table.initial = graph::Contents{std::move(bytes), 0};
  }

  void start_fresh(std::vector<Command>& out) const {
    const uint64_t first = uint64_t{values_.first_control_word()} * 4, end = uint64_t{values_.arena_words()} * 4;
    if (end > first) out.emplace_back(graph::Fill{"fresh control words", {values_.arena, first, end - first}, 0});
    if (argument_words() > 0)
      out.emplace_back(graph::Fill{"empty grids", {values_.arguments, 0, uint64_t{argument_words()} * 4}, 0});
    if (values_.observed_words() > 0)
      out.emplace_back(
          graph::Fill{"nothing observed", {values_.observed, 0, uint64_t{values_.observed_words()} * 4}, 0});
  }

  Range whole(graph::BufferId buffer) const { return {buffer, 0, (*buffers_)[static_cast<uint32_t>(buffer)].bytes}; }

  Range arguments(GridSlot slot) const { return {values_.arguments, uint64_t{layout_.word(slot)} * 4, 12}; }

  Result<void> commands(const Sequence& items, std::vector<Command>& out) {
    for (const Item& item : items) WAVEGATE_CHECK(std::visit([&](const auto& what) { return add(what, out); }, item));
    return {};
  }

  /// Ranges whose size was not known yet are whole buffers.
  void size_whole(graph::Dispatch& dispatch) const {
    for (Range& range : dispatch.bindings)
      if (range.bytes == 0) range = whole(range.buffer);
  }

  graph::Dispatch finished(const Work& work) const {
    graph::Dispatch dispatch = work.dispatch;
    size_whole(dispatch);
    if (work.grid_slot) dispatch.indirect = arguments(*work.grid_slot);
    return dispatch;
  }

  Result<void> add(const Work& work, std::vector<Command>& out) {
    out.emplace_back(finished(work));
    return {};
  }

  /// The end of the statements from `first` on that fit one kernel's launch words and buffers; at least one statement,
  /// which Guards have made small enough.
  size_t fitting(const std::vector<Statement>& statements, size_t first) const {
    StepFootprint footprint(values_, layout_);
    for (size_t end = first; end < statements.size(); ++end) {
      footprint.add(statements[end]);
      if (end > first && !footprint.fits(profile_.limits)) return end;
    }
    return statements.size();
  }

  /// What of a step becomes commands, in order. Of a step behind a gate, the last part is what shuts that gate: were
  /// the step split, the parts after it would not run.
  std::vector<Statement> statements_of(const Step& step) const {
    std::vector<Statement> statements;
    std::ranges::remove_copy_if(step.statements, std::back_inserter(statements),
                                [&](const Statement& statement) { return is_void(layout_, statement); });
    if (step.gate)
      std::stable_partition(statements.begin(), statements.end(), [&](const Statement& statement) {
        const auto* grids = std::get_if<SetGrids>(&statement);
        return grids == nullptr || grids->block != step.gate->block;
      });
    return statements;
  }

  Result<void> add(const Step& step, std::vector<Command>& out) {
    const std::vector<Statement> statements = statements_of(step);
    bool first = true;
    for (size_t begin = 0; begin < statements.size();) {
      const size_t end = fitting(statements, begin);
      WAVEGATE_TRY(
          graph::Dispatch dispatch,
          step_dispatch(step.label, std::span(statements).subspan(begin, end - begin), layout_, values_, kernels_));
      begin = end;
      size_whole(dispatch);
      if (step.gate) dispatch.indirect = arguments(*step.gate);
      if (std::exchange(first, false) && step.may_be_tail && !out.empty()) {
        const auto* body = std::get_if<graph::Dispatch>(&out.back());
        std::optional<graph::Dispatch> joined;
        if (body != nullptr) {
          WAVEGATE_TRY(joined, with_tail(*body, dispatch, kernels_, profile_));
        }
        if (step.must_be_tail && (!joined || end < statements.size()))
          return unsupported(format(
              "{}: the kernel before it cannot take it as its tail within the limits of the device", step.label));
        if (joined) {
          out.back() = std::move(*joined);
          continue;
        }
      }
      out.emplace_back(std::move(dispatch));
    }
    return {};
  }

  Result<void> add(const graph::Copy& copy, std::vector<Command>& out) {
    out.emplace_back(copy);
    return {};
  }
  Result<void> add(const graph::Fill& fill, std::vector<Command>& out) {
    out.emplace_back(fill);
    return {};
  }

  Result<void> add(const std::shared_ptr<RepeatItem>& item, std::vector<Command>& out) {
    auto repeat = std::make_shared<graph::Repeat>();
    repeat->label = item->label;
    repeat->count = item->count;
    WAVEGATE_CHECK(commands(item->body, repeat->body));
    if (!repeat->body.empty()) out.emplace_back(std::shared_ptr<const graph::Repeat>(std::move(repeat)));
    return {};
  }

  Result<void> add(const std::shared_ptr<ConditionalItem>& item, std::vector<Command>& out) {
    auto conditional = std::make_shared<graph::Conditional>();
    conditional->label = item->label;
    conditional->predicate = values_.range(item->predicate);
    WAVEGATE_CHECK(commands(item->body, conditional->body));
    if (!conditional->body.empty()) out.emplace_back(std::shared_ptr<const graph::Conditional>(std::move(conditional)));
    return {};
  }

  Result<void> add(const std::shared_ptr<LoopItem>& item, std::vector<Command>& out) {
    auto loop = std::make_shared<graph::Loop>();
    loop->label = item->label;
    loop->done = {values_.observed, uint64_t{item->done_word} * 4, 4};
    loop->maximum = item->maximum;
    WAVEGATE_CHECK(commands(item->body, loop->body));
    // Chunks that one can encode: a body with loops of its own may be long.
    const uint64_t fitting =
        std::max<uint64_t>(1, kMaximumCommands / 2 / std::max<uint64_t>(1, graph::encoded_size(loop->body)));
    loop->first_chunk = static_cast<uint32_t>(std::min<uint64_t>(item->first_chunk, fitting));
    loop->largest_chunk = static_cast<uint32_t>(std::min<uint64_t>(item->largest_chunk, fitting));
    out.emplace_back(std::shared_ptr<const graph::Loop>(std::move(loop)));
    return {};
  }

  /// Only what is dispatched is loaded: a kernel may be there in several forms.
  void keep_used_kernels(std::vector<Command>& commands, std::vector<graph::Kernel>& kept) {
    for (Command& command : commands) std::visit([&](auto& what) { keep_used(what, kept); }, command);
  }
  void keep_used(graph::Dispatch& dispatch, std::vector<graph::Kernel>& kept) {
    const auto [place, fresh] = renumbered_.emplace(dispatch.kernel, static_cast<uint32_t>(kept.size()));
    if (fresh) kept.push_back(kernels_[dispatch.kernel]);
    dispatch.kernel = graph::KernelId{place->second};
  }
  void keep_used(graph::Copy&, std::vector<graph::Kernel>&) {}
  void keep_used(graph::Fill&, std::vector<graph::Kernel>&) {}
  template <typename Block>
  void keep_used(std::shared_ptr<const Block>& block, std::vector<graph::Kernel>& kept) {
    auto changed = std::make_shared<Block>(*block);
    keep_used_kernels(changed->body, kept);
    block = std::move(changed);
  }

  const Flow& flow_;
  const Values& values_;
  KernelTable& kernels_;
  std::map<graph::KernelId, uint32_t> renumbered_;
  const target::Profile& profile_;
  const GridLayout layout_;
  const std::vector<graph::Buffer>* buffers_ = nullptr;
};

}  // namespace

Result<std::shared_ptr<const graph::Graph>> assemble(const Flow& flow, const Values& values, KernelTable& kernels,
                                                     const target::Profile& profile) {
  return Assembler(flow, values, kernels, profile).run();
}

}  // namespace wavegate::lowering
