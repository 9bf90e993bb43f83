#include "wavegate/lowering/flow.h"

#include <algorithm>

#include "wavegate/base/format.h"
#include "wavegate/lowering/flow_builder.h"
#include "wavegate/lowering/work.h"
#include "wavegate/program/operation.h"

namespace wavegate::lowering {

using program::Body;
using program::Node;
using program::Program;
using program::Scalar;
using program::ScalarExpr;

FlowBuilder::FlowBuilder(const Program& program, const Decisions& decisions, const target::Profile& profile,
                         Mutation mutation, Values& values, KernelTable& kernels)
    : program_(program),
      decisions_(decisions),
      profile_(profile),
      mutation_(mutation),
      values_(values),
      kernels_(kernels),
      guards_(values, kernels, profile.limits.immediate_words, mutation, flow_.blocks, flow_.notes) {}

Result<Flow> FlowBuilder::build() {
  flow_.fault = values_.control("fault");
  flow_.loops.resize(program_.loop_count());
  place_loops(program_.body());
  Context context;
  WAVEGATE_CHECK(advance(program_.body(), context, flow_.commands));
  return std::move(flow_);
}

void FlowBuilder::place_loops(const Body& nodes) {
  for (const Node& node : nodes) {
    if (const auto* loop = std::get_if<program::While>(&node.what))
      flow_.loops[loop->loop.id] = {loop->label, values_.control(loop->label + ".trips"),
                                    values_.control(loop->label + ".converged")};
    for (const Body* inner : bodies_of(node)) place_loops(*inner);
  }
}

// ---- commands

Result<void> FlowBuilder::lower(const program::Dispatch& node, Context& context, Sequence& out) {
  WAVEGATE_TRY(Work work, make_work(node, values_, kernels_));
  if (!node.computed_grid) return guards_.emit(std::move(work), context, out);
  if (context.token.is_never()) return {};
  const program::ComputedGrid& grid = *node.computed_grid;
  const uint32_t number = static_cast<uint32_t>(flow_.computed_grids.size()) + 1;
  flow_.computed_grids.push_back(node.label);
  work.grid_slot = guards_.new_grid(grid.maximum);
  work.latch = context.token.is_always() ? std::nullopt : std::optional(context.token.word);
  Step& computed = guards_.step(context, "grid " + node.label, out, !guards_.fuses(context));
  const ScalarExpr here = context.token.expression();
  guards_.put(computed, SetComputedGrid{*work.grid_slot, here, grid.workgroups, grid.maximum});
  for (size_t d = 0; d < 3; ++d) {
    const ScalarExpr is_first = here && program::equal(flow_.fault, 0u);
    const ScalarExpr faults = is_first && grid.workgroups[d] > grid.maximum[d];
    guards_.put(computed, Set{flow_.fault, program::select(faults, number, flow_.fault)});
  }
  if (context.forget != nullptr)
    context.forget->emplace_back(SetComputedGrid{*work.grid_slot, 0u, {0u, 0u, 0u}, grid.maximum});
  out.emplace_back(std::move(work));
  return {};
}

Result<void> FlowBuilder::lower(const program::Copy& node, Context& context, Sequence& out) {
  if (context.token.is_always()) {
    out.emplace_back(make_copy(node, values_));
    return {};
  }
  WAVEGATE_TRY(Work work, make_work(node, values_, profile_, kernels_));
  return guards_.emit(std::move(work), context, out);
}

Result<void> FlowBuilder::lower(const program::Fill& node, Context& context, Sequence& out) {
  if (context.token.is_always() || mutation_ == Mutation::ungated_fill) {
    out.emplace_back(make_fill(node, values_));
    return {};
  }
  WAVEGATE_TRY(Work work, make_work(node, values_, profile_, kernels_));
  return guards_.emit(std::move(work), context, out);
}

Result<void> FlowBuilder::lower(const program::Assign& node, Context& context, Sequence& out) {
  if (context.token.is_never()) return {};
  const ScalarExpr kept = context.token.select(node.value, node.destination);
  const std::string label = "assign " + program_.info(node.destination).name;
  if (guards_.fuses(context)) {
    guards_.set(context, node.destination, kept, label, out);
    return {};
  }
  // The baseline gates scalar work as any other command; neighbours are one kernel all the same.
  if (!out.empty())
    if (auto* last = std::get_if<Step>(&out.back()); last != nullptr && assigning_ == last->label) {
      guards_.put(*last, Set{node.destination, node.value});
      return {};
    }
  Step assign;
  assign.label = assigning_ = label;
  assign.alone = true;
  guards_.put(assign, Set{node.destination, node.value});
  if (!context.token.is_always()) {
    assign.gate = guards_.new_grid(kOneWorkgroup);
    guards_.step(context, "gate " + label, out, true)
        .statements.emplace_back(SetGrids{assign.gate->block, context.token.expression()});
  }
  out.emplace_back(std::move(assign));
  return {};
}

Result<void> FlowBuilder::lower(const program::Record& node, Context& context, Sequence& out) {
  if (context.token.is_never()) return {};
  const auto capacity = static_cast<uint32_t>(program_.info(node.history).count);
  Step& record = guards_.step(context, "record " + program_.info(node.value).name, out, !guards_.fuses(context));
  guards_.put(record, Store{values_.range(node.history).buffer, context.token.and_(ScalarExpr(node.index) < capacity),
                            node.index, node.value});
  return {};
}

Result<void> FlowBuilder::lower(const program::Call& node, Context&, Sequence&) {
  return internal_error("a call is left in an expanded program", node.operation->name());
}

// ---- branches

Result<void> FlowBuilder::advance(const Body& nodes, Context& context, Sequence& out) {
  assigning_.clear();  // what stands in different bodies is under different latches
  for (const Node& node : nodes) WAVEGATE_CHECK(lower_node(node, context, out));
  assigning_.clear();
  return {};
}

Result<void> FlowBuilder::lower_node(const Node& node, Context& context, Sequence& out) {
  if (!std::holds_alternative<program::Assign>(node.what)) assigning_.clear();
  return std::visit([&](const auto& what) { return lower(what, context, out); }, node.what);
}

Scalar FlowBuilder::held(const ScalarExpr& value, const Context& context, const std::string& name, Sequence& out) {
  if (value.root().op == program::ScalarOp::scalar) return value.root().scalar;
  const Scalar word = values_.control(name);
  guards_.set(context, word, value, "latch " + name, out);
  return word;
}

Result<void> FlowBuilder::arms(const std::vector<Arm>& arms, const void* node, const std::string& label,
                               Context& context, Sequence& out) {
  if (context.token.is_never()) return {};
  Context inner = context;
  const Decision& decided = decisions_.at(node);
  inner.guard = guard_in(decided.strategy, context);
  inner.guard_is_forced = decided.forced && decided.strategy == Strategy::early_out;
  // Where control may not come to the end of an arm, or not yet, the end is a place of its own, to which also an
  // empty arm leads.
  const bool rejoins = std::ranges::any_of(arms, [&](const Arm& arm) { return may_not_end(*arm.body, context); });
  std::vector<Token> latches;
  latches.reserve(arms.size());
  for (const Arm& arm : arms)
    latches.push_back(arm.body->empty() && !rejoins
                          ? Token::never()
                          : guards_.conjunction(inner, arm.condition, format("{}.{}", label, latches.size()), out));
  for (size_t i = 0; i < arms.size(); ++i) {
    Context arm = inner;
    arm.token = latches[i];
    WAVEGATE_CHECK(advance(*arms[i].body, arm, out));
    latches[i] = arm.token;
  }
  if (!rejoins) return {};
  std::erase_if(latches, [](const Token latch) { return latch.is_never(); });
  context.token = latches.empty() ? Token::never() : guards_.new_latch(context, label + ".end");
  if (!latches.empty()) guards_.take_latch(context, context.token, latches, "end of " + label, out);
  return {};
}

Result<void> FlowBuilder::lower(const program::If& node, Context& context, Sequence& out) {
  const Scalar predicate = held(node.predicate, context, node.label + ".predicate", out);
  return arms(arms_of(node, predicate), &node, node.label, context, out);
}

Result<void> FlowBuilder::lower(const program::Switch& node, Context& context, Sequence& out) {
  const Scalar selector = held(node.selector, context, node.label + ".selector", out);
  const Scalar none = values_.control(node.label + ".default");
  for (const Set& each : default_of(node, selector, none))
    guards_.set(context, each.destination, each.value, "latch " + node.label, out);
  return arms(arms_of(node, selector, none), &node, node.label, context, out);
}

Result<void> FlowBuilder::lower(const program::Break&, Context& context, Sequence& out) {
  return leave(context, *context.loop->broken, "break", out);
}

Result<void> FlowBuilder::lower(const program::Continue&, Context& context, Sequence& out) {
  if (context.loop->continued) return leave(context, *context.loop->continued, "continue", out);
  context.token = Token::never();
  return {};
}

Result<void> FlowBuilder::leave(Context& context, Scalar flag, const std::string& label, Sequence& out) {
  if (!context.token.is_never()) guards_.set(context, flag, ScalarExpr(flag) || context.token.expression(), label, out);
  context.token = Token::never();
  return {};
}

Strategy FlowBuilder::guard_in(Strategy strategy, const Context& context) {
  if (context.conditional && strategy == Strategy::predication) return Strategy::early_out;
  return info(strategy).for_branches ? strategy : context.guard;
}

bool FlowBuilder::may_not_end(const Body& nodes, const Context& context) const {
  return leaves_early(nodes) || (context.ticking && suspends(nodes));
}

bool FlowBuilder::suspends(const Body& nodes) const {
  return std::ranges::any_of(nodes, [&](const Node& node) {
    const auto* loop = std::get_if<program::While>(&node.what);
    if (loop != nullptr && decisions_.at(loop).strategy == Strategy::resident) return false;
    return (loop != nullptr && decisions_.at(loop).strategy == Strategy::chunked &&
            decisions_.at(loop).iterations_a_pass > 0) ||
           std::ranges::any_of(bodies_of(node), [&](const Body* inner) { return suspends(*inner); });
  });
}

Result<Flow> make_flow(const Program& program, const Decisions& decisions, const target::Profile& profile,
                       Mutation mutation, Values& values, KernelTable& kernels) {
  return FlowBuilder(program, decisions, profile, mutation, values, kernels).build();
}

}  // namespace wavegate::lowering
