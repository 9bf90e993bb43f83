#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/ops/chunks.h"
#include "wavegate/ops/conjugate_gradient_kernels.h"
#include "wavegate/ops/mapping.h"
#include "wavegate/ops/row_sum.h"
#include "wavegate/program/program.h"
#include "wavegate/target/profile.h"

namespace wavegate::ops {

struct ConjugateGradientOptions {
  float tolerance = 1e-6f;  ///< on the true relative residual, ‖b - A x‖ / ‖b‖
  uint32_t max_iterations = 1000;
  bool jacobi = false;  ///< precondition with the inverse of the diagonal
  /// The recurrence is checked against the true residual after it has fallen by this factor; with 0 only when it says
  /// that it is done.
  float reliable_drop = 1e-2f;
  uint32_t maximum_chunks = kMaximumChunks;  ///< partial sums of a reduction; part of its order
  std::optional<Mapping> mapping;            ///< none: the profile's; it changes no byte of the result
};

/// The bytes that a dispatch must read and write at least: each element once, however often a kernel comes back to it.
struct Traffic {
  std::string label;  ///< the dispatch's
  uint64_t bytes = 0;
};

/// Conjugate gradients for a symmetric positive definite matrix, in f32, with reliable updates.
///
/// The recurrence's residual drifts from b - A x, and an f32 x cannot hold more than seven digits, so the solution is
/// kept as a sum of two floats. Whenever the recurrence has fallen by a factor since the last time, or says that
/// it is done, the residual is computed anew from that solution in pairs of floats, and only that residual ends the
/// loop: `converged` means that the true residual is below the tolerance.
///
/// An iteration is two dependent kernels, because on a GPU the wait between two costs as much as a small kernel:
///   update    alpha from the partial sums of p.Ap; p = z + beta p, d += alpha p, r -= alpha q; partial sums of r.r
///   product   beta from those; q = A (z + beta p), where each entry forms the element of p that it needs; partial sums
///             of p.Ap
/// z and p lie side by side, so that an entry finds both in one place. Every workgroup adds the partial sums for
/// itself, in one order; software devices do it in a kernel of its own. When the true residual is due, the product
/// leaves q as it is, and another follows the true residual.
///
/// Traffic of an iteration: the matrix once (8 bytes a nonzero and 4 a row), 10 vectors of 4 bytes a row.
class ConjugateGradient {
 public:
  /// Declares the state in the program, which outlives this, as the profile does; its names begin with "cg.". b has
  /// A.rows elements of f32; `diagonal` the matrix's diagonal, for jacobi.
  ConjugateGradient(program::Program& program, const program::CsrMatrix& matrix, program::Buffer b,
                    const std::vector<float>& diagonal, const ConjugateGradientOptions& options,
                    const target::Profile& profile);

  /// x = 0, r = b and q = A z: the state before the first iteration.
  Result<void> start();
  /// One iteration. Clears `active` when the loop is done.
  Result<void> iteration();
  /// The dispatches of an iteration that needs no true residual: what iteration() runs nearly always.
  Result<void> step();
  /// Leaves the solution in x_high + x_low.
  Result<void> finish();
  /// start, the loop on the device, finish.
  Result<void> solve();

  /// What the dispatches of step() must move at least, in order.
  std::vector<Traffic> traffic() const;
  /// The same of what iteration() runs besides when the true residual is due.
  std::vector<Traffic> true_residual_traffic() const;

  /// The vectors that one iteration hands to the next.
  std::vector<program::Buffer> state() const;

  program::Buffer x_high, x_low;  ///< f32: the solution is their sum
  program::Scalar active;         ///< uint32: whether another iteration is needed
  program::Scalar breakdown;      ///< uint32: 1 if the matrix proved not positive definite, or the numbers overflowed
  program::Loop loop;             ///< after solve()

 private:
  /// The sums that a kernel leaves, one a chunk.
  struct Sums {
    Chunks chunks;
    program::Buffer partials;
    std::vector<program::Scalar> totals;  ///< of each list; used where the mapping is narrow
  };
  using Operands = std::vector<program::Operand>;
  using Parameters = std::vector<uint32_t>;

  uint64_t vector_bytes() const;
  uint64_t matrix_bytes() const;
  Sums declare_sums(const std::string& name, const Chunks& chunks, uint32_t lists);
  uint32_t sum_lists() const { return options_.jacobi ? 2 : 1; }
  Result<void> dispatch(const char* label, Result<kir::Kernel> kernel, Operands bindings, const Parameters& parameters,
                        uint32_t workgroups);
  void append_residual(Operands& bindings) const;
  void append_totals(const Sums& sums, Operands& bindings) const;
  Result<void> total(const char* label, const Sums& sums);
  Result<void> product(bool after_residual);

  program::Program& program_;
  program::CsrMatrix matrix_;
  program::Buffer b_;
  ConjugateGradientOptions options_;
  Mapping mapping_;
  RowShape shape_;
  program::Buffer zp_, q_, d_;            ///< zp: z and the old p of each row
  program::Buffer r_, inverse_diagonal_;  ///< with a preconditioner; else r is z
  cg::KernelOptions kernels_;
  Sums residual_sums_, true_residual_sums_, product_sums_;
  /// What a product makes of the sums is `next_` until the next update takes it over: no workgroup may write what
  /// another still reads.
  program::Scalar rz_, next_rz_, largest_, next_largest_, beta_, target_, refresh_;
};

}  // namespace wavegate::ops
