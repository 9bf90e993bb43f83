#include "bench.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "wavegate/base/format.h"

namespace wavegate::bench {
namespace {

/// A group of cases that takes longer than this is run no more than so often, after the run that warms up.
constexpr std::chrono::seconds kPatience{30};
constexpr uint32_t kFewestRuns = 5;

/// A case that is compiled, and its times so far.
struct Running {
  Row row;
  Chain chain;
  std::optional<Executable> executable = {};
  std::vector<double> times = {};
};

Result<void> run_once(Running& running) {
  Executable& executable = *running.executable;
  const Case& what = running.row.what;
  WAVEGATE_CHECK(executable.set(running.chain.iterations, program::literal(0u)));
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

Result<Running> prepare(const Case& what, const Settings& settings) {
  const std::shared_ptr<device::Device>& device = what.as_a_page ? settings.as_a_page : settings.device;
  WAVEGATE_TRY(const Kernel kernel,
               what.opaque ? opaque_kernel(settings.shader, device->profile().backend) : body_kernel());
  Running made{Row{what, {}, 0, 0, {}}, Chain(kernel, what)};
  CompileOptions options;
  options.strategy = what.strategy == kDirect ? lowering::Strategy::unroll : lowering::parse_strategy(what.strategy);
  Result<Executable> compiled = compile(made.chain.program, device, options);
  if (!compiled) {
    if (compiled.error().kind != ErrorKind::unsupported) return compiled.error();
    made.row.refused = compiled.error().message;
    return made;
  }
  made.executable.emplace(std::move(*compiled));
  const auto& regions = made.executable->plan().regions;
  if (!regions.empty()) made.row.chosen = lowering::to_string(regions.back().strategy);
  return made;
}

double median(std::vector<double> times) {
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

/// Each turn starts with the next case, and every second goes backwards: no case always follows the same one, which may
/// leave the device's clocks and caches as no other does.
std::vector<Running*> in_turn(std::vector<Running>& all, uint32_t run) {
  std::vector<Running*> order;
  const size_t step = run % 2 == 0 ? 1 : all.size() - 1;
  for (size_t i = 0; i < all.size(); ++i) order.push_back(&all[(run + i * step) % all.size()]);
  return order;
}

void show_progress(const Case& what, uint32_t run, uint32_t runs) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r\x1b[K%s",
               format("{} kernels of {} workgroups, nesting {}, {} iterations: run {} of {}\r", what.kernels,
                      what.workgroups, what.nesting, what.needed, run, runs)
                   .c_str());
}

}  // namespace

Result<void> Bench::group(std::vector<Case> cases) {
  Case direct = cases.front();
  direct.strategy = kDirect;
  direct.bound = direct.needed;
  direct.as_a_page = false;
  cases.insert(cases.begin(), direct);
  std::vector<Running> all;
  for (const Case& what : cases) {
    WAVEGATE_TRY(Running made, prepare(what, settings_));
    all.push_back(std::move(made));
  }
  const uint32_t runs = settings_.quick ? kFewestRuns : 15;
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t run = 0; run <= runs; ++run) {
    if (run > kFewestRuns && std::chrono::steady_clock::now() - start > kPatience) break;
    show_progress(cases.front(), run, runs);
    for (Running* each : in_turn(all, run))
      if (each->executable) WAVEGATE_CHECK(run_once(*each));
  }
  for (Running& each : all) {
    if (!each.times.empty()) {
      each.times.erase(each.times.begin());  // the first warms up
      each.row.microseconds = median(each.times);
      each.row.ratio_to_direct = each.row.microseconds / all.front().row.microseconds;
    }
    rows_.push_back(std::move(each.row));
  }
  return {};
}

const Row* Bench::find(const Case& what) const {
  const auto row =
      std::ranges::find_if(rows_, [&](const Row& each) { return each.what == what && each.refused.empty(); });
  return row == rows_.end() ? nullptr : &*row;
}

}  // namespace wavegate::bench
