#include "wavegate/api/calibrate.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <vector>

#include "wavegate/api/kept.h"
#include "wavegate/base/format.h"
#include "wavegate/device/hash.h"
#include "wavegate/kir/builder.h"
#include "wavegate/kir/compose.h"
#include "wavegate/kir/passes/simplify.h"

namespace wavegate {
namespace {

using graph::BufferId;
using graph::Command;
using graph::Dispatch;
using graph::Graph;
using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Type;
using target::Costs;

// ---- kernels

Result<kir::Kernel> touch_kernel() {
  Builder b("touch", {64});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  const Expr i = b.local_id();
  data[i] = data[i] + 1;
  return b.finish();
}

/// One invocation, as the lowering's scalar work.
Result<kir::Kernel> step_kernel() {
  Builder b("step");
  auto word = b.scalar("word", Type::i32, Access::read_write);
  word = static_cast<Expr>(word) + 1;
  return b.finish();
}

Result<kir::Kernel> gate_kernel() {
  Builder b("gate");
  auto arguments = b.buffer("arguments", Type::i32, Access::read_write);
  const Expr x = b.parameter("x", Type::i32);
  b.store(arguments, b.u32(0), {x, b.u32(1), b.u32(1)});
  return b.finish();
}

/// Adds to the first `invocations` words, 64 at a time, `count` times, with a barrier between.
Result<kir::Kernel> resident_kernel(uint32_t width = 64) {
  Builder b("resident", {width});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  const Expr count = b.parameter("count", Type::i32);
  const Expr invocations = b.parameter("invocations", Type::i32);
  b.for_(b.u32(0), count, b.u32(1), [&](Expr) {
    b.for_(b.local_id(), invocations, b.u32(width), [&](Expr i) { data[i] = data[i] + 1; });
    b.barrier();
  });
  return b.finish();
}

/// Touches 64 words, and says that a loop is done when the first is one that it never gets.
Result<kir::Kernel> observed_kernel() {
  Builder b("observed", {64});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  auto done = b.buffer("done", Type::i32, Access::read_write);
  const Expr i = b.local_id();
  const Expr value = data[i];
  data[i] = value + 1;
  b.if_(value == 0xffffffffu, [&] { done[0] = b.u32(1); });
  return b.finish();
}

// ---- graphs

/// A graph under construction: a data buffer, another, an arena, arguments of indirect dispatches.
class Bench {
 public:
  static constexpr BufferId kData{0}, kOther{1}, kArena{2}, kArguments{3}, kObserved{4};

  explicit Bench(uint32_t words = 64) {
    const auto buffer = [&](const char* name, uint64_t bytes) {
      graph::Buffer made;
      made.name = name;
      made.bytes = bytes;
      made.initial = graph::Contents{};
      graph.buffers.push_back(std::move(made));
    };
    buffer("data", words * 4), buffer("other", 64 * 4), buffer("arena", 64 * 4), buffer("arguments", 16);
    buffer("observed", 4);
    graph.buffers[3].indirect = true;
    graph.buffers[4].observed = true;
    graph.name = "calibrate";
  }

  Result<Dispatch> dispatch(Result<kir::Kernel> kernel, BufferId buffer, std::vector<uint32_t> words,
                            uint32_t workgroups = 1) {
    if (!kernel) return std::move(kernel).error();
    WAVEGATE_CHECK(kir::simplify(*kernel));
    const kir::Interface interface = kernel->interface;
    graph.kernels.push_back(std::make_shared<const kir::Kernel>(std::move(*kernel)));
    Dispatch made;
    made.label = interface.name;
    made.kernel = graph::KernelId{static_cast<uint32_t>(graph.kernels.size() - 1)};
    made.grid = {workgroups, 1, 1};
    made.words = std::move(words);
    size_t word = 0;
    for (const kir::BindingInfo& binding : interface.bindings) {
      if (binding.kind == kir::BindingKind::buffer) {
        const BufferId bound = binding.name == "done" ? kObserved : buffer;
        made.bindings.push_back(all_of(bound));
        made.uses.push_back({all_of(bound), binding.access});
      } else {
        made.uses.push_back({{kArena, uint64_t{made.words[word++]} * 4, 4}, binding.access});
      }
    }
    if (word > 0) made.bindings.push_back(all_of(kArena));
    return made;
  }

  graph::Range all_of(BufferId id) const { return {id, 0, graph.buffers[static_cast<uint32_t>(id)].bytes}; }
  graph::Range arguments() const { return {kArguments, 0, 12}; }

  Graph graph;
};

double now() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr uint32_t kRepeats = 256;

/// Microseconds that a repeat of the body costs, the fixed cost of a run left out.
Result<double> per_repeat(const TimeOf& time_of, Graph graph, const std::vector<Command>& body) {
  double times[2] = {};
  for (const uint32_t factor : {1u, 3u}) {
    auto repeat = std::make_shared<graph::Repeat>();
    repeat->label = "repeat";
    repeat->count = kRepeats * factor;
    repeat->body = body;
    graph.commands = {std::shared_ptr<const graph::Repeat>(std::move(repeat))};
    WAVEGATE_CHECK(graph::verify(graph));
    WAVEGATE_TRY(times[factor / 2], time_of(graph));
  }
  return std::max((times[1] - times[0]) / (2 * kRepeats), 0.01);
}

class Calibration {
 public:
  Calibration(const target::Profile& profile, const TimeOf& time_of,
              const std::function<void(std::string_view)>& progress)
      : profile_(profile), time_of_(time_of), progress_(progress) {}

  Result<Costs> run() {
    WAVEGATE_CHECK(dispatches());
    WAVEGATE_CHECK(indirect());
    WAVEGATE_CHECK(leaving_out());
    WAVEGATE_CHECK(resident());
    WAVEGATE_CHECK(submissions());
    costs_.measured = true;
    return costs_;
  }

 private:
  void tell(std::string_view what) const {
    if (progress_) progress_(what);
  }

  Result<void> dispatches() {
    tell("dispatches");
    Bench bench;
    WAVEGATE_TRY(const Dispatch touch, bench.dispatch(touch_kernel(), Bench::kData, {}));
    WAVEGATE_TRY(const Dispatch step, bench.dispatch(step_kernel(), Bench::kData, {0}));
    WAVEGATE_TRY(costs_.dispatch, per_repeat(time_of_, bench.graph, {touch}));
    WAVEGATE_TRY(costs_.scalar_step, per_repeat(time_of_, bench.graph, {step}));
    return {};
  }

  Result<void> indirect() {
    tell("indirect dispatches");
    Bench bench;
    WAVEGATE_TRY(Dispatch touch, bench.dispatch(touch_kernel(), Bench::kData, {}));
    touch.indirect = bench.arguments();
    WAVEGATE_TRY(Dispatch open, bench.dispatch(gate_kernel(), Bench::kArguments, {1}));
    Dispatch closed = open;
    closed.words = {0};
    WAVEGATE_TRY(const double on, per_repeat(time_of_, bench.graph, {open, touch}));
    WAVEGATE_TRY(const double off, per_repeat(time_of_, bench.graph, {closed, touch}));
    WAVEGATE_TRY(const double gate, per_repeat(time_of_, bench.graph, {open}));
    // Even a dispatch that does nothing is looked at: what the noise of a machine leaves of it is not believed.
    const double least = costs_.dispatch / 32;
    costs_.indirect = std::max(on - gate, least);
    costs_.indirect_empty = std::max(off - gate, least);
    return {};
  }

  Result<void> leaving_out() {
    tell("kernels that return at once");
    // Some software devices take longer for a workgroup than a GPU for a thousand.
    const uint32_t workgroups = profile_.is_cpu ? 128 : 2048;
    Bench bench;
    WAVEGATE_TRY(kir::Kernel touch, touch_kernel());
    WAVEGATE_TRY(const Dispatch few, bench.dispatch(kir::guard(touch, "latch"), Bench::kData, {0}));
    WAVEGATE_TRY(const Dispatch many,
                 bench.dispatch(kir::guard(std::move(touch), "latch"), Bench::kData, {0}, workgroups));
    WAVEGATE_TRY(const double one, per_repeat(time_of_, bench.graph, {few}));
    WAVEGATE_TRY(const double all, per_repeat(time_of_, bench.graph, {many}));
    costs_.workgroup_out = std::max((all - one) / (workgroups - 1), 0.0);
    WAVEGATE_CHECK(latches(workgroups));
    if (!profile_.features.conditional_rendering) {
      costs_.conditional_begin = costs_.indirect + costs_.scalar_step;
      costs_.conditional_on = 0;
      costs_.conditional_off = costs_.indirect_empty;
      return {};
    }
    tell("conditional rendering");
    constexpr uint32_t kDispatches = 16;
    bench.graph.buffers[static_cast<uint32_t>(Bench::kOther)].initial->word = 1;
    // `before` runs ahead of the condition.
    const auto conditional = [&](const graph::Range& predicate, std::vector<Command> before) {
      auto repeat = std::make_shared<graph::Repeat>();
      repeat->label = "dispatches";
      repeat->count = kDispatches;
      repeat->body = {few};
      auto made = std::make_shared<graph::Conditional>();
      made->label = "conditional";
      made->predicate = predicate;
      made->body = {std::shared_ptr<const graph::Repeat>(std::move(repeat))};
      before.emplace_back(std::shared_ptr<const graph::Conditional>(std::move(made)));
      return per_repeat(time_of_, bench.graph, before);
    };
    WAVEGATE_TRY(const Dispatch step, bench.dispatch(step_kernel(), Bench::kData, {1}));
    const graph::Range zero{Bench::kArena, 0, 4}, counted{Bench::kArena, 4, 4}, one_word{Bench::kOther, 0, 4};
    WAVEGATE_TRY(const double off, conditional(zero, {}));
    WAVEGATE_TRY(const double on, conditional(one_word, {}));
    WAVEGATE_TRY(const double begun, conditional(counted, {step}));
    costs_.conditional_off = std::max(off / kDispatches, 0.01);
    costs_.conditional_on = std::max(on / kDispatches - one, 0.0);
    costs_.conditional_begin = std::max(begun - on, costs_.scalar_step);
    return {};
  }

  /// A kernel of many workgroups behind a latch that lets it run, and without.
  Result<void> latches(uint32_t workgroups) {
    tell("latches");
    Bench bench;
    bench.graph.buffers[static_cast<uint32_t>(Bench::kArena)].initial->word = 1;
    WAVEGATE_TRY(kir::Kernel touch, touch_kernel());
    WAVEGATE_TRY(const Dispatch plain, bench.dispatch(touch, Bench::kData, {}, workgroups));
    WAVEGATE_TRY(const Dispatch guarded,
                 bench.dispatch(kir::guard(std::move(touch), "latch"), Bench::kData, {0}, workgroups));
    WAVEGATE_TRY(const double without, per_repeat(time_of_, bench.graph, {plain}));
    WAVEGATE_TRY(const double with, per_repeat(time_of_, bench.graph, {guarded}));
    costs_.workgroup_latch = std::max((with - without) / workgroups, 0.0);
    return {};
  }

  Result<void> resident() {
    tell("steps within a kernel");
    constexpr uint32_t kSteps = 512, kFew = 64, kMany = 2048;
    const auto time = [&](uint32_t steps, uint32_t invocations) -> Result<double> {
      Bench bench(kMany);
      WAVEGATE_TRY(const Dispatch all, bench.dispatch(resident_kernel(), Bench::kData, {steps, invocations}));
      bench.graph.commands = {all};
      WAVEGATE_CHECK(graph::verify(bench.graph));
      return time_of_(bench.graph);
    };
    WAVEGATE_TRY(const double none, time(1, kFew));
    WAVEGATE_TRY(const double few, time(kSteps, kFew));
    WAVEGATE_TRY(const double many, time(kSteps, kMany));
    costs_.resident_invocation = std::max((many - few) / kSteps / (kMany - kFew), 0.0);
    costs_.resident_step = std::max((few - none) / kSteps, 0.001);

    // Software devices set up each invocation that may meet a barrier, whether it does or not.
    Bench bench;
    const uint32_t width = std::min({256u, profile_.limits.workgroup_invocations, profile_.limits.workgroup_size[0]});
    WAVEGATE_TRY(const Dispatch idle, bench.dispatch(resident_kernel(width), Bench::kData, {0, 0}));
    WAVEGATE_TRY(costs_.resident_idle, per_repeat(time_of_, bench.graph, {idle}));
    return {};
  }

  Result<void> submissions() {
    tell("submissions");
    Bench bench;
    WAVEGATE_TRY(const Dispatch touch, bench.dispatch(observed_kernel(), Bench::kData, {}));
    bench.graph.commands = {touch};
    WAVEGATE_TRY(costs_.round_trip, time_of_(bench.graph));

    // Chunks that are long enough to hide the host cost what the device sees between them; short ones, what the host
    // needs. Half of that counts: the lowering's first chunks take three times a submission, and hide it.
    WAVEGATE_TRY(const double hidden, per_chunk(bench, touch, 32, 16));
    WAVEGATE_TRY(const double bare, per_chunk(bench, touch, 16, 2));
    costs_.submission = std::max({hidden, bare / 2, 0.5});
    return {};
  }

  /// What handing over a chunk adds to the same work in one submission, in microseconds.
  Result<double> per_chunk(Bench& bench, const Dispatch& touch, uint32_t chunks, uint32_t chunk) {
    auto repeat = std::make_shared<graph::Repeat>();
    repeat->label = "straight";
    repeat->count = chunks * chunk;
    repeat->body = {touch};
    auto loop = std::make_shared<graph::Loop>();
    loop->label = "chunks";
    loop->done = bench.all_of(Bench::kObserved);
    loop->maximum = chunks * chunk;
    loop->first_chunk = loop->largest_chunk = chunk;
    loop->body = {touch};
    Graph chunked = bench.graph;
    bench.graph.commands = {std::shared_ptr<const graph::Repeat>(std::move(repeat))};
    chunked.commands = {std::shared_ptr<const graph::Loop>(std::move(loop))};
    WAVEGATE_TRY(const double straight, time_of_(bench.graph));
    WAVEGATE_TRY(const double in_chunks, time_of_(chunked));
    return (in_chunks - straight) / chunks;
  }

  const target::Profile& profile_;
  const TimeOf& time_of_;
  const std::function<void(std::string_view)>& progress_;
  Costs costs_;
};

/// Microseconds of a run of the graph, the least of several.
Result<double> time_on(device::Device& device, const Graph& graph) {
  WAVEGATE_TRY(auto executable, device.load(std::make_shared<const Graph>(graph)));
  WAVEGATE_CHECK(executable->run());
  double best = 0;
  for (int i = 0; i < kCalibrationRuns; ++i) {
    const double start = now();
    WAVEGATE_CHECK(executable->run());
    const double taken = now() - start;
    best = i == 0 ? taken : std::min(best, taken);
  }
  return best;
}

// ---- what is kept

/// What the bytes hold, by their first number; another version's is not read.
constexpr double kVersion = 7;

std::string kept_name(const target::Profile& profile) {
  const std::string device = format("{}\n{}\n{}\n{}", profile.backend, profile.name, profile.driver,
                                    profile.features.checks_indirect ? "checks indirect dispatches" : "");
  return format("costs-{:016x}", device::hash_bytes(std::as_bytes(std::span(device))));
}

}  // namespace

Result<Costs> calibrate(const target::Profile& profile, const TimeOf& time_of,
                        const std::function<void(std::string_view)>& progress) {
  return Calibration(profile, time_of, progress).run();
}

Result<Costs> calibrate(device::Device& device, const std::function<void(std::string_view)>& progress) {
  const auto time_of = [&](const Graph& graph) { return time_on(device, graph); };
  return calibrate(device.profile(), time_of, progress);
}

void keep_costs(const target::Profile& profile, const Costs& costs) {
  std::vector<double> numbers = {kVersion};
  for (const target::CostInfo& info : target::cost_table()) numbers.push_back(costs.*info.cost);
  keep(kept_name(profile), std::as_bytes(std::span(numbers)));
}

std::optional<Costs> calibrated_costs(const target::Profile& profile) {
  const auto contents = read_kept(kept_name(profile));
  const std::span<const target::CostInfo> all = target::cost_table();
  if (!contents || contents->size() != (all.size() + 1) * sizeof(double)) return std::nullopt;
  std::vector<double> numbers(all.size() + 1);
  std::memcpy(numbers.data(), contents->data(), contents->size());
  // Nobody else checks them: a cost that is no number or absurd would choose strategies at random.
  const bool sound = std::ranges::all_of(numbers, [](double number) { return number >= 0 && number < 1e7; });
  if (!sound || numbers[0] != kVersion) return std::nullopt;
  Costs costs;
  for (size_t i = 0; i < all.size(); ++i) costs.*all[i].cost = numbers[i + 1];
  costs.measured = true;
  return costs;
}

}  // namespace wavegate
