#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/suite.h"
#include "device/small_devices.h"
#include "lowering/chunk_guards.h"
#include "wavegate/base/format.h"

/// One program, run in every way that there is: what a strategy decides is the cost alone.
namespace wavegate::conformance {

using lowering::Strategy;

/// A device that is lowered for as if it were a GPU: kernels get the forms that pay where latencies are long.
class LikeGpu final : public device::Device {
 public:
  explicit LikeGpu(std::shared_ptr<device::Device> device) : device_(std::move(device)), profile_(device_->profile()) {
    profile_.is_cpu = false;
  }
  const target::Profile& profile() const override { return profile_; }
  const device::Counters& counters() const override { return device_->counters(); }
  Result<std::unique_ptr<device::Executable>> load(std::shared_ptr<const graph::Graph> graph) override {
    return device_->load(std::move(graph));
  }
  Result<std::shared_ptr<device::Buffer>> allocate(uint64_t bytes) override { return device_->allocate(bytes); }

 private:
  std::shared_ptr<device::Device> device_;
  target::Profile profile_;
};

inline CompileOptions forced(Strategy strategy) {
  CompileOptions options;
  options.strategy = strategy;
  return options;
}
inline CompileOptions host_free() {
  CompileOptions options;
  options.host_free = true;
  return options;
}

/// One way to run a program.
struct Way {
  std::string name;
  std::shared_ptr<device::Device> device;
  CompileOptions options;
  bool is_applicable = true;  ///< false: compiling it must be refused
  bool is_small = false;      ///< of a device where the program may not fit, which is then refused
};

/// What cannot run a program, which is part of what a test says.
struct Refused {
  std::set<Strategy> strategies;
  bool host_free = false;
};
inline Refused refused(std::set<Strategy> strategies, bool host_free = false) {
  return {std::move(strategies), host_free};
}

/// By every strategy, and by the default choice, on each device with little of something.
inline void add_small_ways(std::vector<Way>& ways) {
  for (const device::SmallDevice& each : device::kSmallDevices) {
    const auto small = device::small_device(each.name);
    const auto add = [&](std::optional<Strategy> strategy, std::string_view name) {
      CompileOptions options;
      options.costs = target::Costs();
      options.strategy = strategy;
      ways.push_back({format("{}, {}", name, each.name), small, options, true, true});
    };
    for (const lowering::StrategyInfo& row : lowering::strategies()) add(row.strategy, row.name);
    add({}, "default");
  }
}

/// Every strategy; those that decide by the device's kind, as for a GPU; the default choice by the costs of both kinds
/// of device, and without a host.
inline std::vector<Way> every_way(const std::shared_ptr<device::Device>& device, const Refused& refused = {}) {
  std::vector<Way> ways;
  const auto gpu = std::make_shared<LikeGpu>(device);
  for (const lowering::StrategyInfo& row : lowering::strategies()) {
    // What the whole device lacks is no way of any program: lacking_test.cpp.
    if (row.strategy == Strategy::predication && !device->profile().features.conditional_rendering) continue;
    CompileOptions options;
    options.costs = target::Costs::of_cpu();
    options.strategy = row.strategy;
    const bool applies = !refused.strategies.contains(row.strategy);
    ways.push_back({std::string(row.name), device, options, applies});
    const bool has_form =
        row.strategy == Strategy::early_out || row.strategy == Strategy::chunked || row.strategy == Strategy::resident;
    if (has_form && applies) ways.push_back({std::string(row.name) + ", as for a GPU", gpu, options});
  }
  if (!refused.strategies.contains(Strategy::chunked))
    for (const auto& [name, costs] : lowering::chunk_guards(target::Costs::of_cpu())) {
      CompileOptions options = forced(Strategy::chunked);
      options.costs = costs;
      ways.push_back({name, device, options});
    }
  if (!refused.strategies.contains(Strategy::resident)) {
    // A kernel that takes long does some iterations, and another goes on.
    CompileOptions in_parts = forced(Strategy::resident);
    in_parts.costs = target::Costs{.resident_step = 10000, .resident_idle = 1000};
    ways.push_back({"resident, in parts", device, in_parts});
    in_parts.host_free = true;
    if (!refused.host_free) ways.push_back({"resident, in parts, host-free", gpu, in_parts});
  }
  CompileOptions options;
  options.costs = target::Costs::of_cpu();
  ways.push_back({"by the costs of a processor", device, options});
  options.costs = target::Costs();
  ways.push_back({"by the costs of a GPU", gpu, options});
  options.host_free = true;
  ways.push_back({"host-free", device, options, !refused.host_free});
  return ways;
}

/// Runs a check on the program in every way, with a trace that says which. A way that is refused must be refused by
/// name, and any other must compile.
inline void in_every_way(const program::Program& program, const std::shared_ptr<device::Device>& device,
                         const Refused& refused, const std::function<void(Executable&, const Way&)>& check) {
  std::vector<Way> ways = every_way(device, refused);
  if (device->profile().backend == "reference") add_small_ways(ways);
  for (const Way& way : ways) {
    SCOPED_TRACE(way.name);
    Result<Executable> executable = compile(program, way.device, way.options);
    if (!way.is_applicable) {
      if (executable) {
        ADD_FAILURE() << "is not refused";
        continue;
      }
      EXPECT_EQ(executable.error().kind, ErrorKind::unsupported);
      EXPECT_THAT(executable.error().message, testing::HasSubstr(way.name));
      continue;
    }
    if (!executable && way.is_small) {
      EXPECT_EQ(executable.error().kind, ErrorKind::unsupported) << executable.error().to_string();
      continue;
    }
    if (!executable) {
      ADD_FAILURE() << executable.error().to_string();
      continue;
    }
    try {
      check(*executable, way);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}
inline void in_every_way(const program::Program& program, const std::shared_ptr<device::Device>& device,
                         const Refused& refused, const std::function<void(Executable&)>& check) {
  in_every_way(program, device, refused, [&](Executable& executable, const Way&) { check(executable); });
}

/// What a loop reports, for comparison.
inline LoopReport report(Executable& executable, program::Loop loop) {
  return value_of(executable.loop(loop));
}
MATCHER_P2(Reports, trips, reason, "") {
  *result_listener << "which has " << arg.trips << " trips and "
                   << (arg.reason == ExitReason::converged ? "converged" : "reached its bound");
  return arg.trips == trips && arg.reason == reason;
}

// Kernels of the tests.

/// data[i] += amount, for every element.
inline std::shared_ptr<const program::KernelSource> add_kernel() {
  static const auto kernel = [] {
    kir::Builder b("add", {64});
    auto data = b.buffer("data", kir::Type::i32, kir::Access::read_write);
    auto amount = b.parameter("amount", kir::Type::i32);
    auto i = b.global_id();
    b.if_(i < data.length(), [&] { data[i] = data[i] + amount; });
    return source(b.finish());
  }();
  return kernel;
}

/// data[i] = data[i] * 10 + digit, for every element: the order of such commands shows in the result.
inline std::shared_ptr<const program::KernelSource> digit_kernel() {
  static const auto kernel = [] {
    kir::Builder b("digit", {64});
    auto data = b.buffer("data", kir::Type::i32, kir::Access::read_write);
    auto digit = b.parameter("digit", kir::Type::i32);
    auto i = b.global_id();
    b.if_(i < data.length(), [&] { data[i] = data[i] * 10 + digit; });
    return source(b.finish());
  }();
  return kernel;
}

inline program::Grid grid_of(const program::Program& program, program::Buffer data) {
  return program::grid_for({static_cast<uint32_t>(program.info(data).count), 1, 1}, {64, 1, 1});
}
inline void add(program::Program& program, program::Buffer data,
                std::variant<program::Literal, program::Scalar> amount) {
  program.dispatch({.label = "add",
                    .kernel = add_kernel(),
                    .bindings = {data},
                    .parameters = {amount},
                    .grid = grid_of(program, data)});
}
inline void add(program::Program& program, program::Buffer data, uint32_t amount) {
  add(program, data, program::literal(amount));
}
inline void digit(program::Program& program, program::Buffer data,
                  std::variant<program::Literal, program::Scalar> which) {
  program.dispatch({.label = "digit",
                    .kernel = digit_kernel(),
                    .bindings = {data},
                    .parameters = {which},
                    .grid = grid_of(program, data)});
}
inline void digit(program::Program& program, program::Buffer data, uint32_t which) {
  digit(program, data, program::literal(which));
}

}  // namespace wavegate::conformance
