#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wavegate/program/program.h"

namespace wavegate::differential {

/// How large random programs grow.
struct Size {
  uint32_t depth = 4;               ///< of nested control flow
  uint32_t spelled_commands = 250;  ///< commands of a program whose loops are spelled out to their bounds, about
  uint32_t nested_iterations = 60;  ///< product of the bounds of nested loops
  uint32_t most_elements = 300;     ///< of a buffer
};

/// What happens between two runs, and before the first.
struct Step {
  bool reset = false;
  struct Setting {
    program::Scalar parameter;
    program::Literal value;
  };
  std::vector<Setting> settings;
};

/// A program and how it is run: once a step. Values persist from run to run.
struct Case {
  uint64_t seed = 0;
  program::Program program{"none"};
  std::vector<Step> steps;
};

/// The same program for the same seed, on every machine. All its loops end, and it has no races, so that its meaning is
/// its own: nested if, switch and while with break and continue, predicates that scalars, kernels and the bodies
/// themselves write, copies, fills, records, kernels of every kind, and grids computed on the device. One program in
/// forty computes a grid beyond the maximum that it declares, which fails the run.
Case generate(uint64_t seed, const Size& size = {});

}  // namespace wavegate::differential
