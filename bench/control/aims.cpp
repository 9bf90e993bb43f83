#include "aims.h"

#include <algorithm>
#include <limits>

#include "wavegate/base/format.h"

namespace wavegate::bench {
namespace {

constexpr uint32_t kWide = 256;  ///< workgroups of a dispatch, too many for one workgroup to do their work
constexpr double kNone = 0;      ///< nothing is aimed at

/// So many iterations needed in a bound of a hundred times as many, or in none; and the ratio to a bound of as many.
struct FarBound {
  uint32_t needed;
  double ratio;
};

/// What is aimed at on a kind of device, in ratios; what `gate` and the host's loop take over the default are at least
/// that, all others at most.
struct Aims {
  double one_kernel;    ///< default / direct, at the full trip
  double many_kernels;  ///< the same, of 4 and 8
  std::vector<FarBound> far_bounds;
  double gate;                      ///< at the full trip, of 4 and 8 kernels
  double gate_early;                ///< at an exit at 1 %
  double page_gate;                 ///< `gate` as a page pays for it, at the full trip
  double host;                      ///< of 1 kernel
  double host_many;                 ///< of 4 and 8
  double resident;                  ///< resident / direct, where one workgroup does all
  double few = kNone;               ///< 10 needed of 10,000 / (3 x direct + one wait of the host's loop)
  double few_microseconds = kNone;  ///< the same, a run
};

Aims aims_of(const target::Profile& profile, bool quick) {
  Aims aims = {};
  if (profile.backend == "webgpu") {
    aims = {.one_kernel = kNone,
            .many_kernels = 1.10,
            .far_bounds = {{1000, 1.25}, {20000, 1.05}},
            .gate = kNone,
            .gate_early = kNone,
            .page_gate = profile.is_cpu ? kNone : 20,
            .host = profile.is_cpu ? 1.0 : 3.0,
            .host_many = profile.is_cpu ? 1.0 : 3.0,
            .resident = kNone};
  } else if (profile.is_cpu) {
    aims = {.one_kernel = 1.2,
            .many_kernels = 1.10,
            .far_bounds = {{1000, 1.10}, {10000, 1.03}},
            .gate = 1.3,
            .gate_early = 20,
            .page_gate = kNone,
            .host = 1.0,
            .host_many = kNone,
            .resident = 0.2,
            .few = 1.0};
  } else {
    aims = {.one_kernel = 1.25,
            .many_kernels = 1.10,
            .far_bounds = {{1000, 1.15}, {10000, 1.03}},
            .gate = 1.8,
            .gate_early = 20,
            .page_gate = kNone,
            .host = 8,
            .host_many = kNone,
            .resident = 0.3,
            .few_microseconds = 150};
  }
  if (quick) aims.far_bounds = {{200, aims.far_bounds.front().ratio}};
  return aims;
}

uint32_t full_trip(const Bench& bench) {
  return bench.settings().quick ? 200 : 1000;
}

Case with(std::string_view strategy, Case what) {
  what.strategy = strategy;
  return what;
}

std::vector<Case> with_each(const std::vector<std::string>& strategies, const Case& what) {
  std::vector<Case> cases;
  for (const std::string& strategy : strategies) cases.push_back(with(strategy, what));
  return cases;
}

std::vector<std::string> all_strategies() {
  std::vector<std::string> names = {std::string(kDefault)};
  for (const lowering::StrategyInfo& info : lowering::strategies())
    if (info.strategy != lowering::Strategy::unroll) names.emplace_back(info.name);
  return names;
}

Case full(uint32_t kernels, uint32_t trip, uint32_t workgroups) {
  return {.kernels = kernels, .bound = trip, .needed = trip, .workgroups = workgroups};
}
Case few(uint32_t workgroups) {
  return {.kernels = 1, .bound = 10000, .needed = 10, .workgroups = workgroups};
}
Case far(std::optional<uint32_t> bound, uint32_t needed, uint32_t workgroups) {
  return {.strategy = std::string(kDefault), .kernels = 1, .bound = bound, .needed = needed, .workgroups = workgroups};
}
/// The bound that counts as equal is one more, so that the predicate ends the loop there, too.
Case near(uint32_t needed, uint32_t workgroups) {
  return far(needed + 1, needed, workgroups);
}

Result<void> measure_width(Bench& bench, uint32_t workgroups) {
  const uint32_t trip = full_trip(bench);
  const std::vector<std::string> loops = all_strategies();
  for (const uint32_t kernels : {1u, 4u, 8u}) {
    const Case what = full(kernels, trip, workgroups);
    std::vector<Case> cases = with_each(loops, what);
    cases.push_back(with(kHostPolled, what));
    if (bench.settings().as_a_page)
      for (const std::string_view strategy : {kDefault, std::string_view("gate")}) {
        cases.push_back(with(strategy, what));
        cases.back().as_a_page = true;
      }
    WAVEGATE_CHECK(bench.group(std::move(cases)));
  }
  for (const uint32_t share : {100u, 10u, 2u})
    for (const uint32_t kernels : {1u, 8u}) {
      Case what = full(kernels, trip, workgroups);
      what.needed /= share;
      WAVEGATE_CHECK(bench.group(with_each(loops, what)));
    }
  for (const uint32_t nesting : {2u, 3u, 4u}) {
    Case what = full(1, trip, workgroups);
    what.nesting = nesting;
    WAVEGATE_CHECK(bench.group(with_each(loops, what)));
  }
  for (const FarBound& each : aims_of(bench.settings().device->profile(), bench.settings().quick).far_bounds)
    WAVEGATE_CHECK(bench.group({near(each.needed, workgroups), far(each.needed * 100, each.needed, workgroups),
                                far(std::nullopt, each.needed, workgroups)}));
  return bench.group({with(kDefault, few(workgroups)), with(kHostPolled, few(workgroups))});
}

}  // namespace

Result<void> measure(Bench& bench) {
  for (const uint32_t workgroups : {1u, kWide}) WAVEGATE_CHECK(measure_width(bench, workgroups));
  if (bench.settings().shader.empty()) return {};
  Case own = full(8, full_trip(bench), 1);
  own.opaque = true;
  return bench.group(with_each({std::string(kDefault), "gate", "fused-gate", "early-out"}, own));
}

std::vector<Target> targets_of(const Bench& bench) {
  const Aims aims = aims_of(bench.settings().device->profile(), bench.settings().quick);
  const uint32_t trip = full_trip(bench);
  std::vector<Target> targets;
  const auto add = [&](std::string measure, const Row* over, const Row* under, double bound, bool at_least) {
    if (over != nullptr && under != nullptr && bound != kNone)
      targets.push_back({std::move(measure), over->microseconds / under->microseconds, bound, at_least});
  };
  for (const uint32_t workgroups : {1u, kWide}) {
    const std::string wide = format(", {} workgroup{}", workgroups, workgroups > 1 ? "s" : "");
    const auto find = [&](std::string_view strategy, Case what) { return bench.find(with(strategy, std::move(what))); };
    const auto at_full = [&](std::string_view strategy, uint32_t kernels) {
      return find(strategy, full(kernels, trip, workgroups));
    };
    for (const uint32_t kernels : {1u, 4u, 8u})
      add(format("default / direct, full trip, {} kernels{}", kernels, wide), at_full(kDefault, kernels),
          at_full(kDirect, kernels), kernels > 1 ? aims.many_kernels : aims.one_kernel, false);
    for (const auto& [needed, ratio] : aims.far_bounds) {
      const Row* exact = bench.find(near(needed, workgroups));
      add(format("bound 100 x needed / bound = needed, {} needed{}", needed, wide),
          bench.find(far(needed * 100, needed, workgroups)), exact, ratio, false);
      add(format("no bound / bound = needed, {} needed{}", needed, wide),
          bench.find(far(std::nullopt, needed, workgroups)), exact, ratio, false);
    }
    const Row* little = find(kDefault, few(workgroups));
    Case ten = few(workgroups);
    ten.bound = ten.needed;
    const Row* direct = find(kDirect, ten);
    const Row* polled = find(kHostPolled, few(workgroups));
    if (little != nullptr && aims.few_microseconds != kNone)
      targets.push_back({format("10 needed of 10,000, us a run{}", wide), little->microseconds, aims.few_microseconds});
    if (little != nullptr && direct != nullptr && polled != nullptr && aims.few != kNone)
      targets.push_back({format("10 needed of 10,000 / (3 x direct + one host wait){}", wide),
                         little->microseconds / (3 * direct->microseconds + polled->microseconds / 10), aims.few});
    for (const uint32_t kernels : {4u, 8u})
      add(format("gate / default, full trip, {} kernels{}", kernels, wide), at_full("gate", kernels),
          at_full(kDefault, kernels), aims.gate, true);
    for (const uint32_t kernels : {1u, 8u}) {
      Case early = full(kernels, trip, workgroups);
      early.needed /= 100;
      add(format("gate / default, exit at 1 %, {} kernels{}", kernels, wide), find("gate", early),
          find(kDefault, early), aims.gate_early, true);
    }
    for (const uint32_t kernels : {1u, 4u, 8u}) {
      Case page = full(kernels, trip, workgroups);
      page.as_a_page = true;
      add(format("gate as a page pays / default, full trip, {} kernels{}", kernels, wide), find("gate", page),
          at_full(kDefault, kernels), aims.page_gate, true);
      add(format("host-polled / default, {} kernels{}", kernels, wide), at_full(kHostPolled, kernels),
          at_full(kDefault, kernels), kernels > 1 ? aims.host_many : aims.host, true);
    }
    if (workgroups > 1) continue;
    for (const uint32_t kernels : {1u, 8u})
      add(format("resident / direct, {} kernels", kernels), at_full("resident", kernels), at_full(kDirect, kernels),
          aims.resident, false);
  }
  return targets;
}

}  // namespace wavegate::bench
