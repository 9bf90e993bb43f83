#include <CLI/App.hpp>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "wavegate/api/calibrate.h"
#include "wavegate/api/engine.h"
#include "wavegate/base/format.h"
#include "wavegate/cli/commands.h"
#include "wavegate/cli/json_text.h"
#include "wavegate/cli/strategy_options.h"
#include "wavegate/graph/print.h"
#include "wavegate/io/program_file.h"
#include "wavegate/lowering/lower.h"

namespace wavegate::cli {
namespace {

struct Arguments {
  std::string program;
  std::string device;
  StrategyArguments strategy;
  bool dot = false;
  bool json = false;
};

std::string regions_text(const lowering::Plan& plan) {
  if (plan.regions.empty()) return "no regions: the program is straight-line\n";
  std::vector<Row> rows = {{"region", "strategy", "us", "us if not", "reason"}};
  for (const lowering::RegionReport& region : plan.regions)
    rows.push_back({std::string(size_t{region.depth} * 2, ' ') + region.label,
                    std::string(lowering::to_string(region.strategy)), format("{:.1f}", region.microseconds),
                    format("{:.1f}", region.dead_microseconds), region.reason});
  constexpr Align kAlignment[] = {Align::left, Align::left, Align::right, Align::right, Align::left};
  std::string notes;
  for (const std::string& note : plan.notes) notes += note + "\n";
  return table(rows, kAlignment) + notes +
         "us: estimate of an iteration of a loop, or of a branch that is taken; us if not: of an iteration after the\n"
         "loop is done, or of a branch that is not taken\n";
}

/// Every line as a comment of Graphviz's language, so that the output is still a graph for it.
std::string commented(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    result += format("// {}\n", line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return result;
}

/// The name of a device and who chose it, as a half-sentence; nothing where the user did with --device.
struct Choice {
  std::string device;
  std::string_view by;
};

/// The reference device is there on every machine, so that explaining needs no GPU unless one is named.
Choice choose_device(const Arguments& arguments) {
  if (!arguments.device.empty()) return {arguments.device, ""};
  const char* variable = std::getenv("WAVEGATE_DEVICE");
  if (variable != nullptr && *variable != '\0') return {variable, "; named by WAVEGATE_DEVICE"};
  return {"reference", "; name another with --device"};
}

Result<Outcome> explain(const Arguments& arguments) {
  const Result<lowering::Options> options = lowering_options(arguments.strategy);
  if (!options.ok()) {
    print_error(options.error().to_string());
    return Outcome{{}, kUsageError};
  }
  WAVEGATE_TRY(const program::Program program, io::load_program(arguments.program));
  const Choice choice = choose_device(arguments);
  WAVEGATE_TRY(const auto device, open_device_or_advise(choice.device));
  const target::Profile& profile = device->profile();
  lowering::Options complete = *options;
  complete.costs = calibrated_costs(profile);
  WAVEGATE_TRY(const lowering::Plan plan, within(arguments.program, lowering::lower(program, profile, complete)));
  const std::string graph = arguments.dot ? graph::print_dot(*plan.graph) : graph::print(*plan.graph);

  if (arguments.json) {
    nlohmann::ordered_json regions = nlohmann::ordered_json::array();
    for (const lowering::RegionReport& region : plan.regions)
      regions.push_back(nlohmann::ordered_json{{"depth", region.depth},
                                               {"label", region.label},
                                               {"strategy", lowering::to_string(region.strategy)},
                                               {"reason", region.reason},
                                               {"microseconds", region.microseconds},
                                               {"microseconds_if_not", region.dead_microseconds}});
    return Outcome{json_text({{"program", program.name()},
                              {"device", profile.name},
                              {"backend", profile.backend},
                              {"regions", regions},
                              {"notes", plan.notes},
                              {arguments.dot ? "dot" : "graph", graph}})};
  }
  const std::string head = printable(format("program \"{}\" as lowered for the profile of \"{}\" ({}){}\n",
                                            program.name(), profile.name, profile.backend, choice.by));
  const std::string regions = regions_text(plan);
  if (arguments.dot) return Outcome{commented(head + regions) + printable(graph)};
  return Outcome{format("{}\n{}\n{}", head, regions, printable(graph))};
}

}  // namespace

void add_explain(CLI::App& application, Action& action) {
  CLI::App* command = application.add_subcommand(
      "explain", "Show how a program is lowered: each region's strategy and its reason, then the command graph.");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("program", arguments->program, "The program, described in docs/program-file.md")
      ->required()
      ->option_text("PROGRAM.json");
  command->add_flag("--dot", arguments->dot,
                    "Print the command graph in Graphviz's language, the rest as its comments");
  command
      ->add_option("--device", arguments->device,
                   "Part of a device's name (default: WAVEGATE_DEVICE, else the reference device, which needs no GPU)")
      ->option_text("NAME");
  add_strategy_options(*command, arguments->strategy);
  command->add_flag("--json", arguments->json, "Print one object instead of text");
  command->footer(
      "Examples:\n"
      "  wavegate explain heat.json\n"
      "  wavegate explain heat.json --device vulkan --strategy fused-gate\n"
      "  wavegate explain heat.json --dot | dot -Tsvg > heat.svg");
  command->callback([arguments, &action] { action = [arguments] { return explain(*arguments); }; });
}

}  // namespace wavegate::cli
