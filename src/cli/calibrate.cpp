#include <CLI/App.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "wavegate/api/calibrate.h"
#include "wavegate/api/engine.h"
#include "wavegate/base/format.h"
#include "wavegate/cli/commands.h"
#include "wavegate/cli/json_text.h"

namespace wavegate::cli {
namespace {

struct Arguments {
  std::string device;
  bool json = false;
};

struct Line {
  const char* key;
  const char* meaning;
  double target::Costs::*cost;
};

constexpr Line kLines[] = {
    {"dispatch", "a dispatch that depends on the one before it", &target::Costs::dispatch},
    {"scalar_step", "a kernel of one invocation", &target::Costs::scalar_step},
    {"overlapped", "a dispatch that depends on nothing in flight", &target::Costs::overlapped},
    {"indirect", "a dispatch whose grid was just written", &target::Costs::indirect},
    {"indirect_empty", "the same with an empty grid", &target::Costs::indirect_empty},
    {"workgroup_out", "a workgroup that returns at once", &target::Costs::workgroup_out},
    {"conditional_off", "a dispatch that conditional rendering leaves out", &target::Costs::conditional_off},
    {"resident_step", "a step within a kernel of one workgroup", &target::Costs::resident_step},
    {"resident_invocation", "an invocation of such a step", &target::Costs::resident_invocation},
    {"submission", "a chunk of commands handed to the device", &target::Costs::submission},
    {"round_trip", "submitting, and waiting for the result", &target::Costs::round_trip},
};

Result<Outcome> run_calibrate(const Arguments& arguments) {
  Progress progress;
  WAVEGATE_TRY(const std::shared_ptr<device::Device> device, open_device_or_advise(arguments.device));
  const std::string& name = device->profile().name;
  WAVEGATE_TRY(const target::Costs costs,
               calibrate(*device, [&](std::string_view what) { progress.show(format("{}: {}", name, what)); }));
  keep_costs(device->profile(), costs);
  progress.clear();
  if (arguments.json) {
    nlohmann::ordered_json figures = {{"device", name}};
    for (const Line& line : kLines) figures[line.key] = costs.*line.cost;
    return Outcome{json_text(figures)};
  }
  std::vector<Row> rows = {{"microseconds", "what"}};
  for (const Line& line : kLines) rows.push_back({format("{:.3f}", costs.*line.cost), line.meaning});
  constexpr Align kAlignment[] = {Align::right, Align::left};
  return Outcome{printable(format("{}\n\n", name)) + table(rows, kAlignment)};
}

}  // namespace

void add_calibrate(CLI::App& application, Action& action) {
  CLI::App* command = application.add_subcommand(
      "calibrate", "Measure what commands cost on a device; strategies are chosen by it from then on.");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--device", arguments->device, "Part of a device's name (default: the best Vulkan device)")
      ->option_text("NAME");
  command->add_flag("--json", arguments->json, "Print one object instead of a table");
  command->footer(
      "Takes a few seconds; the device should have nothing else to do. The figures are kept in the user's cache\n"
      "directory, by the name and driver of the device. Without them strategies are chosen by typical ones.\n\n"
      "Examples:\n"
      "  wavegate calibrate\n"
      "  wavegate calibrate --device llvmpipe --json");
  command->callback([arguments, &action] { action = [arguments] { return run_calibrate(*arguments); }; });
}

}  // namespace wavegate::cli
