#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "wavegate/base/result.h"
#include "wavegate/lowering/lower.h"
#include "wavegate/lowering/strategy.h"
#include "wavegate/program/program.h"
#include "wavegate/target/profile.h"

namespace wavegate::lowering {

/// What was decided for a region: an if, a switch or a while.
struct Decision {
  Strategy strategy = Strategy::gate;
  bool forced = false;           ///< asked for: what it cannot do is an error
  std::string reason;            ///< for people
  double microseconds = 0;       ///< estimate: of a loop an iteration, of a branch one pass
  double dead_microseconds = 0;  ///< estimate: of an iteration after the loop is done, or of a branch not taken
  uint32_t first_chunk = 0;      ///< chunked: iterations
  uint32_t usual_chunk = 0;      ///< after some doubling; twice as many once that is little
  /// Iterations that conditional rendering leaves out together, once the loop is done: of predication, and of chunked
  /// where that costs less than to test every iteration's latch to the end of the chunk; 0 where it does not.
  uint32_t block = 0;
  /// Chunked: what conditions the iterations of a chunk: early_out, fused_gate, chained_gate, or predication in blocks.
  Strategy guard = Strategy::early_out;
  /// Chunked inside a chunked loop: so many iterations in a pass through that, which may leave this one unfinished; 0
  /// where all of them fit one pass.
  uint32_t iterations_a_pass = 0;
  /// Resident: so many iterations in a dispatch, after which the next goes on; 0: all of them.
  uint32_t iterations_a_dispatch = 0;
  /// The loop stands at the top level, host-free is not asked for, and a resident loop's dispatches are too many to run
  /// them all whether they are needed or not.
  bool host_looks = false;
};

/// Decisions by the address of the program::If, Switch or While.
using Decisions = std::map<const void*, Decision>;

/// Whether a loop can be one kernel of one workgroup.
struct ResidentFit {
  std::string obstacle;     ///< why it cannot; empty if it can
  uint32_t iterations = 0;  ///< the most that one dispatch may do, not 0 if it can: drivers may end a kernel's loops
};
using ResidentCheck = std::function<ResidentFit(const program::While&)>;

/// Decides for every region of an expanded and verified program: what is forced, else the cheapest that is exact. The
/// first strategy that is asked for and does not apply is `unsupported`, with its reason; a region name that is not in
/// the program is invalid input.
Result<Decisions> choose(const program::Program& program, const target::Profile& profile, const Options& options,
                         const ResidentCheck& resident_fit);

}  // namespace wavegate::lowering
