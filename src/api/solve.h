#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "wavegate/api/engine.h"
#include "wavegate/base/result.h"
#include "wavegate/device/device.h"
#include "wavegate/io/csr.h"

namespace wavegate {

struct SolveOptions {
  double tolerance = 1e-6;  ///< on ‖b - A x‖ / ‖b‖; 1e-12 to 1
  uint32_t max_iterations = 1000;
  bool jacobi = false;
  CompileOptions compile = {};  ///< of solve(): how its loop runs; by default as is cheapest
};

enum class SolveExit { converged, bound, breakdown };
std::string_view to_string(SolveExit exit);

struct SolveReport {
  std::vector<double> x;  ///< the sum of the two floats that the device computed for each row
  uint32_t iterations = 0;
  double relative_residual = 0;  ///< ‖b - A x‖ / ‖b‖ in double, from x
  SolveExit exit_reason = SolveExit::bound;
  double setup_seconds = 0;   ///< compiling, pipelines, memory, upload
  double seconds = 0;         ///< from the first submission of the loop to the end of its last wait
  device::Counters counters;  ///< of the run
};

/// Solves A x = b by conjugate gradients with the loop and its convergence test on the device: one wait. A is square,
/// symmetric positive definite (else the exit reason is breakdown); b has A.rows finite values. b is scaled by a power
/// of two, so that its magnitude does not matter.
Result<SolveReport> solve(const io::CsrMatrix& matrix, std::span<const float> b, const SolveOptions& options,
                          std::shared_ptr<device::Device> device);

/// The same iterations with the loop on the host: one submission, one wait and one readback each. What solve() is
/// measured against; the bytes of x are the same. `progress` is called after every iteration.
Result<SolveReport> solve_with_host_loop(const io::CsrMatrix& matrix, std::span<const float> b,
                                         const SolveOptions& options, std::shared_ptr<device::Device> device,
                                         const std::function<void(uint32_t)>& progress = {});

/// A right-hand side for a matrix that comes without one: values in [-1, 1) that depend on the row's number alone.
std::vector<float> default_right_hand_side(uint32_t rows);

}  // namespace wavegate
