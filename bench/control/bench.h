#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chain.h"

namespace wavegate::bench {

struct Row {
  Case what;
  std::string chosen;       ///< the strategy of the innermost loop
  double microseconds = 0;  ///< a run, median
  double ratio_to_direct = 0;
  std::string refused;  ///< why the strategy does not apply; then nothing else holds
  double per_iteration() const { return microseconds / what.needed; }
};

struct Settings {
  std::shared_ptr<device::Device> device;
  std::shared_ptr<device::Device> as_a_page = {};  ///< null where no cases ask for it
  bool quick = false;                              ///< fewer runs
  std::string shader = {};                         ///< path of the body as a shader of the user's own
};

/// Runs groups of cases, and keeps their rows.
class Bench {
 public:
  explicit Bench(Settings settings) : settings_(std::move(settings)) {}

  const Settings& settings() const { return settings_; }

  /// Runs cases that differ in nothing but the strategy, the bound and whether they run as a page, in turns; the direct
  /// chain, which is added, first.
  Result<void> group(std::vector<Case> cases);

  const std::vector<Row>& rows() const { return rows_; }

  /// The row of a case; nothing where it was refused or not run.
  const Row* find(const Case& what) const;

 private:
  std::vector<Row> rows_;
  const Settings settings_;
};

}  // namespace wavegate::bench
