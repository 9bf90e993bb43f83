#pragma once

#include <cstdint>

#include "wavegate/base/result.h"
#include "wavegate/program/program.h"
#include "wavegate/target/profile.h"

namespace wavegate::ops {

struct ConjugateGradientOptions {
  float tolerance = 1e-6f;  ///< on the true relative residual, ‖b - A x‖ / ‖b‖
  uint32_t max_iterations = 1000;
  bool jacobi = false;  ///< precondition with the inverse of the diagonal
};

/// Conjugate gradients for a symmetric positive definite matrix, in f32, with reliable updates.
///
/// The recurrence's residual drifts from b - A x, and an f32 x cannot hold more than seven digits, so the solution is
/// kept as a sum of two floats. Whenever the recurrence has fallen by a factor of 100 since the last time, or says that
/// it is done, the residual is computed anew from that solution in pairs of floats, and only that residual ends the
/// loop: `converged` means that the true residual is below the tolerance.
///
/// Traffic of an iteration: the matrix once (8 bytes a nonzero and 4 a row), 11 vectors of 4 bytes a row.
class ConjugateGradient {
 public:
  /// Declares the state in the program, which outlives this, as the profile does; its names begin with "cg.". b has
  /// A.rows elements of f32; `diagonal` the matrix's diagonal, for jacobi.
  ConjugateGradient(program::Program& program, const program::CsrMatrix& matrix, program::Buffer b,
                    const std::vector<float>& diagonal, const ConjugateGradientOptions& options,
                    const target::Profile& profile);

  /// x = 0, r = p = b: the state before the first iteration.
  Result<void> start();
  /// One iteration. Clears `active` when the loop is done.
  Result<void> iteration();
  /// Leaves the solution in x_high + x_low.
  Result<void> finish();
  /// start, the loop on the device, finish.
  Result<void> solve();

  /// The vectors that one iteration hands to the next.
  std::vector<program::Buffer> state() const { return {r_, p_, d_, x_high, x_low}; }

  program::Buffer x_high, x_low;  ///< f32: the solution is their sum
  program::Scalar active;         ///< uint32: whether another iteration is needed
  program::Scalar breakdown;      ///< uint32: 1 if the matrix proved not positive definite, or the numbers overflowed
  program::Loop loop;             ///< after solve()

 private:
  Result<void> dispatch(const char* label, Result<kir::Kernel> kernel, std::vector<program::Operand> bindings,
                        std::vector<uint32_t> parameters, uint32_t blocks);
  std::vector<program::Operand> with_preconditioner(std::vector<program::Operand> bindings) const;

  program::Program& program_;
  program::CsrMatrix matrix_;
  program::Buffer b_;
  ConjugateGradientOptions options_;
  const target::Profile& profile_;
  program::Buffer r_, p_, q_, d_, inverse_diagonal_, partials_;
  program::Scalar rz_, alpha_, beta_, largest_rr_, target_, refresh_;
};

}  // namespace wavegate::ops
