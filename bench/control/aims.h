#pragma once

#include <string>
#include <vector>

#include "bench.h"

namespace wavegate::bench {

/// A figure that is aimed at.
struct Target {
  std::string measure;
  double value = 0;
  double bound = 0;
  bool at_least = false;
  bool reached() const { return at_least ? value >= bound : value <= bound; }
};

/// Runs all cases.
Result<void> measure(Bench& bench);

/// What is aimed at on the bench's kind of device, and what was measured.
std::vector<Target> targets_of(const Bench& bench);

}  // namespace wavegate::bench
