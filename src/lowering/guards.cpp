#include "wavegate/lowering/guards.h"

#include <algorithm>

#include "wavegate/lowering/work.h"

namespace wavegate::lowering {
namespace {

using program::Scalar;
using program::ScalarExpr;

bool is_indirect(Strategy guard) {
  return guard == Strategy::fused_gate || guard == Strategy::chained_gate || guard == Strategy::producer;
}

/// Whether a step may become the tail of the item: a kernel that runs whenever the step would.
bool takes_tail(const Item& item) {
  const auto* work = std::get_if<Work>(&item);
  return work != nullptr && work->one_workgroup && work->always_runs;
}

/// Under conditional rendering, with its neighbours of the same predicate.
void conditional(Work work, Scalar predicate, Sequence& out) {
  if (!out.empty())
    if (auto* last = std::get_if<std::shared_ptr<ConditionalItem>>(&out.back());
        last != nullptr && (*last)->predicate == predicate) {
      (*last)->body.emplace_back(std::move(work));
      return;
    }
  auto item = std::make_shared<ConditionalItem>();
  item->label = "if";
  item->predicate = predicate;
  item->body.emplace_back(std::move(work));
  out.emplace_back(std::move(item));
}

}  // namespace

Step& Guards::step(const Context& context, const std::string& label, Sequence& out, bool alone) {
  if (!alone && !out.empty())
    if (auto* last = std::get_if<Step>(&out.back()); last && !last->alone && last->gate == context.step_gate)
      return *last;
  Step made;
  made.label = label;
  made.alone = alone;
  if (!alone) made.gate = context.step_gate;
  made.may_be_tail = !alone && !made.gate && !out.empty() && takes_tail(out.back());
  out.emplace_back(std::move(made));
  return std::get<Step>(out.back());
}

void Guards::set(const Context& context, Scalar destination, ScalarExpr value, const std::string& label,
                 Sequence& out) {
  step(context, label, out, !fuses(context)).statements.emplace_back(Set{destination, std::move(value)});
}

Token Guards::new_latch(const Context& context, const std::string& name) {
  const Scalar word = values_.control(name, true);
  if (is_indirect(context.guard)) block_of_[word.id] = new_block();
  if (context.forget != nullptr) {
    context.forget->emplace_back(Set{word, 0u});
    if (is_indirect(context.guard)) context.forget->emplace_back(SetGrids{block_of_[word.id], 0u});
  }
  return Token::latched(word);
}

uint32_t Guards::new_block() {
  blocks_.emplace_back();
  return static_cast<uint32_t>(blocks_.size() - 1);
}

GridSlot Guards::slot(uint32_t block, const graph::Grid& grid) {
  std::vector<graph::Grid>& grids = blocks_[block].grids;
  const auto known = std::ranges::find(grids, grid);
  const auto index = static_cast<uint32_t>(known - grids.begin());
  if (known == grids.end()) grids.push_back(grid);
  return {block, index};
}

void Guards::take_latch(const Context& context, Token latch, ScalarExpr value, const std::string& label,
                        Sequence& out) {
  Step& taken = step(context, label, out, !fuses(context));
  taken.statements.emplace_back(Set{latch.word, std::move(value)});
  const auto block = block_of_.find(latch.word.id);
  if (block != block_of_.end()) taken.statements.emplace_back(SetGrids{block->second, latch.word});
}

Token Guards::conjunction(const Context& context, ScalarExpr inside, const std::string& name, Sequence& out) {
  const Token latch = new_latch(context, name);
  const bool whole = mutation_ != Mutation::no_conjunction;
  read_again(latch, inside);
  take_latch(context, latch, whole ? context.token.and_(std::move(inside)) : std::move(inside), "latch " + name, out);
  return latch;
}

void Guards::read_again(Token latch, ScalarExpr value) {
  if (mutation_ == Mutation::no_latch) reread_.insert_or_assign(latch.word.id, std::move(value));
}

Result<void> Guards::emit(Work work, const Context& context, Sequence& out) {
  const Token token = context.token;
  if (token.is_never()) return {};
  if (token.is_always()) {
    work.always_runs = true;
    out.emplace_back(std::move(work));
    return {};
  }
  if (const auto again = reread_.find(token.word.id); again != reread_.end())
    set(context, token.word, ScalarExpr(token.word) && again->second, "mutation", out);
  work.latch = token.word;
  if (is_indirect(context.guard)) {
    work.grid_slot = grid_of(token, work.dispatch.grid);
    out.emplace_back(std::move(work));
    return {};
  }
  if (context.guard == Strategy::gate) return gated(std::move(work), context, out);
  if (context.guard == Strategy::predication) {
    conditional(std::move(work), token.word, out);
    return {};
  }
  if (const auto guarded = guard(work, token.word, values_, kernels_); !guarded) {
    // A module that cannot test the latch itself is gated from outside.
    if (guarded.error().kind != ErrorKind::unsupported) return guarded.error();
    return gated(std::move(work), context, out);
  }
  out.emplace_back(std::move(work));
  return {};
}

/// Behind a gate of its own.
Result<void> Guards::gated(Work work, const Context& context, Sequence& out) {
  work.grid_slot = new_grid(work.dispatch.grid);
  Step& gate = step(context, "gate " + work.dispatch.label, out, true);
  gate.statements.emplace_back(SetGrids{work.grid_slot->block, context.token.expression()});
  out.emplace_back(std::move(work));
  return {};
}

}  // namespace wavegate::lowering
