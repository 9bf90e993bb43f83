#include "wavegate/lowering/guards.h"

#include <algorithm>

#include "wavegate/base/format.h"
#include "wavegate/lowering/scalar_emitter.h"
#include "wavegate/lowering/work.h"
#include "wavegate/program/expression_type.h"

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

void Guards::put(Step& step, Statement statement) {
  // Besides the scalars a statement has a destination, or the words of a grid.
  if (auto* set = std::get_if<Set>(&statement)) set->value = cut(std::move(set->value), launch_words_ - 1, step);
  if (auto* store = std::get_if<Store>(&statement))
    for (ScalarExpr* each : {&store->condition, &store->index, &store->value})
      *each = cut(std::move(*each), launch_words_ / 3, step);
  if (auto* grid = std::get_if<SetComputedGrid>(&statement))
    for (ScalarExpr& each : grid->workgroups) each = cut(std::move(each), (launch_words_ - 5) / 3, step);
  step.statements.emplace_back(std::move(statement));
}

/// The value as an expression of so many scalars at most, or of one.
ScalarExpr Guards::cut(ScalarExpr value, uint32_t scalars, Step& step) {
  const auto names = [](const ScalarExpr& expression) {
    std::set<uint32_t> found;
    note_scalars(expression.root(), found);
    return found.size();
  };
  if (names(value) <= std::max(scalars, 1u)) return value;
  const auto hold = [&](ScalarExpr part) {
    const auto type = program::type_of(values_.program(), part.root(), program::kMaximumLoweredSize);
    const Scalar word = values_.control("part", type ? type->type : program::ScalarType::uint32);
    step.statements.emplace_back(Set{word, std::move(part)});
    return ScalarExpr(word);
  };
  const ScalarExpr::Node& root = value.root();
  std::vector<ScalarExpr> operands;
  for (const auto& operand : root.operands)
    if (operand) operands.push_back(cut(ScalarExpr(operand), launch_words_ - 1, step));
  for (ScalarExpr& operand : operands)
    if (names(operand) > std::max<size_t>(scalars / operands.size(), 1)) operand = hold(std::move(operand));
  ScalarExpr whole(root.op, operands);
  return names(whole) <= std::max(scalars, 1u) ? whole : hold(std::move(whole));
}

void Guards::set(const Context& context, Scalar destination, ScalarExpr value, const std::string& label,
                 Sequence& out) {
  put(step(context, label, out, !fuses(context)), Set{destination, std::move(value)});
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
  put(taken, Set{latch.word, std::move(value)});
  turn_grids(taken, latch);
}

void Guards::take_latch(const Context& context, Token latch, const std::vector<Token>& places, const std::string& label,
                        Sequence& out) {
  Step& taken = step(context, label, out, !fuses(context));
  // A switch may have any number of cases: it grows by a statement a place, so that no expression does.
  put(taken, Set{latch.word, places.front().expression()});
  for (size_t i = 1; i < places.size(); ++i) put(taken, Set{latch.word, latch.expression() || places[i].expression()});
  turn_grids(taken, latch);
}

void Guards::turn_grids(Step& step, Token latch) {
  const auto block = block_of_.find(latch.word.id);
  if (block != block_of_.end()) step.statements.emplace_back(SetGrids{block->second, latch.word});
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
    // What cannot test the latch itself is gated from outside.
    if (guarded.error().kind != ErrorKind::unsupported) return guarded.error();
    if (context.guard_is_forced)
      return unsupported(format("dispatch \"{}\": the early-out strategy does not apply: {}", work.dispatch.label,
                                guarded.error().message));
    notes_.insert(format("dispatch \"{}\" has a gate, since its kernel cannot test a latch: {}", work.dispatch.label,
                         guarded.error().message));
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
