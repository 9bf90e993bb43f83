#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "differential/generator.h"
#include "wavegate/program/program.h"

namespace wavegate::differential {

/// The loops of a body, outer before inner. They live as long as the body.
std::vector<const program::While*> loops_of(const program::Body& body);
/// The labels of its branches, switches and loops.
std::vector<std::string> region_labels(const program::Body& body);

/// Makes a failing case smaller for as long as it still fails: fewer runs, nodes left out, branches and loops replaced
/// by what is in them, bounds lowered. `fails` must be false of what is not a program. At most `attempts` calls.
Case shrink(Case one, const std::function<bool(const Case&)>& fails, uint32_t attempts);

}  // namespace wavegate::differential
