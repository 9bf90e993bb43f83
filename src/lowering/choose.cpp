#include "wavegate/lowering/choose.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "wavegate/base/format.h"
#include "wavegate/lowering/regions.h"
#include "wavegate/lowering/resident.h"
#include "wavegate/target/typical_costs.h"

namespace wavegate::lowering {
namespace {

using program::Body;
using program::Node;
using program::Program;
using target::Costs;

/// Loops are spelled out in command buffers up to this many commands where there is a choice.
constexpr double kComfortableCommands = 1 << 16;
/// A loop inside a chunked one is spelled out up to this bound, and else takes so many iterations in a pass.
constexpr uint32_t kSteppedIterations = 8;
/// How long chunks take, in times that handing one to the device costs: long enough to hide that, and short enough that
/// those in flight when a loop is done are not missed.
constexpr double kFirstChunk = 3;
constexpr double kLargestChunk = 16;
/// Chunks that are in vain when a loop is done: the one in flight, and half of the one before it.
constexpr double kWastedChunks = 1.5;
/// Microseconds of a kernel that does several iterations: it shares the device with others, and can be ended after it.
constexpr double kLongestKernel = 20'000;
/// Passes through a loop that steps the loops inside it do some of their work in vain.
constexpr double kSteppingOverhead = 1.5;
/// A bound says little about the need: that a loop ends after each of these shares of it counts alike.
constexpr double kExits[] = {0.1, 0.5, 1};
/// Instead of the bound, where a loop has none.
constexpr double kUnboundedIterations = 10'000;
/// Where the API checks every indirect dispatch by one of its own, grids are gated only if asked for, or if workgroups
/// that return at once would be more than this.
constexpr double kLatchedWorkgroups = 16384;
/// Calibration's resident steps do next to no work. A multiplication by a buffer's element takes 1.25 times as long in
/// them on two software devices (the wide `resident` rows of wavegate-bench-control), and most bodies do more.
constexpr double kOneCore = 1.5;

constexpr const char* kNestedConditional = "it stands under conditional rendering, which does not nest";
constexpr const char* kConditionalInside = "predication is asked for inside it, which does not nest";

/// What one pass through a body launches.
struct Size {
  double commands = 0;    ///< dispatches, copies, fills
  double steps = 0;       ///< kernels of scalar work, of which the last may be one with a loop's test
  double workgroups = 0;  ///< beyond one a command
  double widest = 0;      ///< workgroups of the largest command
  double invocations = 0;
  bool ends_in_step = false;

  void command(double groups, double invocations_a_group) {
    commands += 1;
    workgroups += std::max(0.0, groups - 1);
    widest = std::max(widest, groups);
    invocations += groups * invocations_a_group;
    ends_in_step = false;
  }
  void step() {
    if (!ends_in_step) steps += 1;
    ends_in_step = true;
  }
  void repeat(const Size& body, double count) {
    commands += body.commands * count;
    steps += std::max(1.0, body.steps) * count;
    workgroups += body.workgroups * count;
    widest = std::max(widest, body.widest);
    invocations += body.invocations * count;
    ends_in_step = true;
  }
};

/// Where a region stands.
struct Surroundings {
  bool top = true;           ///< not inside anything that repeats
  bool ticking = false;      ///< inside a chunked loop
  bool conditional = false;  ///< inside a loop whose iterations conditional rendering leaves out in blocks
  bool can_chunk() const { return top || ticking; }
};

/// A strategy as a candidate; chunked, once for each way to condition the iterations of a chunk.
struct Candidate {
  Strategy strategy;
  Strategy guard;            ///< of an iteration's commands
  std::string obstacle;      ///< why it does not apply; empty if it does
  double live = 0;           ///< us of an iteration, or of a branch that is taken
  double dead = 0;           ///< us of one beyond those needed
  double total = 0;          ///< us expected of an entry: of a loop, the geometric mean over kExits
  std::string avoided = {};  ///< why it is taken only where no other applies; empty if there is no such reason
  uint32_t block = 0;        ///< iterations that conditional rendering leaves out together
};

bool is_preferred(const Candidate& one, const Candidate& other) {
  if (one.avoided.empty() != other.avoided.empty()) return one.avoided.empty();
  return one.total < other.total;
}

class Chooser {
 public:
  Chooser(const Program& program, const target::Profile& profile, const Options& options,
          const ResidentCheck& resident_fit)
      : program_(program),
        profile_(profile),
        options_(options),
        costs_(options.costs ? *options.costs : target::typical_costs(profile)),
        resident_fit_(resident_fit) {}

  Result<Decisions> run() {
    for (const auto& [label, strategy] : options_.region_strategies) unseen_.insert(label);
    WAVEGATE_CHECK(regions(program_.body(), Surroundings{}));
    if (!unseen_.empty())
      return invalid_input(
          format("a strategy is given for region \"{}\", but the program has none of that label", *unseen_.begin()));
    return std::move(decisions_);
  }

 private:
  // ---- sizes

  Size size(const Body& body) const {
    Size total;
    for (const Node& node : body) std::visit([&](const auto& what) { add(what, total); }, node.what);
    return total;
  }
  void add(const program::Dispatch& node, Size& total) const {
    const program::Grid grid = node.grid ? *node.grid : node.computed_grid->maximum;
    if (node.computed_grid) total.step();
    const auto [x, y, z] = node.kernel->interface().workgroup_size;
    total.command(double{1} * grid[0] * grid[1] * grid[2], double{1} * x * y * z);
  }
  void add(const program::Copy& node, Size& total) const { total.command(static_cast<double>(node.count) / 256, 256); }
  void add(const program::Fill& node, Size& total) const { total.command(static_cast<double>(node.count) / 256, 256); }
  void add(const program::Assign&, Size& total) const { total.step(); }
  void add(const program::Record&, Size& total) const { total.step(); }
  void add(const program::Call&, Size&) const {}
  void add(const program::Break&, Size& total) const { total.step(); }
  void add(const program::Continue&, Size& total) const { total.step(); }
  void add(const program::If& node, Size& total) const {
    total.step();
    total.repeat(size(node.then_body), 1);
    total.repeat(size(node.else_body), 1);
  }
  void add(const program::Switch& node, Size& total) const {
    total.step();
    for (const program::Case& each : node.cases) total.repeat(size(each.body), 1);
    total.repeat(size(node.default_body), 1);
  }
  void add(const program::While& node, Size& total) const {
    total.step();
    total.repeat(size(node.body), node.bounds.max ? *node.bounds.max : kSteppedIterations);
  }

  static double bound_of(const program::While& node) {
    return node.bounds.max ? *node.bounds.max : std::numeric_limits<double>::infinity();
  }

  static bool has_unbounded(const Body& body) {
    return std::ranges::any_of(body, [](const Node& node) {
      const auto* loop = std::get_if<program::While>(&node.what);
      return (loop != nullptr && !loop->bounds.max) ||
             std::ranges::any_of(bodies_of(node), [](const Body* inner) { return has_unbounded(*inner); });
    });
  }

  // ---- costs

  /// Of a body that is guarded so: {taken, not taken}. A workgroup costs its launch, whatever it then does: no less
  /// than one that returns at once. What work it does is not known, only that residency does it on one core.
  std::pair<double, double> pass(const Size& size, Strategy guard) const {
    const double steps = size.steps * costs_.scalar_step;
    const double launches = size.workgroups * costs_.workgroup_out;
    const double latched =
        size.commands * costs_.dispatch + launches + size.workgroups * costs_.workgroup_latch + steps;
    const double gated = size.commands * costs_.indirect + launches;
    const double invocations = size.invocations * (size.workgroups > 0 ? kOneCore : 1);
    switch (guard) {
      case Strategy::gate:
        return {size.commands * costs_.scalar_step + gated + steps * 2,
                size.commands * (costs_.scalar_step + costs_.indirect_empty) + steps};
      case Strategy::fused_gate: return {gated + steps, size.commands * costs_.indirect_empty + steps};
      case Strategy::producer:
        return {gated + std::max(0.0, size.steps - 1) * costs_.scalar_step, size.commands * costs_.indirect_empty};
      case Strategy::chained_gate:
        return {gated + size.steps * costs_.indirect, (size.commands + size.steps) * costs_.indirect_empty};
      case Strategy::predication:
        return {latched + (size.commands + size.steps) * costs_.conditional_on,
                (size.commands + size.steps) * costs_.conditional_off};
      case Strategy::resident:
        return {(size.commands + size.steps) * costs_.resident_step + invocations * costs_.resident_invocation, 0.0};
      case Strategy::unroll:
        return {size.commands * costs_.dispatch + launches + std::max(0.0, size.steps - 1) * costs_.scalar_step, 0.0};
      default: return {latched, size.commands * costs_.dispatch + steps + launches};
    }
  }

  // ---- regions

  Result<void> regions(const Body& body, const Surroundings& around) {
    for (const Node& node : body) {
      const Region region = region_of(node);
      if (region.address == nullptr) continue;
      if (const auto* loop = std::get_if<program::While>(&node.what)) {
        WAVEGATE_CHECK(decide_loop(*loop, around));
        continue;
      }
      WAVEGATE_CHECK(decide_branch(region, pass_size(bodies_of(node)), around));
      for (const Body* inner : bodies_of(node)) WAVEGATE_CHECK(regions(*inner, around));
    }
    return {};
  }

  Size pass_size(const std::vector<const Body*>& bodies) const {
    Size total;
    for (const Body* body : bodies) total.repeat(size(*body), 1);
    return total;
  }

  /// What is asked for the regions of a label, if anything.
  std::optional<Strategy> named_for(const std::string& label) const {
    const auto named = options_.region_strategies.find(label);
    return named == options_.region_strategies.end() ? std::nullopt : std::optional(named->second);
  }

  /// What is asked for a region, if anything. What is asked for all regions is not asked where it cannot nest.
  std::optional<Strategy> asked(const std::string& label, bool branch, const Surroundings& around) {
    if (const std::optional<Strategy> named = named_for(label)) {
      unseen_.erase(label);
      return named;
    }
    if (around.conditional && options_.strategy == Strategy::predication) return std::nullopt;
    if (options_.strategy && (!branch || info(*options_.strategy).for_branches)) return options_.strategy;
    return std::nullopt;
  }

  Result<void> settle(const void* node, const std::string& what, const std::string& label, bool branch,
                      const Surroundings& around, const std::vector<Candidate>& candidates, Decision decision) {
    const std::optional<Strategy> wanted = asked(label, branch, around);
    const Candidate* chosen = nullptr;
    const Candidate* refused = nullptr;
    size_t open = 0;
    std::optional<Strategy> last;
    for (const Candidate& candidate : candidates) {
      if (wanted && candidate.strategy != *wanted) continue;
      if (!candidate.obstacle.empty()) {
        if (refused == nullptr) refused = &candidate;
        continue;
      }
      if (last != candidate.strategy) ++open;
      last = candidate.strategy;
      if (chosen == nullptr || is_preferred(candidate, *chosen)) chosen = &candidate;
    }
    if (wanted && chosen == nullptr && refused != nullptr)
      return unsupported(
          format("{} \"{}\": the {} strategy does not apply: {}", what, label, to_string(*wanted), refused->obstacle));
    if (chosen == nullptr) return no_strategy(what, label, candidates);
    decision.strategy = chosen->strategy;
    decision.forced = wanted.has_value();
    decision.microseconds = chosen->live;
    decision.dead_microseconds = chosen->dead;
    decision.block = chosen->block;
    decision.guard = chosen->guard;
    decision.reason = how(*chosen) + (wanted ? std::string("asked for") : reason(*chosen, candidates, open));
    decisions_.insert_or_assign(node, std::move(decision));
    return {};
  }

  /// What the name of a strategy leaves open.
  static std::string how(const Candidate& chosen) {
    if (chosen.strategy != Strategy::chunked) return "";
    if (chosen.block > 0) return format("blocks of {} under conditional rendering; ", chosen.block);
    return format("{} iterations; ", to_string(chosen.guard));
  }

  static Error no_strategy(const std::string& what, const std::string& label,
                           const std::vector<Candidate>& candidates) {
    std::string all;
    std::optional<Strategy> last;
    for (const Candidate& candidate : candidates)
      if (std::exchange(last, candidate.strategy) != candidate.strategy)
        all += format("{}{}: {}", all.empty() ? "" : "; ", to_string(candidate.strategy), candidate.obstacle);
    return unsupported(format("{} \"{}\": no strategy applies ({})", what, label, all));
  }

  std::string reason(const Candidate& chosen, const std::vector<Candidate>& candidates, size_t open) const {
    const Candidate* next = nullptr;  // of another strategy
    for (const Candidate& candidate : candidates)
      if (candidate.obstacle.empty() && candidate.strategy != chosen.strategy &&
          (next == nullptr || is_preferred(candidate, *next)))
        next = &candidate;
    if (next == nullptr) return "the only one that applies";
    if (chosen.avoided.empty() && !next->avoided.empty())
      return format("the others of {} are avoided: {}", open, next->avoided);
    return format("cheapest of {} by {} costs; next is {}, {:.2f} times as much", open,
                  costs_.measured ? "measured" : "default", to_string(next->strategy),
                  next->total / std::max(chosen.total, 1e-3));
  }

  Result<void> decide_branch(const Region& region, const Size& size, const Surroundings& around) {
    std::vector<Candidate> candidates;
    for (const StrategyInfo& row : strategies()) {
      Candidate candidate{row.strategy, row.strategy, {}};
      if (!row.for_branches)
        candidate.obstacle = "it is for loops";
      else if (row.strategy == Strategy::predication)
        candidate.obstacle = around.conditional ? kNestedConditional : no_predication();
      std::tie(candidate.live, candidate.dead) = pass(size, row.strategy);
      candidate.total = (candidate.live + candidate.dead) / 2;
      // A branch costs no more in another's tail; that is how every strategy but the baseline takes latches.
      if (row.strategy == Strategy::producer) candidate.total = pass(size, Strategy::fused_gate).first;
      candidate.avoided = indirect_checks(row.strategy, size);
      candidates.push_back(std::move(candidate));
    }
    return settle(region.address, std::string(region.kind), *region.label, true, around, candidates, {});
  }

  /// What speaks against gates where the API adds dispatches of its own to them.
  std::string indirect_checks(Strategy strategy, const Size& size) const {
    const bool adds = profile_.features.checks_indirect && info(strategy).indirect;
    return adds && size.widest <= kLatchedWorkgroups ? "the API checks an indirect dispatch by one of its own" : "";
  }

  std::string no_predication() const {
    return profile_.features.conditional_rendering ? "" : "the device has no conditional rendering";
  }

  Result<void> decide_loop(const program::While& node, const Surroundings& around) {
    const Size body = size(node.body);
    const std::optional<uint32_t> max = node.bounds.max;
    const std::string unbounded = !max                       ? "it has no max, and the iterations are spelled out"
                                  : has_unbounded(node.body) ? "it holds a loop without max"
                                                             : "";
    Size iteration = body;
    iteration.step();
    Decision decision;
    const double live = pass(iteration, Strategy::early_out).first;
    decision.first_chunk = chunk(kFirstChunk * costs_.submission, live);
    decision.usual_chunk = chunk(kLargestChunk * costs_.submission, live);
    if (around.ticking && bound_of(node) > kSteppedIterations) decision.iterations_a_pass = kSteppedIterations;

    decision.host_looks = around.top && !options_.host_free;

    std::vector<Candidate> candidates;
    for (const StrategyInfo& row : strategies())
      for (const Strategy guard : guards_of(row.strategy)) {
        Candidate candidate{row.strategy, guard, row.host_free && row.strategy != Strategy::resident ? unbounded : ""};
        std::tie(candidate.live, candidate.dead) = pass(iteration, guard);
        judge(node, around, iteration, decision, candidate);
        candidate.total = expected(node, around, iteration, decision, candidate);
        const bool spelled = row.strategy != Strategy::chunked && row.strategy != Strategy::resident;
        candidate.avoided = indirect_checks(guard, iteration);
        if (spelled && bound_of(node) * (body.commands + body.steps) > kComfortableCommands)
          candidate.avoided = "the bound's iterations are too many commands";
        candidates.push_back(std::move(candidate));
      }
    // To find out whether a loop can be resident is to build it, which is done only where the answer decides.
    Candidate& resident = *std::ranges::find(candidates, Strategy::resident, &Candidate::strategy);
    const std::optional<Strategy> wanted = asked(node.label, false, around);
    const bool decides = wanted ? *wanted == Strategy::resident : is_cheapest(resident, candidates);
    if (resident.obstacle.empty() && !decides) resident.obstacle = "another costs less";
    if (resident.obstacle.empty()) {
      const ResidentFit fit = resident_fit_(node);
      resident.obstacle = fit.obstacle;
      decision.iterations_a_dispatch = slice(node, resident.live, fit.iterations);
      if (max && is_cheap_to_spell_out(*max, decision.iterations_a_dispatch)) decision.host_looks = false;
    }
    WAVEGATE_CHECK(settle(&node, "while", node.label, false, around, candidates, decision));
    const Strategy chosen = decisions_.at(&node).strategy;
    if (chosen == Strategy::resident) {
      inherit(node.body);
      return {};
    }
    const bool ticking = chosen == Strategy::chunked;
    return regions(
        node.body,
        {.top = false, .ticking = ticking, .conditional = around.conditional || decisions_.at(&node).block > 0});
  }

  static bool is_cheapest(const Candidate& candidate, const std::vector<Candidate>& all) {
    return std::ranges::none_of(all, [&](const Candidate& other) {
      return &other != &candidate && other.obstacle.empty() && !is_preferred(candidate, other);
    });
  }

  /// How the iterations of a loop can be conditioned; but for chunks, that is what the strategy is.
  static std::vector<Strategy> guards_of(Strategy strategy) {
    if (strategy != Strategy::chunked) return {strategy};
    return {Strategy::early_out, Strategy::fused_gate, Strategy::chained_gate, Strategy::predication};
  }

  /// What is particular to a strategy.
  void judge(const program::While& node, const Surroundings& around, const Size& iteration, const Decision& decision,
             Candidate& candidate) const {
    const double dead = pass(iteration, Strategy::early_out).second;
    switch (candidate.strategy) {
      case Strategy::chunked:
        if (options_.host_free)
          candidate.obstacle = "the host would stand between submission and result (host-free is asked for)";
        else if (!around.can_chunk())
          candidate.obstacle = "a loop around it is spelled out; ask for chunked there, too";
        else if (candidate.guard != Strategy::early_out && (around.ticking || has_loop(node.body)))
          candidate.obstacle = "loops of loops in chunks are early-out";
        if (has_loop(node.body)) candidate.live *= kSteppingOverhead;
        if (candidate.guard != Strategy::predication) break;
        candidate.block = block_of(std::min(bound_of(node), kUnboundedIterations) / 2, dead, decision);
        if (candidate.obstacle.empty()) candidate.obstacle = no_predication();
        if (candidate.obstacle.empty() && is_predication_asked_inside(node.body, options_.strategy))
          candidate.obstacle = kConditionalInside;
        break;
      case Strategy::predication:
        if (candidate.obstacle.empty()) candidate.obstacle = around.conditional ? kNestedConditional : no_predication();
        // What is asked for all regions is not asked inside: there this one's is enough.
        if (candidate.obstacle.empty() && is_predication_asked_inside(node.body, {}))
          candidate.obstacle = kConditionalInside;
        candidate.block = block_of(std::min(bound_of(node), kComfortableCommands), dead, decision);
        break;
      case Strategy::producer:
        if (candidate.obstacle.empty()) candidate.obstacle = no_producer(node);
        break;
      case Strategy::unroll:
        if (!node.bounds.max || node.bounds.min != *node.bounds.max)
          candidate.obstacle = "min and max differ, so that a predicate decides how often it runs";
        break;
      case Strategy::resident:
        candidate.obstacle = asked_inside(node.body);
        if (has_unbounded(node.body)) candidate.obstacle = "it holds a loop without max, which nothing could end";
        if (!node.bounds.max && !decision.host_looks)
          candidate.obstacle = options_.host_free
                                   ? "it has no max, and the host would have to end it (host-free is asked for)"
                                   : "it has no max, and a loop around it is spelled out";
        break;
      default: break;
    }
  }

  /// Microseconds of an entry of a loop, over its exits.
  double expected(const program::While& node, const Surroundings& around, const Size& iteration,
                  const Decision& decision, const Candidate& candidate) const {
    const double bound = node.bounds.max ? *node.bounds.max : kUnboundedIterations;
    double sum = 0;
    for (const double share : kExits) {
      const double needed = std::max({double{1} * node.bounds.min, bound * share, 1.0});
      sum += std::log(total(node, around, iteration, decision, candidate, needed));
    }
    return std::exp(sum / std::size(kExits));
  }

  /// Microseconds of an entry of a loop of which so many iterations are needed.
  double total(const program::While& node, const Surroundings& around, const Size& iteration, const Decision& decision,
               const Candidate& candidate, double needed) const {
    const double beyond = std::max(0.0, bound_of(node) - needed);
    const double latched = pass(iteration, Strategy::early_out).second;
    const double live = needed * candidate.live;
    switch (candidate.strategy) {
      case Strategy::chunked: {
        // Each pass costs all of its iterations; what is around the loop is paid again in every pass.
        if (around.ticking)
          return std::ceil(needed / kSteppedIterations) * (kSteppedIterations * candidate.live + 4 * costs_.dispatch);
        const double chunks = std::max(1.0, needed / decision.usual_chunk) * costs_.scalar_step + costs_.submission;
        const double in_vain = std::min(beyond, kWastedChunks * decision.usual_chunk) * candidate.dead;
        if (candidate.block == 0) return live + in_vain + chunks;
        return live + in_vain + chunks + needed / candidate.block * costs_.conditional_begin +
               std::min(beyond, 0.5 * candidate.block) * latched;
      }
      case Strategy::predication:
        return live + beyond * candidate.dead + bound_of(node) / candidate.block * costs_.conditional_begin +
               0.5 * candidate.block * latched;
      case Strategy::resident: return live + costs_.dispatch;
      default: return live + beyond * candidate.dead;
    }
  }

  /// What forbids that the regions of a body become part of a resident loop's kernel.
  std::string asked_inside(const Body& body) const {
    for (const Node& node : body) {
      const Region region = region_of(node);
      if (region.address != nullptr) {
        const std::optional<Strategy> named = named_for(*region.label);
        if (named && *named != Strategy::resident)
          return format("{} is asked for \"{}\" inside it, which would be part of its kernel", to_string(*named),
                        *region.label);
      }
      for (const Body* inner : bodies_of(node))
        if (std::string found = asked_inside(*inner); !found.empty()) return found;
    }
    return "";
  }

  /// Whether predication is asked for in the body; `unnamed`: what is asked for regions by no name.
  bool is_predication_asked_inside(const Body& body, std::optional<Strategy> unnamed) const {
    return std::ranges::any_of(body, [&](const Node& node) {
      const Region region = region_of(node);
      if (region.address != nullptr) {
        const std::optional<Strategy> named = named_for(*region.label);
        if ((named ? named : unnamed) == Strategy::predication) return true;
      }
      return std::ranges::any_of(bodies_of(node),
                                 [&](const Body* inner) { return is_predication_asked_inside(*inner, unnamed); });
    });
  }

  /// Iterations of a resident loop in a dispatch: as many as the driver allows, and as end before anyone waits for
  /// them.
  static uint32_t slice(const program::While& node, double iteration, uint32_t allowed) {
    const double patience = kLongestKernel / std::max(iteration, 0.05);
    const uint32_t most = std::min(allowed, static_cast<uint32_t>(std::clamp(patience, 1.0, 1e6)));
    return node.bounds.max && *node.bounds.max <= most ? 0 : std::max(most, 1u);
  }

  /// Whether the dispatches that do a resident loop's iterations cost less in vain than the host's look would.
  bool is_cheap_to_spell_out(double bound, uint32_t iterations_a_dispatch) const {
    if (iterations_a_dispatch == 0) return true;
    return bound / iterations_a_dispatch * costs_.resident_idle < 2 * costs_.submission + costs_.round_trip / 2;
  }

  /// Why no kernel can take the loop's test as its tail.
  static std::string no_producer(const program::While& node) {
    if (leaves_early(node.body)) return "its body may be left early, and with it the kernel whose tail tests";
    for (size_t i = node.body.size(); i-- > 0;) {
      const auto& what = node.body[i].what;
      if (std::holds_alternative<program::Assign>(what) || std::holds_alternative<program::Record>(what)) continue;
      const auto* dispatch = std::get_if<program::Dispatch>(&what);
      if (dispatch == nullptr || dispatch->grid != program::Grid{1, 1, 1} || dispatch->kernel->is_opaque()) break;
      const auto [width, height, depth] = dispatch->kernel->interface().workgroup_size;
      if (height == 1 && depth == 1) return "";
      return "the workgroup of its body's last kernel is more than one invocation high or deep";
    }
    return "its body does not end with a kernel of ours of one workgroup, whose tail could test the predicate";
  }

  uint32_t chunk(double microseconds, double iteration) const {
    return static_cast<uint32_t>(std::clamp(microseconds / std::max(iteration, 0.1), 2.0, 4096.0));
  }

  /// How many iterations conditional rendering best leaves out together, in a loop of so many: each block costs a step
  /// that says whether it runs, and waits for that, and half a block of iterations is wasted behind their latches at
  /// the end.
  uint32_t block_of(double iterations, double dead, const Decision& decision) const {
    const double best = std::sqrt(2 * iterations * costs_.conditional_begin / std::max(dead, 0.1));
    return static_cast<uint32_t>(std::clamp<double>(best, 2, decision.usual_chunk));
  }

  /// Everything inside a resident loop is part of its kernel.
  void inherit(const Body& body) {
    for (const Node& node : body) {
      if (const Region region = region_of(node); region.address != nullptr) {
        unseen_.erase(*region.label);
        decisions_[region.address] = {.strategy = Strategy::resident, .reason = "inside a resident loop"};
      }
      for (const Body* inner : bodies_of(node)) inherit(*inner);
    }
  }

  const Program& program_;
  const target::Profile& profile_;
  const Options& options_;
  const Costs costs_;
  const ResidentCheck& resident_fit_;
  Decisions decisions_;
  std::set<std::string, std::less<>> unseen_;  ///< labels that no region had yet
};

}  // namespace

Result<Decisions> choose(const Program& program, const target::Profile& profile, const Options& options,
                         const ResidentCheck& resident_fit) {
  return Chooser(program, profile, options, resident_fit).run();
}

}  // namespace wavegate::lowering
