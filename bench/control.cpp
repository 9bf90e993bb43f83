// wavegate-bench-control: what control flow costs, in one run and one table.
//
// One dependent chain: a body of 1, 4 or 8 kernels of 64 invocations, each of which reads and writes what the one
// before wrote. The same chain is run as
//   direct       spelled out with no predicate: the floor, in the same submission shape
//   gate         a while loop by the gate strategy, its predicate true to the end
//   gate, 1 %    the same loop, its predicate false after one iteration in a hundred
//   host-polled  a loop on the host: submit, wait and read the predicate back, every iteration
// Every figure is the median of the runs, in microseconds an iteration of the bound.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
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

constexpr uint32_t kInvocations = 64;

struct Case {
  std::string strategy;
  uint32_t kernels = 1;  ///< dispatches in the body
  uint32_t bound = 0;    ///< iterations that the loop may run
  uint32_t needed = 0;   ///< iterations until the predicate is false
};

/// One row of the table.
struct Row {
  Case what;
  double microseconds = 0;  ///< an iteration of the bound, median
  double ratio_to_direct = 0;
};

Result<std::shared_ptr<const program::KernelSource>> body_kernel() {
  Builder b("body", {kInvocations});
  auto state = b.buffer("state", Type::i32, Access::read_write);
  const Expr i = b.global_id();
  state[i] = static_cast<Expr>(state[i]) * 1664525u + 1013904223u;
  WAVEGATE_TRY(kir::Kernel kernel, b.finish());
  return program::make_kernel_source(std::move(kernel));
}

/// The chain as a program. `needed` is a launch parameter, so that the predicate is the device's business.
struct Chain {
  Program program{"chain"};
  Scalar active, iteration, needed;
  std::optional<program::Loop> loop;  ///< none: the loop is the host's

  Chain(const std::shared_ptr<const program::KernelSource>& kernel, const Case& what) {
    const Buffer state = program.buffer("state", Type::i32, kInvocations, Initial::repeated(1u));
    active = program.scalar_u32("active", 1);
    iteration = program.scalar_u32("iteration", 0);
    needed = program.parameter("needed", literal(what.needed));
    const auto body = [&] {
      for (uint32_t k = 0; k < what.kernels; ++k)
        program.dispatch({"body", kernel, {state}, {}, program::Grid{1, 1, 1}, {}});
    };
    const auto counted_body = [&] {
      body();
      program.assign(iteration, iteration + 1);
      program.assign(active, iteration < needed);
    };
    if (what.strategy == "host-polled") {
      counted_body();
      return;
    }
    program.assign(iteration, literal(0u));
    program.assign(active, literal(1u));
    const uint32_t min = what.strategy == "direct" ? what.bound : 0;
    loop = program.while_(active, {.min = min, .max = what.bound}, counted_body, "chain");
  }
};

/// A loop that stops too early, or too late, must not be timed as if it had done its work.
Result<void> check_iterations(Executable& executable, const Chain& chain, const Case& what) {
  const auto expect = [&](std::string_view counted, uint32_t iterations) -> Result<void> {
    if (iterations == what.needed) return {};
    return internal_error(format("{} of {} kernels: {} say {} iterations where {} are needed", what.strategy,
                                 what.kernels, counted, iterations, what.needed));
  };
  WAVEGATE_TRY(const uint32_t iterations, executable.read_bits(chain.iteration));
  WAVEGATE_CHECK(expect("the assigns", iterations));
  if (!chain.loop) return {};
  WAVEGATE_TRY(const LoopReport report, executable.loop(*chain.loop));
  return expect("the loop's trips", report.trips);
}

Result<double> median_microseconds(const Case& what, uint32_t runs, const std::shared_ptr<device::Device>& device) {
  WAVEGATE_TRY(const auto kernel, body_kernel());
  const Chain chain(kernel, what);
  WAVEGATE_TRY(Executable executable, compile(chain.program, device));
  std::vector<double> times;
  for (uint32_t run = 0; run <= runs; ++run) {  // the first warms up
    WAVEGATE_CHECK(executable.set(chain.iteration, literal(0u)));
    const auto start = std::chrono::steady_clock::now();
    if (what.strategy == "host-polled") {
      for (uint32_t active = 1; active != 0;) {
        WAVEGATE_CHECK(executable.run());
        WAVEGATE_TRY(active, executable.read_bits(chain.active));
      }
    } else {
      WAVEGATE_CHECK(executable.run());
    }
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
    WAVEGATE_CHECK(check_iterations(executable, chain, what));
    if (run > 0) times.push_back(elapsed.count());
  }
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2] / what.bound;
}

Result<std::vector<Row>> measure(bool quick, const std::shared_ptr<device::Device>& device) {
  const uint32_t bound = quick ? 100 : 1000;
  const uint32_t runs = quick ? 3 : 9;
  std::vector<Row> rows;
  for (const uint32_t kernels : {1u, 4u, 8u}) {
    double direct = 0;
    for (const Case& what : {Case{"direct", kernels, bound, bound}, Case{"gate", kernels, bound, bound},
                             Case{"gate", kernels, bound, bound / 100}, Case{"host-polled", kernels, bound, bound}}) {
      WAVEGATE_TRY(const double microseconds, median_microseconds(what, runs, device));
      if (what.strategy == "direct") direct = microseconds;
      rows.push_back({what, microseconds, microseconds / direct});
    }
  }
  return rows;
}

void print(const std::vector<Row>& rows, const target::Profile& profile, bool json) {
  if (json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Row& row : rows)
      list.push_back({{"device", profile.name},
                      {"strategy", row.what.strategy},
                      {"kernels", row.what.kernels},
                      {"bound", row.what.bound},
                      {"needed", row.what.needed},
                      {"microseconds_per_iteration", row.microseconds},
                      {"ratio_to_direct", row.ratio_to_direct}});
    std::puts(list.dump(2).c_str());
    return;
  }
  std::puts(format("{}\n{:<12} {:>7} {:>6} {:>6} {:>13} {:>9}", profile.name, "strategy", "kernels", "bound", "needed",
                   "us/iteration", "/direct")
                .c_str());
  for (const Row& row : rows)
    std::puts(format("{:<12} {:>7} {:>6} {:>6} {:>13.2f} {:>9.2f}", row.what.strategy, row.what.kernels, row.what.bound,
                     row.what.needed, row.microseconds, row.ratio_to_direct)
                  .c_str());
}

int run(int argc, char** argv) {
  CLI::App app("What control flow costs on a device: the direct chain, the gated loop and the host-polled loop.");
  std::string name;
  bool quick = false, json = false;
  app.add_option("--device", name, "Device, as for wavegate solve");
  app.add_flag("--quick", quick, "A tenth of the iterations, fewer runs");
  app.add_flag("--json", json, "One JSON list, one object a row");
  CLI11_PARSE(app, argc, argv);

  const auto fail = [](const Error& error) {
    std::fprintf(stderr, "wavegate-bench-control: %s\n", error.to_string().c_str());
    return 1;
  };
  auto device = open_device(name);
  if (!device) return fail(device.error());
  auto rows = measure(quick, *device);
  if (!rows) return fail(rows.error());
  print(*rows, (*device)->profile(), json);
  return 0;
}

}  // namespace
}  // namespace wavegate

int main(int argc, char** argv) {
  return wavegate::run(argc, argv);
}
