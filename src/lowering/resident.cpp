#include "wavegate/lowering/resident.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "wavegate/base/format.h"
#include "wavegate/kir/in_one_workgroup.h"
#include "wavegate/lowering/composition.h"
#include "wavegate/lowering/regions.h"
#include "wavegate/lowering/step_kernel.h"
#include "wavegate/lowering/support_kernels.h"
#include "wavegate/lowering/work.h"
#include "wavegate/program/operation.h"

namespace wavegate::lowering {
namespace {

using program::Body;
using program::Node;
using program::Scalar;
using program::ScalarExpr;

/// Beyond this a single workgroup is slower than the device at any number of iterations.
constexpr uint64_t kMaximumInvocations = uint64_t{1} << 20;

constexpr const char* kBindsTooMuch =
    "its kernel would bind more buffers or scalars than the device takes, or more workgroup memory";

/// Rounds of loops that an invocation makes, the one that ends a loop counted. kUnknown: a kernel loops by itself.
using Rounds = uint64_t;
constexpr Rounds kUnknown = std::numeric_limits<Rounds>::max();

Rounds add(Rounds a, Rounds b) {
  return a > kUnknown - b ? kUnknown : a + b;
}
Rounds multiply(uint64_t count, Rounds each) {
  return count != 0 && each > kUnknown / count ? kUnknown : count * each;
}
/// Of a loop that runs its body so often.
Rounds loop_of(uint64_t count, Rounds body) {
  return add(multiply(count, add(body, 1)), 1);
}

/// Of a kernel by itself.
Rounds rounds_of(const kir::Kernel& kernel) {
  Rounds rounds = 0;
  kir::walk(kernel.body, [&](const kir::Instruction& each) {
    if (each.op == kir::Op::loop) rounds = kUnknown;
  });
  return rounds;
}
/// Of a kernel that copies or fills words, dispatched with so many workgroups.
Rounds rounds_of_words(uint64_t words, uint32_t workgroups) {
  const uint64_t at_once = uint64_t{workgroups} * kWordsPerWorkgroup;
  return loop_of((words + at_once - 1) / at_once, 0);
}

class ResidentBuilder {
 public:
  ResidentBuilder(Values& values, KernelTable& kernels, const target::Profile& profile,
                  std::span<const LoopWords> loops)
      : values_(values), kernels_(kernels), profile_(profile), loops_(loops) {}

  Result<Work> build(const program::While& node, const std::optional<ResidentSlice>& slice) {
    WAVEGATE_CHECK(find_width(node.body));
    if (width_ == 0)
      width_ = std::min(largest_width(), static_cast<uint32_t>((std::max<uint64_t>(widest_, 1) + 31) / 32 * 32));
    WAVEGATE_TRY(Part whole, slice ? part_of_loop(node, *slice) : loop(node));
    WAVEGATE_CHECK(flush(whole));
    WAVEGATE_CHECK(whole.done->keep_scalars_near(profile_));
    if (!whole.done->fits(profile_)) return unsupported(kBindsTooMuch);
    rounds_ = whole.rounds;
    Work work;
    WAVEGATE_TRY(work.dispatch, whole.done->dispatch(node.label + ", resident", kernels_));
    work.one_workgroup = true;
    return work;
  }

  /// Of what was built.
  Rounds rounds() const { return rounds_; }

 private:
  /// A part of the kernel: what is made, and the statements that come next.
  struct Part {
    std::optional<Composition> done;
    std::vector<Statement> statements;
    Rounds rounds = 0;  ///< of what is made; a statement has none
  };
  /// The loop that commands stand in.
  struct Frame {
    std::optional<Scalar> alive;   ///< cleared where an iteration is left early
    std::optional<Scalar> broken;  ///< set where the loop is
  };

  uint32_t largest_width() const {
    return std::min({1024u, profile_.limits.workgroup_invocations, profile_.limits.workgroup_size[0]});
  }

  // ---- width

  /// A kernel whose invocations meet fixes the width; others are spread over any.
  Result<void> find_width(const Body& body) {
    for (const Node& node : body) {
      if (const auto* dispatch = std::get_if<program::Dispatch>(&node.what)) WAVEGATE_CHECK(find_width(*dispatch));
      if (const auto* copy = std::get_if<program::Copy>(&node.what)) widest_ = std::max(widest_, copy->count);
      if (const auto* fill = std::get_if<program::Fill>(&node.what)) widest_ = std::max(widest_, fill->count);
      for (const Body* inner : bodies_of(node)) WAVEGATE_CHECK(find_width(*inner));
    }
    if (widest_ > kMaximumInvocations)
      return unsupported(format("a command of it has {} invocations, too many for one workgroup", widest_));
    return {};
  }

  Result<void> find_width(const program::Dispatch& node) {
    if (node.computed_grid)
      return unsupported(format("the grid of dispatch \"{}\" is computed, and its kernel's is fixed", node.label));
    WAVEGATE_TRY(const Work work, make_work(node, values_, kernels_));
    const auto* kernel = std::get_if<std::shared_ptr<const kir::Kernel>>(&kernels_[work.dispatch.kernel]);
    if (kernel == nullptr) return unsupported(format("the kernel of dispatch \"{}\" is an opaque module", node.label));
    const auto [x, y, z] = (*kernel)->interface.workgroup_size;
    const uint64_t invocations = uint64_t{x} * y * z;
    const program::Grid grid = *node.grid;
    const uint64_t workgroups = uint64_t{grid[0]} * grid[1] * grid[2];
    widest_ = std::max(widest_, workgroups > kMaximumInvocations ? workgroups : workgroups * invocations);
    if (!kir::is_tied(**kernel)) return {};
    if (width_ != 0 && width_ != invocations)
      return unsupported(format("its kernels meet at barriers in workgroups of {} and of {}", width_, invocations));
    width_ = static_cast<uint32_t>(invocations);
    return {};
  }

  // ---- parts

  Result<void> append(Part& part, Composition next) {
    WAVEGATE_CHECK(flush(part));
    if (!part.done) {
      part.done = std::move(next);
      return {};
    }
    return part.done->then(next);
  }

  Result<Composition> made_of(const std::vector<Statement>& statements, const std::string& label) {
    WAVEGATE_TRY(const graph::Dispatch dispatch, step_dispatch(label, statements, GridLayout{}, values_, kernels_));
    WAVEGATE_TRY(Composition made, Composition::of(dispatch, kernels_));
    WAVEGATE_CHECK(made.spread({1, 1, 1}, width_));
    return made;
  }

  Result<void> flush(Part& part) {
    if (part.statements.empty()) return {};
    const std::vector<Statement> statements = std::exchange(part.statements, {});
    WAVEGATE_TRY(Composition step, made_of(statements, "step"));
    return append(part, std::move(step));
  }

  Result<Part> body(std::span<const Node> nodes, Frame& frame) {
    Part part;
    for (size_t i = 0; i < nodes.size(); ++i) {
      WAVEGATE_CHECK(std::visit([&](const auto& what) { return add(what, frame, part); }, nodes[i].what));
      if (!leaves_early(Body{nodes[i]}) || i + 1 == nodes.size()) continue;
      // The rest may leave early itself, so that it cannot run under the word that it clears.
      const Scalar goes_on = values_.control("goes on");
      part.statements.emplace_back(Set{goes_on, *frame.alive});
      WAVEGATE_TRY(Part rest, body(nodes.subspan(i + 1), frame));
      WAVEGATE_CHECK(guarded(part, std::move(rest), goes_on));
      break;
    }
    return part;
  }

  /// Appends a part that runs only if the word is not zero by then.
  Result<void> guarded(Part& part, Part inner, Scalar latch) {
    WAVEGATE_CHECK(flush(inner));
    if (!inner.done) return {};
    WAVEGATE_CHECK(inner.done->only_if(values_.range(latch)));
    part.rounds = lowering::add(part.rounds, inner.rounds);
    return append(part, std::move(*inner.done));
  }

  const kir::Kernel& kernel_of(const graph::Dispatch& dispatch) const {
    return *std::get<std::shared_ptr<const kir::Kernel>>(kernels_[dispatch.kernel]);
  }

  /// Appends a dispatch whose kernel makes so many rounds in an invocation.
  Result<void> add(const graph::Dispatch& dispatch, Rounds own, Part& part) {
    const kir::Kernel& kernel = kernel_of(dispatch);
    const auto [x, y, z] = kernel.interface.workgroup_size;
    const uint64_t workgroups = uint64_t{dispatch.grid[0]} * dispatch.grid[1] * dispatch.grid[2];
    const uint64_t at_once = kir::is_tied(kernel) ? uint64_t{x} * y * z : width_;
    const uint64_t turns = (workgroups * x * y * z + at_once - 1) / at_once;
    part.rounds = lowering::add(part.rounds, turns > 1 ? loop_of(turns, own) : own);
    WAVEGATE_TRY(Composition made, Composition::of(dispatch, kernels_));
    WAVEGATE_CHECK(made.spread(dispatch.grid, width_));
    return append(part, std::move(made));
  }
  Result<void> add(const program::Dispatch& node, Frame&, Part& part) {
    WAVEGATE_TRY(const Work work, make_work(node, values_, kernels_));
    return add(work.dispatch, rounds_of(kernel_of(work.dispatch)), part);
  }
  Result<void> add(const program::Copy& node, Frame&, Part& part) {
    WAVEGATE_TRY(const Work work, make_work(node, values_, profile_, kernels_));
    return add(work.dispatch, rounds_of_words(make_copy(node, values_).source.bytes / 4, work.dispatch.grid[0]), part);
  }
  Result<void> add(const program::Fill& node, Frame&, Part& part) {
    WAVEGATE_TRY(const Work work, make_work(node, values_, profile_, kernels_));
    return add(work.dispatch, rounds_of_words(make_fill(node, values_).destination.bytes / 4, work.dispatch.grid[0]),
               part);
  }
  Result<void> add(const program::Assign& node, Frame&, Part& part) {
    part.statements.emplace_back(Set{node.destination, node.value});
    return {};
  }
  Result<void> add(const program::Record& node, Frame&, Part& part) {
    const auto capacity = static_cast<uint32_t>(values_.program().info(node.history).count);
    part.statements.emplace_back(
        Store{values_.range(node.history).buffer, ScalarExpr(node.index) < capacity, node.index, node.value});
    return {};
  }
  Result<void> add(const program::Call& node, Frame&, Part&) {
    return internal_error("a call is left in an expanded program", node.operation->name());
  }
  Result<void> add(const program::Break&, Frame& frame, Part& part) {
    part.statements.emplace_back(Set{*frame.broken, 1u});
    part.statements.emplace_back(Set{*frame.alive, 0u});
    return {};
  }
  Result<void> add(const program::Continue&, Frame& frame, Part& part) {
    part.statements.emplace_back(Set{*frame.alive, 0u});
    return {};
  }

  Result<void> arms(const std::vector<Arm>& arms, const std::string& label, Frame& frame, Part& part) {
    std::vector<Scalar> latches;
    for (const Arm& arm : arms) {
      latches.push_back(values_.control(label + ".arm"));
      part.statements.emplace_back(Set{latches.back(), arm.condition});
    }
    for (size_t i = 0; i < arms.size(); ++i) {
      WAVEGATE_TRY(Part inner, body(*arms[i].body, frame));
      WAVEGATE_CHECK(guarded(part, std::move(inner), latches[i]));
    }
    return {};
  }
  Result<void> add(const program::If& node, Frame& frame, Part& part) {
    const Scalar predicate = values_.control(node.label + ".predicate");
    part.statements.emplace_back(Set{predicate, node.predicate});
    return arms(arms_of(node, predicate), node.label, frame, part);
  }
  Result<void> add(const program::Switch& node, Frame& frame, Part& part) {
    const Scalar selector = values_.control(node.label + ".selector");
    const Scalar none = values_.control(node.label + ".default");
    part.statements.emplace_back(Set{selector, node.selector});
    for (const Set& each : default_of(node, selector, none)) part.statements.emplace_back(each);
    return arms(arms_of(node, selector, none), node.label, frame, part);
  }
  Result<void> add(const program::While& node, Frame&, Part& part) {
    WAVEGATE_TRY(Part inner, loop(node));
    WAVEGATE_CHECK(flush(part));
    if (inner.done) WAVEGATE_CHECK(append(part, std::move(*inner.done)));
    part.rounds = lowering::add(part.rounds, inner.rounds);
    part.statements = std::move(inner.statements);
    return {};
  }

  Result<Part> loop(const program::While& node) {
    const LoopWords& words = loops_[node.loop.id];
    const Scalar latch = values_.control(node.label + ".latch");
    Frame frame;
    if (leaves_early(node.body))
      frame = {values_.control(node.label + ".alive"), values_.control(node.label + ".broken")};

    Part whole;
    whole.statements.emplace_back(Set{words.trips, 0u});
    if (frame.broken) whole.statements.emplace_back(Set{*frame.broken, 0u});
    WAVEGATE_CHECK(repeat(node, latch, {Set{latch, goes_on(node, frame)}}, node.bounds.max, frame, whole));
    whole.statements.emplace_back(Set{words.converged, !node.predicate});
    return whole;
  }

  /// Some iterations of a loop that other dispatches began and go on with. Trips may wrap in one without a bound, so
  /// that the limit is compared for equality.
  Result<Part> part_of_loop(const program::While& node, const ResidentSlice& slice) {
    const Scalar latch = values_.control(node.label + ".latch");
    const Scalar limit = values_.control(node.label + ".limit");
    const Scalar trips = loops_[node.loop.id].trips;
    Frame frame{std::nullopt, slice.broken};
    if (slice.broken) frame.alive = values_.control(node.label + ".alive");

    Part whole;
    whole.statements.emplace_back(Set{limit, ScalarExpr(trips) + slice.iterations});
    WAVEGATE_CHECK(repeat(node, latch,
                          {Set{slice.inside, ScalarExpr(slice.inside) && goes_on(node, frame)},
                           Set{latch, ScalarExpr(slice.inside) && program::not_equal(trips, limit)}},
                          slice.iterations, frame, whole));
    if (slice.done_word)
      whole.statements.emplace_back(Store{values_.observed, !ScalarExpr(slice.inside), *slice.done_word, 1u});
    return whole;
  }

  /// Whether the loop is not done.
  ScalarExpr goes_on(const program::While& node, const Frame& frame) const {
    const ScalarExpr begins = may_begin(node, loops_[node.loop.id].trips);
    return frame.broken ? !ScalarExpr(*frame.broken) && begins : begins;
  }

  /// Appends the iterations, each of which begins if `test` leaves the latch set; so many at most.
  Result<void> repeat(const program::While& node, Scalar latch, std::vector<Statement> test,
                      std::optional<uint32_t> most, Frame& frame, Part& whole) {
    WAVEGATE_CHECK(flush(whole));
    const Scalar trips = loops_[node.loop.id].trips;
    if (node.index) test.emplace_back(Set{*node.index, program::select(latch, trips, *node.index)});
    test.emplace_back(Set{trips, ScalarExpr(trips) + latch});
    if (frame.alive) test.emplace_back(Set{*frame.alive, 1u});
    WAVEGATE_TRY(const Composition tests, made_of(test, "test"));

    WAVEGATE_TRY(Part repeated, body(node.body, frame));
    WAVEGATE_CHECK(flush(repeated));
    if (!repeated.done) return unsupported("its body is empty");
    WAVEGATE_CHECK(repeated.done->repeat_while(tests, values_.range(latch)));
    whole.rounds = lowering::add(whole.rounds, most ? loop_of(*most, repeated.rounds) : kUnknown);
    return append(whole, std::move(*repeated.done));
  }

  Values& values_;
  KernelTable& kernels_;
  const target::Profile& profile_;
  std::span<const LoopWords> loops_;
  uint32_t width_ = 0;
  uint64_t widest_ = 0;  ///< invocations of the largest command
  Rounds rounds_ = 0;
};

}  // namespace

namespace {

uint64_t loop_count(const Body& body) {
  uint64_t count = 0;
  for (const Node& node : body) {
    count += std::holds_alternative<program::While>(node.what) ? 1 : 0;
    for (const Body* inner : bodies_of(node)) count += loop_count(*inner);
  }
  return count;
}

}  // namespace

Result<Work> resident_work(const program::While& node, Values& values, KernelTable& kernels,
                           const target::Profile& profile, std::span<const LoopWords> reports,
                           const std::optional<ResidentSlice>& slice) {
  auto work = ResidentBuilder(values, kernels, profile, reports).build(node, slice);
  if (work) return work;
  return Error{work.error().kind, work.error().message, format("while \"{}\", resident", node.label)};
}

ResidentFit resident_fit(const program::While& node, const Values& values, const KernelTable& kernels,
                         const target::Profile& profile) {
  // Each loop has a latch, a trip count and a word for convergence; to build a deep nest to find that out takes long.
  if (3 * (loop_count(node.body) + 1) > profile.limits.immediate_words) return {kBindsTooMuch, 0};
  Values scratch_values = values;
  KernelTable scratch_kernels = kernels;
  std::vector<LoopWords> reports;
  for (uint32_t i = 0; i < scratch_values.program().loop_count(); ++i)
    reports.push_back({"", scratch_values.control("trips"), scratch_values.control("converged")});
  // As one kernel and in parts it names different words.
  if (node.bounds.max) {
    const auto whole = ResidentBuilder(scratch_values, scratch_kernels, profile, reports).build(node, {});
    if (!whole) return {whole.error().message, 0};
  }
  ResidentSlice slice{1, scratch_values.control("inside"), scratch_values.control("broken"), 0};
  if (!leaves_early(node.body)) slice.broken.reset();
  ResidentBuilder builder(scratch_values, scratch_kernels, profile, reports);
  if (const auto work = builder.build(node, slice); !work) return {work.error().message, 0};

  const uint64_t limit = profile.limits.kernel_loop_iterations;
  if (limit == std::numeric_limits<uint64_t>::max()) return {"", UINT32_MAX};
  // That was one iteration: its rounds, and two of the loop around it. Compilers may add some; half is left to them.
  const Rounds each = builder.rounds();
  const uint64_t most = each == kUnknown ? 0 : limit / 2 / each;
  if (most > 0) return {"", static_cast<uint32_t>(std::min<uint64_t>(most, UINT32_MAX))};
  return {
      format("the driver ends a kernel's loops after {} iterations, and one iteration of this may take as many", limit),
      0};
}

}  // namespace wavegate::lowering
