#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
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
  bool is_mixed = false;  ///< by mixed_options() of the case instead
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

/// The default choice of strategies by one of two tables of costs, that of a GPU for even seeds and that of a software
/// device for odd ones; what this machine measured is not asked.
lowering::Options options_of(const Case& one);

/// A random choice of a strategy for each region, of those that can be combined; the same for the same seed.
lowering::Options mixed_options(const Case& one, const target::Profile& profile);

/// Every strategy forced on its own, the default with and without a host, and the mixture.
std::vector<Subject> subjects_of(const Case& one, const std::shared_ptr<device::Device>& device);

/// How often each way of running, by its name, was tried and not refused.
using Uses = std::map<std::string, uint64_t>;

/// Compares one of the subjects alone: that which has been used least so far and is not refused, so that each gets its
/// share of programs where all of them for every program would take too long. Counts it.
std::pair<const Subject*, Verdict> compare_one(const Case& one, const Expectation& expected,
                                               const std::vector<Subject>& subjects, Uses& uses);

}  // namespace wavegate::differential
