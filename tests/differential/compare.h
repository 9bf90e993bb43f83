#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "differential/expectation.h"
#include "differential/generator.h"
#include "wavegate/device/device.h"
#include "wavegate/lowering/lower.h"

namespace wavegate::differential {

/// One way to run a program.
struct Subject {
  std::string name;
  std::shared_ptr<device::Device> device;
  lowering::Options options = {};
};

struct Verdict {
  enum class Kind {
    same,       ///< every byte as expected
    refused,    ///< `unsupported`, with a reason
    different,  ///< a fault
  };
  Kind kind = Kind::same;
  std::string text;                         ///< why it was refused, or the first difference
  std::set<lowering::Strategy> strategies;  ///< of the regions, as the plan reports them
};

/// Runs the case as the subject says and compares all that each run leaves: every buffer, every scalar, and the report
/// of every loop.
Verdict compare(const Case& one, const Expectation& expected, const Subject& subject);

/// Every strategy forced on its own, the default with and without a host, and a mixture of strategies by region that
/// depends on the case's seed.
std::vector<Subject> subjects_of(const Case& one, const std::shared_ptr<device::Device>& device);

/// A random choice of a strategy for each region, of those that can be combined.
lowering::Options mixed_options(const Case& one, const target::Profile& profile);

}  // namespace wavegate::differential
