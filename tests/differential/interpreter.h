#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/reference/interpreter.h"
#include "wavegate/program/program.h"
#include "wavegate/target/profile.h"

/// Differential testing: random programs, what they mean, and whether every strategy on every device agrees.
namespace wavegate::differential {

/// What a loop reports after a run.
struct LoopState {
  uint32_t trips = 0;
  bool converged = false;
  friend bool operator==(const LoopState&, const LoopState&) = default;
};

/// All that a run leaves behind, by handle: of the program as it was written, without the temporaries of operations.
struct State {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<uint32_t> scalars;  ///< bits
  std::vector<LoopState> loops;
};

/// What the runs so far did.
struct Statistics {
  uint64_t commands = 0;    ///< dispatches, copies, fills, assigns and records that ran
  uint64_t loop_exits = 0;  ///< loops entered and left
  uint64_t breaks = 0;
  uint64_t continues = 0;
  uint64_t converged = 0;   ///< loop exits with a predicate that is zero
  uint32_t most_trips = 0;  ///< of any entry of any loop
};

/// The meaning of a semantic program, section 3 of the design, carried out on the host as it stands: a walk over the
/// tree with one thing after the other. No lowering, no graph and no device; kernels run in the interpreter of kir. It
/// is the oracle of every strategy.
class Interpreter {
 public:
  struct Options {
    uint64_t max_steps = uint64_t{1} << 20;         ///< commands and loop tests of a run; beyond is an error
    uint64_t max_kernel_steps = uint64_t{1} << 26;  ///< instructions of a dispatch
  };

  /// Expands and verifies the program. `unsupported`: a kernel that has no kir for this profile.
  static Result<Interpreter> make(const program::Program& program, const target::Profile& profile,
                                  const Options& options);
  static Result<Interpreter> make(const program::Program& program, const target::Profile& profile) {
    return make(program, profile, Options{});
  }

  /// One run, from what the run before left. After an error the values mean nothing. A computed grid beyond its maximum
  /// is an error whose `where` is the dispatch.
  Result<void> run();
  /// Puts every value that has an initial value back to it.
  void reset();
  /// Sets a scalar before the next run.
  void set(program::Scalar scalar, uint32_t bits);

  State state() const;
  const Statistics& statistics() const { return statistics_; }

 private:
  /// What a body does to the loop that it stands in.
  enum class Flow { normal, leave, next };

  Interpreter(program::Program program, const Options& options);
  Result<void> prepare(const program::Body& body, const target::Profile& profile);
  void initialise();

  Result<Flow> run_body(const program::Body& body);
  Result<Flow> run(const program::Dispatch& dispatch);
  Result<Flow> run(const program::Copy& copy);
  Result<Flow> run(const program::Fill& fill);
  Result<Flow> run(const program::Assign& assign);
  Result<Flow> run(const program::Record& record);
  Result<Flow> run(const program::Call& call);
  Result<Flow> run(const program::If& branch);
  Result<Flow> run(const program::Switch& choice);
  Result<Flow> run(const program::While& loop);
  Result<Flow> run(const program::Break& leave);
  Result<Flow> run(const program::Continue& next);

  Result<void> count_step();
  Result<program::Grid> grid_of(const program::Dispatch& dispatch) const;
  Result<uint32_t> evaluate(const program::ScalarExpr& expression, program::ScalarType wanted) const;
  Result<uint32_t> evaluate(const program::ScalarExpr::Node& node, program::ScalarType wanted) const;
  Result<uint32_t> read(program::Scalar scalar) const;
  void write(program::Scalar scalar, uint32_t bits);

  program::Program program_;  ///< expanded
  Options options_;
  size_t buffer_count_ = 0, scalar_count_ = 0;  ///< of the program as it was written
  std::vector<device::reference::Storage> buffers_;
  device::reference::Storage scalars_;  ///< one word a scalar, by its handle
  std::vector<LoopState> loops_;
  struct Prepared {
    std::shared_ptr<const kir::Kernel> kernel;
    device::reference::PreparedKernel ready;
  };
  std::map<const program::KernelSource*, Prepared> kernels_;
  uint64_t steps_ = 0;
  Statistics statistics_;
};

}  // namespace wavegate::differential
