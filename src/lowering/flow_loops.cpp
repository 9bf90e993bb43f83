#include <algorithm>
#include <set>

#include "wavegate/base/format.h"
#include "wavegate/lowering/flow_builder.h"
#include "wavegate/lowering/resident.h"
#include "wavegate/lowering/scalar_emitter.h"

namespace wavegate::lowering {

using program::Body;
using program::Node;
using program::Program;
using program::Scalar;
using program::ScalarExpr;

Result<void> FlowBuilder::lower(const program::While& node, Context& context, Sequence& out) {
  if (context.token.is_never()) return {};
  const Decision& decided = decisions_.at(&node);
  switch (decided.strategy) {
    case Strategy::resident: return resident(node, context, out);
    case Strategy::unroll: return unrolled(node, context, out);
    case Strategy::chunked:
      if (!context.ticking) return chunked(node, context, out);
      if (decided.iterations_a_pass > 0 || suspends(node.body)) return stepped(node, context, out);
      return spelled(node, Strategy::early_out, context, out);
    case Strategy::predication: return predicated(node, context, out);
    default: return spelled(node, decided.strategy, context, out);
  }
}

FlowBuilder::Looping FlowBuilder::begin(const program::While& node, const Context& context, Strategy guard) {
  Looping loop{.node = node, .decided = decisions_.at(&node), .entry = context.token, .inner = context};
  loop.inner.guard = guard;
  loop.inner.guard_is_forced = loop.decided.forced && loop.decided.strategy == Strategy::early_out;
  loop.inner.top = false;
  loop.suspends = suspends(node.body);
  if (leaves_early(node.body)) loop.frame.broken = values_.control(node.label + ".broken");
  if (loop.suspends && leaves_early(node.body)) loop.frame.continued = values_.control(node.label + ".continued");
  const bool turns =
      guard != Strategy::gate && guard != Strategy::chained_gate && guard != Strategy::producer && !has_loop(node.body);
  for (int i = 0; i < (turns ? 2 : 1); ++i)
    loop.latches.push_back(guards_.new_latch(loop.inner, format("{}.{}", node.label, i)));
  if (node.bounds.min == 0)
    for (const Token latch : loop.latches) guards_.read_again(latch, node.predicate);
  loop.test_after = turns && !leaves_early(node.body) ? last_writer(node) : node.body.size();
  return loop;
}

size_t FlowBuilder::last_writer(const program::While& node) const {
  std::set<uint32_t> read;
  note_scalars(node.predicate.root(), read);
  for (size_t i = node.body.size(); i-- > 0;)
    if (writes_any(node.body[i], read)) return i;
  return node.body.size();
}

bool FlowBuilder::writes_any(const Node& node, const std::set<uint32_t>& scalars) const {
  if (std::ranges::any_of(bodies_of(node), [&](const Body* inner) {
        return std::ranges::any_of(*inner, [&](const Node& each) { return writes_any(each, scalars); });
      }))
    return true;
  if (const auto* assign = std::get_if<program::Assign>(&node.what)) return scalars.contains(assign->destination.id);
  if (const auto* loop = std::get_if<program::While>(&node.what))
    return loop->index && scalars.contains(loop->index->id);
  const auto* dispatch = std::get_if<program::Dispatch>(&node.what);
  if (dispatch == nullptr) return false;
  for (size_t i = 0; i < dispatch->bindings.size(); ++i)
    if (const auto* scalar = std::get_if<Scalar>(&dispatch->bindings[i]))
      if (scalars.contains(scalar->id) && kir::writes(dispatch->kernel->interface().bindings[i].access)) return true;
  return false;
}

void FlowBuilder::enter(Looping& loop, const Context& context, Sequence& out) {
  const auto& [label, trips, converged] = words(loop.node);
  const std::string name = "enter " + loop.node.label;
  const Token latch = loop.latches[0];
  guards_.set(context, trips, loop.entry.select(0u, trips), name, out);
  const bool whole = mutation_ != Mutation::no_conjunction;
  const ScalarExpr begins = may_begin(loop.node, trips);
  ScalarExpr value = whole ? loop.entry.and_(begins) : begins;
  // A loop that an earlier pass left in progress has a latch that must stay.
  if (loop.finished) value = loop.entry.select(begins, latch.word);
  guards_.take_latch(context, latch, value, name, out);
  if (loop.finished) guards_.set(context, *loop.finished, loop.entry.and_(!ScalarExpr(latch.word)), name, out);
  const ScalarExpr first = loop.finished ? loop.entry.and_(latch.word) : ScalarExpr(latch.word);
  guards_.set(context, trips, ScalarExpr(trips) + first, name, out);
  if (loop.node.index) guards_.set(context, *loop.node.index, program::select(first, 0u, *loop.node.index), name, out);
  if (loop.done_word)
    guards_.step(context, name, out)
        .statements.emplace_back(Store{values_.observed, 1u, *loop.done_word, !ScalarExpr(latch.word)});
}

ScalarExpr FlowBuilder::ended(const Looping& loop, size_t turn, Token end) const {
  if (!loop.suspends) {
    const ScalarExpr begun = loop.latches[turn].word;
    return loop.frame.broken ? begun && !ScalarExpr(*loop.frame.broken) : begun;
  }
  return loop.frame.continued ? end.expression() || ScalarExpr(*loop.frame.continued) : end.expression();
}

Result<void> FlowBuilder::test(Looping& loop, size_t turn, Token end, Sequence& out) {
  const Context& context = loop.inner;
  const std::string name = "test " + loop.node.label;
  const Token next = loop.latches[(turn + 1) % loop.latches.size()];
  const Scalar trips = words(loop.node).trips;
  if (context.guard == Strategy::producer) WAVEGATE_CHECK(make_tail(loop, turn, name, out));
  const ScalarExpr over = ended(loop, turn, end);
  if (loop.finished || loop.done_word) {
    // Without another iteration the loop is done. The latch of this one may be the word that the next takes.
    const Scalar leaves = values_.control(loop.node.label + ".leaves");
    ScalarExpr leaving = over && !may_begin(loop.node, trips);
    if (loop.frame.broken) leaving = leaving || ScalarExpr(*loop.frame.broken);
    guards_.set(context, leaves, leaving, name, out);
    if (loop.finished) guards_.set(context, *loop.finished, ScalarExpr(*loop.finished) || leaves, name, out);
    if (loop.done_word)
      guards_.step(context, name, out).statements.emplace_back(Store{values_.observed, leaves, *loop.done_word, 1u});
  }
  guards_.take_latch(context, next, over && may_begin(loop.node, trips), name, out);
  guards_.set(context, trips, ScalarExpr(trips) + next.word, name, out);
  for (const auto& flag : {loop.frame.broken, loop.frame.continued})
    if (flag) guards_.set(context, *flag, 0u, name, out);
  if (!loop.forget.empty()) {
    std::vector<Statement>& statements = guards_.step(context, name, out).statements;
    statements.insert(statements.end(), loop.forget.begin(), loop.forget.end());
  }
  return {};
}

Result<void> FlowBuilder::make_tail(const Looping& loop, size_t turn, const std::string& name, Sequence& out) {
  const auto is_body_kernel = [&](const Item& item) {
    const auto* work = std::get_if<Work>(&item);
    return work != nullptr && work->one_workgroup && work->latch == loop.latches[turn].word;
  };
  const bool has_step = !out.empty() && std::holds_alternative<Step>(out.back());
  const size_t at = out.size() - (has_step ? 1 : 0);
  if (at == 0 || !is_body_kernel(out[at - 1]) || (has_step && std::get<Step>(out.back()).alone))
    return unsupported(
        format("while \"{}\": the producer strategy needs a body that ends with a kernel of one "
               "workgroup, whose tail tests the predicate; use fused-gate",
               loop.node.label));
  if (!has_step) guards_.step(loop.inner, name, out);
  std::get<Step>(out.back()).may_be_tail = true;
  // By itself, after the kernel, the step is what fused-gate has; who asked for a tail is told that there is none.
  std::get<Step>(out.back()).must_be_tail = loop.decided.forced;
  return {};
}

Result<void> FlowBuilder::iteration(Looping& loop, size_t turn, Sequence& out) {
  Context context = loop.inner;
  context.token = loop.latches[turn];
  context.loop = &loop.frame;
  if (loop.inner.guard == Strategy::chained_gate) {
    loop.inner.step_gate = context.step_gate = guards_.grid_of(context.token, kOneWorkgroup);
    context.forget = &loop.forget;
  }
  assigning_.clear();
  for (size_t i = 0; i < loop.node.body.size(); ++i) {
    WAVEGATE_CHECK(lower_node(loop.node.body[i], context, out));
    if (i == loop.test_after) WAVEGATE_CHECK(test(loop, turn, context.token, out));
  }
  assigning_.clear();
  if (loop.test_after >= loop.node.body.size()) WAVEGATE_CHECK(test(loop, turn, context.token, out));
  if (!loop.node.index) return {};
  const Token next = loop.latches[(turn + 1) % loop.latches.size()];
  const ScalarExpr begun = ScalarExpr(words(loop.node).trips) - 1u;
  guards_.set(loop.inner, *loop.node.index, program::select(next.word, begun, *loop.node.index), "index", out);
  return {};
}

Result<void> FlowBuilder::round(Looping& loop, Sequence& out) {
  for (size_t turn = 0; turn < loop.latches.size(); ++turn) WAVEGATE_CHECK(iteration(loop, turn, out));
  return {};
}

Result<void> FlowBuilder::iterations(Looping& loop, uint32_t count, const std::string& label, Sequence& out) {
  const auto turns = static_cast<uint32_t>(loop.latches.size());
  if (count / turns > 0) {
    auto repeat = std::make_shared<RepeatItem>();
    repeat->label = label;
    repeat->count = count / turns;
    WAVEGATE_CHECK(round(loop, repeat->body));
    out.emplace_back(std::move(repeat));
  }
  for (uint32_t turn = 0; turn < count % turns; ++turn) WAVEGATE_CHECK(iteration(loop, turn, out));
  return {};
}

void FlowBuilder::exit(const program::While& node, Context& context, Token past, Sequence& out) {
  context.token = past;
  const Scalar converged = words(node).converged;
  guards_.set(context, converged, past.select(!node.predicate, converged), "exit " + node.label, out);
}

Result<void> FlowBuilder::spelled(const program::While& node, Strategy guard, Context& context, Sequence& out) {
  Looping loop = begin(node, context, guard);
  enter(loop, context, out);
  WAVEGATE_CHECK(iterations(loop, node.bounds.max.value_or(0), node.label, out));
  if (context.forget != nullptr) context.forget->insert(context.forget->end(), loop.forget.begin(), loop.forget.end());
  exit(node, context, context.token, out);
  return {};
}

Result<uint32_t> FlowBuilder::block(Looping& loop, Sequence& out) {
  const std::string& label = loop.node.label;
  const Scalar live = values_.control(label + ".live");
  const auto turns = static_cast<uint32_t>(loop.latches.size());
  const uint32_t most = std::min(loop.decided.block, loop.node.bounds.max.value_or(loop.decided.block));
  const uint32_t count = std::max(turns, most / turns * turns);
  guards_.set(loop.inner, live, loop.latches[0].word, "live " + label, out);
  auto conditional = std::make_shared<ConditionalItem>();
  conditional->label = label;
  conditional->predicate = live;
  loop.inner.conditional = true;
  WAVEGATE_CHECK(iterations(loop, count, label, conditional->body));
  loop.inner.conditional = false;
  out.emplace_back(std::move(conditional));
  return count;
}

Result<void> FlowBuilder::predicated(const program::While& node, Context& context, Sequence& out) {
  if (context.conditional) return spelled(node, Strategy::early_out, context, out);  // conditions do not nest
  Looping loop = begin(node, context, Strategy::early_out);
  enter(loop, context, out);
  auto repeat = std::make_shared<RepeatItem>();
  repeat->label = node.label + ", in blocks";
  WAVEGATE_TRY(const uint32_t each, block(loop, repeat->body));
  repeat->count = times(node.bounds.max.value_or(0), each);
  if (repeat->count > 0) out.emplace_back(std::move(repeat));
  exit(node, context, context.token, out);
  return {};
}

Result<void> FlowBuilder::chunked(const program::While& node, Context& context, Sequence& out) {
  if (!context.top) return internal_error("a chunked loop stands inside something that repeats", node.label);
  const Decision& decided = decisions_.at(&node);
  Looping loop = begin(node, context, decided.block > 0 ? Strategy::early_out : decided.guard);
  loop.inner.ticking = true;
  loop.done_word = values_.observed_word();
  enter(loop, context, out);
  auto item = std::make_shared<LoopItem>();
  item->label = node.label;
  item->done_word = *loop.done_word;
  auto each = static_cast<uint32_t>(loop.latches.size());
  if (loop.decided.block > 0) {
    WAVEGATE_TRY(each, block(loop, item->body));
  } else {
    WAVEGATE_CHECK(round(loop, item->body));
  }
  if (node.bounds.max && !loop.suspends) item->maximum = times(*node.bounds.max, each);
  item->first_chunk = std::max(1u, loop.decided.first_chunk / each);
  item->largest_chunk = std::max(item->first_chunk, loop.decided.usual_chunk / each * 2);
  out.emplace_back(std::move(item));
  exit(node, context, context.token, out);
  return {};
}

Result<void> FlowBuilder::stepped(const program::While& node, Context& context, Sequence& out) {
  Looping loop = begin(node, context, Strategy::early_out);
  loop.finished = values_.control(node.label + ".finished");
  enter(loop, context, out);
  // One where a loop inside goes on in later passes, too.
  const uint32_t count = loop.suspends ? 1 : loop.decided.iterations_a_pass;
  WAVEGATE_CHECK(iterations(loop, count, node.label, out));
  const Token past = guards_.new_latch(context, node.label + ".past");
  guards_.take_latch(context, past, *loop.finished, "past " + node.label, out);
  exit(node, context, past, out);
  return {};
}

Result<void> FlowBuilder::unrolled(const program::While& node, Context& context, Sequence& out) {
  if (leaves_early(node.body)) return spelled(node, Strategy::early_out, context, out);
  const auto& [label, trips, converged] = words(node);
  const uint32_t count = node.bounds.min;
  const std::string name = "enter " + label;
  auto repeat = std::make_shared<RepeatItem>();
  repeat->label = label;
  repeat->count = count;
  Context inner = context;
  inner.top = false;
  if (node.index) {
    guards_.set(context, trips, context.token.select(0u, trips), name, out);
    guards_.set(inner, *node.index, context.token.select(trips, *node.index), "index", repeat->body);
    guards_.set(inner, trips, ScalarExpr(trips) + context.token.expression(), "index", repeat->body);
  }
  WAVEGATE_CHECK(advance(node.body, inner, repeat->body));
  if (count > 0 && !repeat->body.empty()) out.emplace_back(std::move(repeat));
  if (!node.index) guards_.set(context, trips, context.token.select(count, trips), name, out);
  exit(node, context, context.token, out);
  return {};
}

Result<void> FlowBuilder::resident(const program::While& node, Context& context, Sequence& out) {
  const Decision& decided = decisions_.at(&node);
  if (decided.iterations_a_dispatch == 0) {
    WAVEGATE_TRY(Work work, resident_work(node, values_, kernels_, profile_, flow_.loops));
    return guards_.emit(std::move(work), context, out);
  }
  ResidentSlice slice{decided.iterations_a_dispatch, values_.control(node.label + ".inside"), {}, {}};
  const std::string name = "enter " + node.label;
  const Scalar trips = words(node).trips;
  guards_.set(context, trips, context.token.select(0u, trips), name, out);
  guards_.set(context, slice.inside, context.token.expression(), name, out);
  if (leaves_early(node.body)) {
    slice.broken = values_.control(node.label + ".broken");
    guards_.set(context, *slice.broken, 0u, name, out);
  }
  if (decided.host_looks) {
    slice.done_word = values_.observed_word();
    guards_.step(context, name, out)
        .statements.emplace_back(Store{values_.observed, 1u, *slice.done_word, !ScalarExpr(slice.inside)});
  }
  Context inner = context;
  inner.top = false;
  Sequence part;
  WAVEGATE_TRY(Work work, resident_work(node, values_, kernels_, profile_, flow_.loops, slice));
  WAVEGATE_CHECK(guards_.emit(std::move(work), inner, part));
  const std::optional<uint32_t> max = node.bounds.max;
  const uint32_t dispatches = max ? times(*max, slice.iterations) : 0;
  if (slice.done_word) {
    const std::optional<uint64_t> maximum = max ? std::optional<uint64_t>(dispatches) : std::nullopt;
    out.emplace_back(
        std::make_shared<LoopItem>(LoopItem{node.label, *slice.done_word, maximum, 1, 1, std::move(part)}));
  } else {
    out.emplace_back(std::make_shared<RepeatItem>(RepeatItem{node.label, dispatches, std::move(part)}));
  }
  exit(node, context, context.token, out);
  return {};
}

}  // namespace wavegate::lowering
