// wavegate-bench-control: what control flow costs, in one run and one table.
//
// One dependent chain: a body of 1, 4 or 8 kernels of one workgroup or many, each of which reads and writes what the
// one before wrote, and the scalar work that counts. The chain is run
//   direct       spelled out with no predicate: the floor, in one submission
//   STRATEGY     as a while loop, or nested ones, by each strategy that applies
//   default      by the strategy that is chosen without being asked
//   host-polled  by a loop on the host: submit, wait and read the predicate back, every iteration
// The cases of a group run in turns, so that what disturbs one disturbs all. A figure is the median of the runs, from
// submit to result, an iteration of those needed; ratios are to the direct chain of as many iterations.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "wavegate/base/format.h"
#include "wavegate/wavegate.h"

namespace wavegate {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Type;
using program::Buffer;
using program::Initial;
using program::literal;
using program::Program;
using program::Scalar;
using program::ScalarExpr;

constexpr uint32_t kInvocations = 64;
constexpr uint32_t kWide = 256;
/// A group of cases that takes longer than this is run no more than so often, after the run that warms up.
constexpr std::chrono::seconds kPatience{30};
constexpr uint32_t kFewestRuns = 5;
constexpr const char* kDirect = "direct";
constexpr const char* kDefault = "default";
constexpr const char* kHostPolled = "host-polled";

/// What is run.
struct Case {
  std::string strategy = {};
  uint32_t kernels = 1;           ///< dispatches in the body
  std::optional<uint32_t> bound;  ///< iterations that the innermost loop may run; none: without max
  uint32_t needed = 0;            ///< iterations in all
  uint32_t nesting = 1;
  uint32_t workgroups = 1;  ///< of a dispatch; kWide are too many for one workgroup to do their work
  bool opaque = false;      ///< the body is a compiled GLSL shader
};

struct Row {
  Case what;
  std::string chosen;       ///< the strategy of the innermost loop
  double microseconds = 0;  ///< a run, median
  double ratio_to_direct = 0;
  std::string refused;  ///< why the strategy does not apply; then nothing else holds
  double per_iteration() const { return microseconds / what.needed; }
};

using Kernel = std::shared_ptr<const program::KernelSource>;

Result<Kernel> body_kernel() {
  Builder b("body", {kInvocations});
  auto state = b.buffer("state", Type::i32, Access::read_write);
  const Expr i = b.global_id();
  state[i] = static_cast<Expr>(state[i]) * 1664525u + 1013904223u;
  WAVEGATE_TRY(kir::Kernel kernel, b.finish());
  return program::make_kernel_source(std::move(kernel));
}

/// The same body as a shader that glslc compiled.
Result<Kernel> opaque_kernel(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) return invalid_input("the compiled body shader is not there; give --shader", path);
  kir::OpaqueKernel kernel;
  kernel.interface.name = "body";
  kernel.interface.workgroup_size = {kInvocations, 1, 1};
  kernel.interface.bindings = {{"state", kir::BindingKind::buffer, Type::i32, Access::read_write}};
  kernel.spirv.resize(bytes.size() / 4);
  std::copy_n(bytes.data(), kernel.spirv.size() * 4, reinterpret_cast<char*>(kernel.spirv.data()));
  return program::make_kernel_source(std::move(kernel));
}

/// How often each loop of a nest runs, the outermost first: about the nesting'th root of the whole each, and exactly
/// the whole in all.
std::vector<uint32_t> trips_of(uint32_t needed, uint32_t nesting) {
  std::vector<uint32_t> trips;
  uint32_t rest = needed;
  for (uint32_t level = nesting; level > 1; --level) {
    auto trip = static_cast<uint32_t>(std::lround(std::pow(rest, 1.0 / level)));
    while (rest % trip != 0) --trip;
    trips.push_back(trip);
    rest /= trip;
  }
  trips.push_back(rest);
  return trips;
}

/// The chain as a program. What is needed is a launch parameter, so that the predicate is the device's business.
struct Chain {
  Program program{"chain"};
  Scalar active, iterations;
  std::optional<program::Loop> innermost;  ///< none: the loop is the host's

  Chain(const Kernel& kernel, const Case& what) {
    const Buffer state = program.buffer("state", Type::i32, kInvocations * what.workgroups, Initial::repeated(1u));
    iterations = program.scalar_u32("iterations", 0);
    active = program.scalar_u32("active", 1);
    const auto body = [&] {
      for (uint32_t k = 0; k < what.kernels; ++k)
        program.dispatch(
            {.label = "body", .kernel = kernel, .bindings = {state}, .grid = program::Grid{what.workgroups, 1, 1}});
    };
    if (what.strategy == kHostPolled) {
      const Scalar needed = program.parameter("needed", literal(what.needed));
      body();
      program.assign(iterations, iterations + 1);
      program.assign(active, iterations < needed);
      return;
    }
    program.assign(iterations, literal(0u));
    const std::vector<uint32_t> trips = trips_of(what.needed, what.nesting);
    nest(trips, 0, what, body);
  }

  void nest(const std::vector<uint32_t>& trips, uint32_t level, const Case& what, const std::function<void()>& body) {
    const bool last = level + 1 == trips.size();
    const Scalar needed = program.parameter(format("needed.{}", level), literal(trips[level]));
    const Scalar count = program.scalar_u32(format("count.{}", level), 0);
    const Scalar more = program.scalar_u32(format("more.{}", level), 0);
    program.assign(count, literal(0u));
    program.assign(more, literal(1u));
    std::optional<uint32_t> max = trips[level];
    if (last && what.nesting == 1) max = what.bound;
    const uint32_t min = what.strategy == kDirect ? trips[level] : 0;
    if (what.strategy == kDirect) max = min;
    const program::Loop loop = program.while_(
        more, {.min = min, .max = max},
        [&] {
          if (last) {
            body();
            program.assign(iterations, iterations + 1);
          } else {
            nest(trips, level + 1, what, body);
          }
          program.assign(count, count + 1);
          program.assign(more, count < needed);
        },
        format("loop.{}", level));
    if (last) innermost = loop;
  }
};

/// A case that is compiled, and its times so far.
struct Running {
  Row row;
  Chain chain;
  std::optional<Executable> executable;
  std::vector<double> times;
};

Result<void> run_once(Running& running) {
  Executable& executable = *running.executable;
  const Case& what = running.row.what;
  WAVEGATE_CHECK(executable.set(running.chain.iterations, literal(0u)));
  const auto start = std::chrono::steady_clock::now();
  if (what.strategy == kHostPolled) {
    for (uint32_t active = 1; active != 0;) {
      WAVEGATE_CHECK(executable.run());
      WAVEGATE_TRY(active, executable.read_bits(running.chain.active));
    }
  } else {
    WAVEGATE_CHECK(executable.run());
  }
  const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
  running.times.push_back(elapsed.count());
  // A loop that stops too early, or too late, must not be timed as if it had done its work.
  WAVEGATE_TRY(const uint32_t iterations, executable.read_bits(running.chain.iterations));
  if (iterations == what.needed) return {};
  return internal_error(format("{}, {} kernels, nesting {}: {} iterations where {} are needed", what.strategy,
                               what.kernels, what.nesting, iterations, what.needed));
}

double median(std::vector<double> times) {
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

void show_progress(const Case& what, uint32_t run, uint32_t runs) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r\x1b[K%s",
               format("{} kernels of {} workgroups, nesting {}, {} iterations: run {} of {}\r", what.kernels,
                      what.workgroups, what.nesting, what.needed, run, runs)
                   .c_str());
}

class Bench {
 public:
  Bench(std::shared_ptr<device::Device> device, bool quick, std::string shader)
      : device_(std::move(device)), quick_(quick), shader_(std::move(shader)) {}

  /// Runs cases that differ in nothing but the strategy and the bound, in turns; the direct chain first.
  Result<void> group(std::vector<Case> cases) {
    std::vector<Running> all;
    Case direct = cases.front();
    direct.strategy = kDirect;
    direct.bound = direct.needed;
    cases.insert(cases.begin(), direct);
    for (const Case& what : cases) WAVEGATE_CHECK(add(what, all));
    const uint32_t runs = quick_ ? 5 : cases.front().needed > 2000 ? 7 : 15;
    const auto start = std::chrono::steady_clock::now();
    for (uint32_t run = 0; run <= runs; ++run) {
      if (run > kFewestRuns && std::chrono::steady_clock::now() - start > kPatience) break;
      show_progress(cases.front(), run, runs);
      for (Running& each : all)
        if (each.executable) WAVEGATE_CHECK(run_once(each));
    }
    for (Running& each : all) {
      if (!each.times.empty()) {
        each.times.erase(each.times.begin());  // the first warms up
        each.row.microseconds = median(each.times);
        each.row.ratio_to_direct = each.row.microseconds / all.front().row.microseconds;
      }
      rows_.push_back(each.row);
    }
    return {};
  }

  const std::vector<Row>& rows() const { return rows_; }

  /// The row of a case; nothing where it was refused or not run.
  const Row* find(const std::string& strategy, uint32_t kernels, std::optional<uint32_t> bound, uint32_t needed,
                  uint32_t workgroups) const {
    const auto row = std::ranges::find_if(rows_, [&](const Row& each) {
      return each.what.strategy == strategy && each.what.kernels == kernels && each.what.bound == bound &&
             each.what.needed == needed && each.what.nesting == 1 && each.what.workgroups == workgroups &&
             !each.what.opaque && each.refused.empty();
    });
    return row == rows_.end() ? nullptr : &*row;
  }

 private:
  Result<void> add(const Case& what, std::vector<Running>& all) {
    WAVEGATE_TRY(const Kernel kernel, what.opaque ? opaque_kernel(shader_) : body_kernel());
    all.push_back({Row{what, {}, 0, 0, {}}, Chain(kernel, what), {}, {}});
    Running& made = all.back();
    CompileOptions options;
    options.strategy = what.strategy == kDirect ? lowering::Strategy::unroll : lowering::parse_strategy(what.strategy);
    Result<Executable> compiled = compile(made.chain.program, device_, options);
    if (!compiled) {
      if (compiled.error().kind != ErrorKind::unsupported) return compiled.error();
      made.row.refused = compiled.error().message;
      return {};
    }
    made.executable.emplace(std::move(*compiled));
    const auto& regions = made.executable->plan().regions;
    if (!regions.empty()) made.row.chosen = lowering::to_string(regions.back().strategy);
    return {};
  }

  std::shared_ptr<device::Device> device_;
  const bool quick_;
  const std::string shader_;
  std::vector<Row> rows_;
};

/// A figure that is aimed at.
struct Target {
  std::string measure;
  double value = 0;
  double bound = 0;
  bool at_least = false;
  bool reached() const { return at_least ? value >= bound : value <= bound; }
};

std::vector<std::string> strategy_names() {
  std::vector<std::string> names = {kDefault};
  for (const lowering::StrategyInfo& info : lowering::strategies())
    if (info.strategy != lowering::Strategy::unroll) names.emplace_back(info.name);
  names.emplace_back(kHostPolled);
  return names;
}

std::vector<Case> with_strategies(const std::vector<std::string>& names, Case what) {
  std::vector<Case> cases;
  for (const std::string& name : names) {
    what.strategy = name;
    cases.push_back(what);
  }
  return cases;
}

/// How many iterations are needed where bounds are compared. The bound that counts as equal is one more, so that the
/// predicate ends the loop there, too.
std::vector<uint32_t> bound_needs(bool quick) {
  return quick ? std::vector<uint32_t>{200} : std::vector<uint32_t>{1000, 10000};
}

Result<void> measure(Bench& bench, bool quick, bool opaque) {
  const uint32_t full = quick ? 200 : 1000;
  const std::vector<std::string> names = strategy_names();
  std::vector<std::string> loops = names;
  loops.pop_back();  // what the host polls does not know of a bound
  for (const uint32_t workgroups : {1u, kWide}) {
    for (const uint32_t kernels : {1u, 4u, 8u})
      WAVEGATE_CHECK(bench.group(
          with_strategies(names, {.kernels = kernels, .bound = full, .needed = full, .workgroups = workgroups})));
    for (const uint32_t share : {100u, 10u, 2u})
      for (const uint32_t kernels : {1u, 8u})
        WAVEGATE_CHECK(bench.group(with_strategies(
            loops, {.kernels = kernels, .bound = full, .needed = full / share, .workgroups = workgroups})));
    for (const uint32_t nesting : {2u, 3u, 4u})
      WAVEGATE_CHECK(bench.group(with_strategies(
          loops, {.kernels = 1, .bound = full, .needed = full, .nesting = nesting, .workgroups = workgroups})));
    // Bounds far beyond the need, and none.
    for (const uint32_t needed : bound_needs(quick)) {
      std::vector<Case> cases;
      for (const std::optional<uint32_t> bound :
           {std::optional(needed + 1), std::optional(needed * 100), std::optional<uint32_t>()})
        cases.push_back(
            {.strategy = kDefault, .kernels = 1, .bound = bound, .needed = needed, .workgroups = workgroups});
      WAVEGATE_CHECK(bench.group(cases));
    }
    Case few = {.strategy = kDefault, .kernels = 1, .bound = 10000, .needed = 10, .workgroups = workgroups};
    WAVEGATE_CHECK(bench.group(with_strategies({kDefault, kHostPolled}, few)));
  }
  if (!opaque) return {};
  return bench.group(with_strategies({kDefault, "gate", "fused-gate", "early-out"},
                                     {.kernels = 8, .bound = full, .needed = full, .opaque = true}));
}

std::vector<Target> targets_of(const Bench& bench, bool quick, bool is_cpu) {
  const uint32_t full = quick ? 200 : 1000;
  std::vector<Target> targets;
  const auto ratio = [&](std::string name, const Row* a, const Row* b, double bound, bool at_least = false) {
    if (a != nullptr && b != nullptr)
      targets.push_back({std::move(name), a->microseconds / b->microseconds, bound, at_least});
  };
  for (const uint32_t workgroups : {1u, kWide}) {
    const std::string wide = format(", {} workgroup{}", workgroups, workgroups > 1 ? "s" : "");
    const auto find = [&](const char* strategy, uint32_t kernels, std::optional<uint32_t> bound, uint32_t needed) {
      return bench.find(strategy, kernels, bound, needed, workgroups);
    };
    for (const uint32_t kernels : {1u, 4u, 8u})
      ratio(format("default / direct, full trip, {} kernels{}", kernels, wide), find(kDefault, kernels, full, full),
            find(kDirect, kernels, full, full),
            kernels > 1 ? 1.10
            : is_cpu    ? 1.2
                        : 1.25);
    for (const uint32_t needed : bound_needs(quick)) {
      const Row* exact = find(kDefault, 1, needed + 1, needed);
      const double bound = needed >= 10000 ? 1.03 : is_cpu ? 1.10 : 1.15;
      ratio(format("bound 100 x needed / bound = needed, {} needed{}", needed, wide),
            find(kDefault, 1, needed * 100, needed), exact, bound);
      ratio(format("no bound / bound = needed, {} needed{}", needed, wide), find(kDefault, 1, std::nullopt, needed),
            exact, bound);
    }
    const Row* few = find(kDefault, 1, 10000, 10);
    const Row* direct = find(kDirect, 1, 10, 10);
    const Row* polled = find(kHostPolled, 1, 10000, 10);
    if (few != nullptr && !is_cpu)
      targets.push_back({format("10 needed of 10,000, us a run{}", wide), few->microseconds, 150});
    if (few != nullptr && direct != nullptr && polled != nullptr && is_cpu)
      targets.push_back({format("10 needed of 10,000 / (3 x direct + one host wait){}", wide),
                         few->microseconds / (3 * direct->microseconds + polled->microseconds / 10), 1.0});
    for (const uint32_t kernels : {4u, 8u})
      ratio(format("gate / default, full trip, {} kernels{}", kernels, wide), find("gate", kernels, full, full),
            find(kDefault, kernels, full, full), is_cpu ? 1.3 : 1.8, true);
    for (const uint32_t kernels : {1u, 8u})
      ratio(format("gate / default, exit at 1 %, {} kernels{}", kernels, wide), find("gate", kernels, full, full / 100),
            find(kDefault, kernels, full, full / 100), 20, true);
    ratio(format("host-polled / default, 1 kernel{}", wide), find(kHostPolled, 1, full, full),
          find(kDefault, 1, full, full), is_cpu ? 1.0 : 8.0, true);
    if (workgroups > 1) continue;
    for (const uint32_t kernels : {1u, 8u})
      ratio(format("resident / direct, {} kernels", kernels), find("resident", kernels, full, full),
            find(kDirect, kernels, full, full), is_cpu ? 0.2 : 0.3);
  }
  return targets;
}

std::string bound_text(const Case& what) {
  return what.bound ? std::to_string(*what.bound) : "none";
}

void print_json(const Bench& bench, const std::vector<Target>& targets, const target::Profile& profile) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : bench.rows()) {
    nlohmann::ordered_json line = {
        {"strategy", row.what.strategy}, {"kernels", row.what.kernels}, {"bound", nullptr},
        {"needed", row.what.needed},     {"nesting", row.what.nesting}, {"workgroups", row.what.workgroups},
        {"opaque", row.what.opaque}};
    if (row.what.bound) line["bound"] = *row.what.bound;
    if (row.refused.empty()) {
      line["chosen"] = row.chosen;
      line["microseconds_per_iteration"] = row.per_iteration();
      line["ratio_to_direct"] = row.ratio_to_direct;
    } else {
      line["refused"] = row.refused;
    }
    rows.push_back(std::move(line));
  }
  nlohmann::ordered_json aims = nlohmann::ordered_json::array();
  for (const Target& target : targets)
    aims.push_back({{"measure", target.measure},
                    {"value", target.value},
                    {target.at_least ? "at_least" : "at_most", target.bound},
                    {"reached", target.reached()}});
  std::puts(nlohmann::ordered_json({{"device", profile.name}, {"rows", rows}, {"targets", aims}}).dump(2).c_str());
}

void print_text(const Bench& bench, const std::vector<Target>& targets, const target::Profile& profile) {
  std::puts(format("{}\n\n| strategy | kernels | workgroups | nesting | bound | needed | us an iteration | / direct |\n"
                   "|---|---|---|---|---|---|---|---|",
                   profile.name)
                .c_str());
  for (const Row& row : bench.rows()) {
    std::string name = row.what.strategy;
    if (name == kDefault) name += format(" ({})", row.chosen);
    if (row.what.opaque) name += ", GLSL";
    const std::string figures =
        row.refused.empty() ? format("{:.2f} | {:.2f}", row.per_iteration(), row.ratio_to_direct) : "does not apply |";
    std::puts(format("| {} | {} | {} | {} | {} | {} | {} |", name, row.what.kernels, row.what.workgroups,
                     row.what.nesting, bound_text(row.what), row.what.needed, figures)
                  .c_str());
  }
  std::puts("\n| measure | value | target | |\n|---|---|---|---|");
  for (const Target& target : targets)
    std::puts(format("| {} | {:.2f} | {} {:.2f} | {} |", target.measure, target.value,
                     target.at_least ? ">=" : "<=", target.bound, target.reached() ? "reached" : "**missed**")
                  .c_str());
}

int run(int argc, char** argv) {
  CLI::App app("What control flow costs on a device: every strategy, the direct chain and the host-polled loop.");
  std::string name;
  std::string shader = WAVEGATE_SPIRV_DIR "/vulkan1.1/body.spv";
  bool quick = false, json = false;
  app.add_option("--device", name, "Device, as for wavegate solve");
  app.add_option("--shader", shader, "The body as compiled GLSL; empty: without");
  app.add_flag("--quick", quick, "A fifth of the iterations, fewer runs");
  app.add_flag("--json", json, "One JSON object: rows, and targets");
  CLI11_PARSE(app, argc, argv);

  const auto fail = [](const Error& error) {
    std::fprintf(stderr, "wavegate-bench-control: %s\n", error.to_string().c_str());
    return 1;
  };
  auto device = open_device(name);
  if (!device) return fail(device.error());
  const target::Profile& profile = (*device)->profile();
  Bench bench(*device, quick, shader);
  if (const auto measured = measure(bench, quick, !shader.empty()); !measured) return fail(measured.error());
  const std::vector<Target> targets = targets_of(bench, quick, profile.is_cpu);
  if (json)
    print_json(bench, targets, profile);
  else
    print_text(bench, targets, profile);
  return 0;
}

}  // namespace
}  // namespace wavegate

int main(int argc, char** argv) {
  return wavegate::run(argc, argv);
}
