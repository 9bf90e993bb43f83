#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "wavegate/api/calibrate.h"
#include "wavegate/device/webgpu/device.h"
#include "wavegate/graph/graph.h"
#include "wavegate/web/calibration.h"

namespace wavegate::web {
namespace {

double now() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Microseconds that a graph's runs may take together before they are thought enough: a software device is slow.
constexpr double kEnough = 150'000;

/// Asks for all graphs first, runs them one after the other, and then tells what they took.
struct Calibrating : std::enable_shared_from_this<Calibrating> {
  std::shared_ptr<device::Device> device;
  std::function<void(Result<target::Costs>)> done;
  std::vector<std::shared_ptr<const graph::Graph>> graphs = {};
  std::vector<double> times = {};
  std::unique_ptr<device::Executable> executable = {};
  int runs = 0;      ///< of the executable, that ended
  double spent = 0;  ///< on them
  double started = 0;

  Calibrating(std::shared_ptr<device::Device> on, std::function<void(Result<target::Costs>)> then)
      : device(std::move(on)), done(std::move(then)) {}

  Result<void> collect() {
    const auto note = [this](const graph::Graph& graph) -> Result<double> {
      graphs.push_back(std::make_shared<const graph::Graph>(graph));
      return 0.0;
    };
    if (const auto costs = calibrate(device->profile(), note); !costs) return costs.error();
    return {};
  }

  Result<void> load() {
    WAVEGATE_TRY(executable, device->load(graphs[times.size()]));
    runs = 0;
    spent = 0;
    return run();
  }

  Result<void> run() {
    started = now();
    WAVEGATE_CHECK(executable->submit());
    return device::webgpu::when_done(*executable, [self = shared_from_this()](const Result<void>& ended) {
      if (const Result<void> going = ended ? self->go_on() : ended; !going) self->done(going.error());
    });
  }

  Result<void> go_on() {
    const double taken = now() - started;
    if (runs == 1) times.push_back(taken);
    if (runs > 1) times.back() = std::min(times.back(), taken);
    spent += taken;
    const bool is_enough = runs > 0 && spent > kEnough;
    if (runs++ < kCalibrationRuns && !is_enough) return run();
    if (times.size() < graphs.size()) return load();
    return finish();
  }

  Result<void> finish() {
    size_t told = 0;
    const auto tell = [&](const graph::Graph&) -> Result<double> { return times[told++]; };
    WAVEGATE_TRY(const target::Costs costs, calibrate(device->profile(), tell));
    keep_costs(device->profile(), costs);
    done(costs);
    return {};
  }
};

}  // namespace

void calibrate_later(std::shared_ptr<device::Device> device, std::function<void(Result<target::Costs>)> done) {
  auto calibrating = std::make_shared<Calibrating>(std::move(device), std::move(done));
  Result<void> started = calibrating->collect();
  if (started) started = calibrating->load();
  if (!started) calibrating->done(started.error());
}

}  // namespace wavegate::web
