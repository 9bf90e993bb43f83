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

Result<Outcome> run_calibrate(const Arguments& arguments) {
  Progress progress;
  WAVEGATE_TRY(const std::shared_ptr<device::Device> device, open_device_or_advise(arguments.device));
  const std::string& name = device->profile().name;
  WAVEGATE_TRY(const target::Costs costs,
               calibrate(*device, [&](std::string_view what) { progress.show(format("{}: {}", name, what)); }));
  keep_costs(device->profile(), costs);
  const bool kept = calibrated_costs(device->profile()).has_value();
  const int exit_code = kept ? 0 : kFailed;
  progress.clear();
  if (arguments.json) {
    nlohmann::ordered_json figures = {{"device", name}, {"kept", kept}};
    for (const target::CostInfo& info : target::cost_table()) figures[std::string(info.key)] = costs.*info.cost;
    return Outcome{json_text(figures), exit_code};
  }
  std::vector<Row> rows = {{"microseconds", "what"}};
  for (const target::CostInfo& info : target::cost_table())
    rows.push_back({format("{:.3f}", costs.*info.cost), std::string(info.meaning)});
  constexpr Align kAlignment[] = {Align::right, Align::left};
  const std::string not_kept =
      "\nThese figures are not kept, and strategies are chosen without them: the user's cache directory\n"
      "($XDG_CACHE_HOME, else $HOME/.cache) cannot be written.\n";
  return Outcome{printable(format("{}\n\n", name)) + table(rows, kAlignment) + (kept ? "" : not_kept), exit_code};
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
