#pragma once

#include <cstdint>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/ops/mapping.h"
#include "wavegate/ops/row_sum.h"

/// The kernels of ConjugateGradient, which binds them; bindings and parameters are as its dispatches list them. All but
/// the totals run one workgroup a chunk.
namespace wavegate::ops::cg {

struct KernelOptions {
  Mapping mapping = Mapping::wide;
  bool jacobi = false;
  uint32_t residual_chunks = 1;  ///< of the update
  uint32_t product_chunks = 1;   ///< of the kernels that go by rows of the matrix, and of the start
  /// r.r, and with a preconditioner r.z beside it.
  uint32_t lists() const { return jacobi ? 2 : 1; }
};

/// r = b, p = d = x = 0; partial sums of r.r and r.z.
Result<kir::Kernel> start_kernel(const KernelOptions& options);

/// The scalars before the first product, from the partial sums of start.
Result<kir::Kernel> start_scalars_kernel(const KernelOptions& options, float tolerance);

/// The totals of partial sums, for the kernels of a narrow mapping.
Result<kir::Kernel> total_kernel(Mapping mapping, uint32_t chunks, uint32_t lists);

/// alpha = r.z / p.Ap, p = z + beta p, d += alpha p, r -= alpha q, z = M^-1 r; partial sums of r.r and r.z. A curvature
/// that is not positive is a breakdown, and leaves alpha at zero.
Result<kir::Kernel> update_kernel(const KernelOptions& options);

/// beta, and q = A (z + beta p); partial sums of the product with q. Neither when the true residual is due: when r.r is
/// below the target, or has fallen by the factor `reliable_drop`, squared, below the largest since the last.
Result<kir::Kernel> product_kernel(const KernelOptions& options, const RowShape& shape, float reliable_drop);

/// r = b - A (x + d) in pairs of floats, rounded once, z = M^-1 r; partial sums of r.r and r.z.
Result<kir::Kernel> residual_kernel(const KernelOptions& options, const RowShape& shape);

/// x += d, with x a pair of floats, and d = 0. The true residual's sums decide whether the loop goes on; if so,
/// q = A (z + beta p), and partial sums of the product with q.
Result<kir::Kernel> product_after_residual_kernel(const KernelOptions& options, const RowShape& shape);

/// x += d, d = 0.
Result<kir::Kernel> fold_kernel(Mapping mapping);

}  // namespace wavegate::ops::cg
