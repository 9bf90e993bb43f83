#pragma once

#include <optional>
#include <vector>

#include "differential/generator.h"
#include "differential/interpreter.h"
#include "wavegate/base/result.h"
#include "wavegate/target/profile.h"

namespace wavegate::differential {

/// What the meaning of a program says of a case.
struct Expectation {
  std::vector<State> states;     ///< after each run that succeeds
  std::optional<Error> failure;  ///< of the run after those, which is the last one
  Statistics statistics;
};

/// Runs a case in the interpreter. An error: the program is not one, or does not end.
Result<Expectation> expect(const Case& one, const target::Profile& profile);

}  // namespace wavegate::differential
