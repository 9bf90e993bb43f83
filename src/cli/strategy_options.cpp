#include "wavegate/cli/strategy_options.h"

#include <CLI/App.hpp>
#include <cmath>

#include "wavegate/base/format.h"
#include "wavegate/io/json.h"

namespace wavegate::cli {
namespace {

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const lowering::StrategyInfo& row : lowering::strategies()) all.push_back(row.name);
  return all;
}

Result<lowering::Strategy> parse(const std::string& name) {
  if (const auto strategy = lowering::parse_strategy(name)) return *strategy;
  std::string all;
  for (const std::string_view each : names()) all += format("{}{}", all.empty() ? "" : ", ", each);
  return invalid_input(
      format("--strategy: there is no strategy \"{}\"{}; there are {}", name, io::suggestion(name, names()), all));
}

}  // namespace

void add_strategy_options(CLI::App& command, StrategyArguments& arguments) {
  command
      .add_option("--strategy", arguments.strategies,
                  "How loops and branches run, for all regions or for those of one label; as often as needed (default: "
                  "the cheapest; explain prints it)")
      ->allow_extra_args(false)
      ->option_text("[REGION=]NAME");
  command.add_flag("--host-free", arguments.host_free,
                   "Only strategies with no host between submission and result: one submission");
}

Result<lowering::Options> lowering_options(const StrategyArguments& arguments) {
  lowering::Options options;
  options.host_free = arguments.host_free;
  for (const std::string& text : arguments.strategies) {
    const size_t equals = text.rfind('=');  // a label may hold one, the name of a strategy does not
    if (equals == std::string::npos) {
      WAVEGATE_TRY(const lowering::Strategy strategy, parse(text));
      if (options.strategy)
        return invalid_input(format("--strategy is given twice for all regions: \"{}\" and \"{}\"",
                                    lowering::to_string(*options.strategy), text));
      options.strategy = strategy;
      continue;
    }
    const std::string region = text.substr(0, equals);
    WAVEGATE_TRY(const lowering::Strategy strategy, parse(text.substr(equals + 1)));
    if (!options.region_strategies.emplace(region, strategy).second)
      return invalid_input(format("--strategy is given twice for region \"{}\"", region));
  }
  return options;
}

void add_time_limit(CLI::App& command, std::optional<double>& seconds) {
  command
      .add_option("--time-limit", seconds,
                  "Seconds after which a loop that the host drives ends in an error (default: none); it ends no single "
                  "kernel")
      ->check([](const std::string& text) -> std::string {
        double number = 0;
        const bool is_sound = CLI::detail::lexical_cast(text, number) && std::isfinite(number) && number > 0;
        return is_sound ? "" : format("\"{}\" is not a number of seconds above 0", text);
      })
      ->option_text("SECONDS");
}

}  // namespace wavegate::cli
