#include <CLI/App.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "wavegate/api/engine.h"
#include "wavegate/base/format.h"
#include "wavegate/cli/commands.h"
#include "wavegate/cli/json_text.h"

namespace wavegate::cli {
namespace {

/// Not every API tells how much memory there is.
bool is_known(uint64_t memory_bytes) {
  return memory_bytes != std::numeric_limits<uint64_t>::max();
}

std::string json_of(const std::vector<target::Profile>& profiles) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const target::Profile& profile : profiles)
    list.push_back(
        {{"name", profile.name},
         {"backend", profile.backend},
         {"subgroup_size", profile.subgroup_size},
         {"memory_bytes", is_known(profile.limits.memory_bytes) ? nlohmann::ordered_json(profile.limits.memory_bytes)
                                                                : nlohmann::ordered_json(nullptr)},
         {"features", target::feature_names(profile)}});
  return json_text(list);
}

std::string text_of(const std::vector<target::Profile>& profiles) {
  std::vector<Row> rows = {{"name", "backend", "subgroup", "memory", "features"}};
  for (const target::Profile& profile : profiles) {
    std::string features;
    for (const std::string& name : target::feature_names(profile))
      features += format("{}{}", features.empty() ? "" : " ", name);
    rows.push_back({profile.name, profile.backend, std::to_string(profile.subgroup_size),
                    is_known(profile.limits.memory_bytes) ? bytes_text(profile.limits.memory_bytes) : "unknown",
                    features});
  }
  constexpr Align kAlignment[] = {Align::left, Align::left, Align::right, Align::right};
  return table(rows, kAlignment);
}

Result<Outcome> list(bool json) {
  std::string why_not;
  const std::vector<target::Profile> profiles = list_devices(&why_not);
  if (!why_not.empty()) print_note(format("left out: {}", why_not));
  return Outcome{json ? json_of(profiles) : text_of(profiles)};
}

}  // namespace

void add_devices(CLI::App& application, Action& action) {
  CLI::App* command = application.add_subcommand("devices", "List the devices of this machine, the best first.");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print a list of objects instead of a table");
  command->footer(
      "Any part of a name can be given to --device of the other commands. The reference device is always there: it\n"
      "interprets kernels on the CPU, checks every access, and is slow.\n\n"
      "Examples:\n"
      "  wavegate devices\n"
      "  wavegate devices --json | jq '.[].name'");
  command->callback([json, &action] { action = [json] { return list(*json); }; });
}

}  // namespace wavegate::cli
