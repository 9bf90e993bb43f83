#include "wavegate/web/compile_options.h"

#include <string>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/io/json.h"
#include "wavegate/lowering/strategy.h"

namespace wavegate::web {
namespace {

Result<lowering::Strategy> parse_strategy(const io::JsonView& view) {
  WAVEGATE_TRY(const std::string name, view.text());
  if (const auto strategy = lowering::parse_strategy(name)) return *strategy;
  std::vector<std::string_view> names;
  std::string all;
  for (const lowering::StrategyInfo& row : lowering::strategies()) {
    names.push_back(row.name);
    all += format("{}{}", all.empty() ? "" : ", ", row.name);
  }
  return view.error(format("there is no strategy \"{}\"{}; there are {}", name, io::suggestion(name, names), all));
}

}  // namespace

Result<CompileOptions> parse_compile_options(std::string_view json) {
  WAVEGATE_TRY(const io::JsonValue document, io::parse_json(json));
  const io::JsonView view(document, "");
  WAVEGATE_CHECK(view.check_keys({"strategy", "strategies", "hostFree"}));
  CompileOptions options;
  if (const auto strategy = view.find("strategy")) {
    WAVEGATE_TRY(options.strategy, parse_strategy(*strategy));
  }
  if (const auto strategies = view.find("strategies")) {
    WAVEGATE_TRY(const auto regions, strategies->members());
    for (const auto& [region, name] : regions) {
      WAVEGATE_TRY(const lowering::Strategy strategy, parse_strategy(name));
      options.region_strategies.emplace(region, strategy);
    }
  }
  if (const auto host_free = view.find("hostFree")) {
    WAVEGATE_TRY(options.host_free, host_free->boolean());
  }
  return options;
}

}  // namespace wavegate::web
