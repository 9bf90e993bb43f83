#pragma once

#include <memory>
#include <span>
#include <vector>

#include "wavegate/api/engine.h"
#include "wavegate/api/solve.h"
#include "wavegate/base/result.h"
#include "wavegate/io/csr.h"
#include "wavegate/ops/conjugate_gradient.h"
#include "wavegate/program/program.h"
#include "wavegate/target/profile.h"

namespace wavegate {

/// A linear system as a program: what solve() compiles and runs, for those who do that themselves.
class SolveProgram {
 public:
  /// The values alone, as the profile wants them. Checks the system and the options. The matrix is borrowed.
  static Result<std::unique_ptr<SolveProgram>> make(const io::CsrMatrix& matrix, std::span<const float> b,
                                                    const SolveOptions& options, const target::Profile& profile);

  /// Appends the whole solve to the program, with the solution as outputs. Once.
  Result<void> solve();

  program::Program& program() { return program_; }
  const program::Program& program() const { return program_; }
  ops::ConjugateGradient& solver() { return *solver_; }
  const ops::ConjugateGradient& solver() const { return *solver_; }

  /// After a run of solve(): the solution, how many iterations it took and how it ended. Times and counters are left as
  /// they are.
  Result<void> report(Executable& executable, SolveReport& report) const;
  /// The solution alone, and its residual in double. A `device` error if the residual belies a report of convergence.
  Result<void> read_solution(Executable& executable, SolveReport& report) const;

 private:
  SolveProgram(const io::CsrMatrix& matrix, std::span<const float> b, const SolveOptions& options,
               const target::Profile& profile);

  const io::CsrMatrix& matrix_;
  std::vector<float> b_;
  int exponent_;  ///< the program's right-hand side is b over two to this
  double tolerance_;
  program::Program program_{"solve"};
  std::unique_ptr<ops::ConjugateGradient> solver_;
};

}  // namespace wavegate
