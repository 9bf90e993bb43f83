#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/graph/graph.h"
#include "wavegate/kir/kernel.h"

namespace wavegate::device::reference {

/// Memory of the reference device: bytes, and one flag a byte that says whether it was ever written.
struct Storage {
  std::vector<std::byte> bytes;
  std::vector<uint8_t> written;  ///< 0 or 1; same size as bytes
};

/// A bound range of a storage.
struct BoundRange {
  Storage* storage = nullptr;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct Launch {
  std::span<const BoundRange> bindings;  ///< as graph::Dispatch::bindings
  std::span<const uint32_t> words;
  graph::Grid grid = {1, 1, 1};
  uint32_t subgroup_size = 32;  ///< 1 to 128, a power of two
  /// Instructions that a dispatch may run, one for all invocations that run it together; beyond is an error.
  uint64_t max_steps = std::numeric_limits<uint64_t>::max();
  /// Iterations that an invocation may begin, of all loops of the kernel together. Each loop that it is in by then, or
  /// enters later, ends with the iteration that it is in, as some drivers do; what such a loop results in is zero.
  uint64_t max_loop_iterations = std::numeric_limits<uint64_t>::max();
};

/// A kernel made ready for many launches. Not thread-safe; the kernel must outlive it.
class PreparedKernel {
 public:
  /// Precondition: the kernel is verified. `unsupported`: device pointers. `device`: not enough host memory.
  static Result<PreparedKernel> make(const kir::Kernel& kernel);

  PreparedKernel(PreparedKernel&&) noexcept;
  PreparedKernel& operator=(PreparedKernel&&) noexcept;
  ~PreparedKernel();

  /// Runs every workgroup of a dispatch, in order. Invocations of a workgroup run in lockstep; a store takes its
  /// lanes in increasing order. The first fault ends the dispatch with an error that names kernel, operation,
  /// memory, index and invocation; what was stored before it stays.
  Result<void> run(const Launch& launch);

 private:
  struct State;
  explicit PreparedKernel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// PreparedKernel::make and run, for one launch.
Result<void> interpret(const kir::Kernel& kernel, const Launch& launch);

}  // namespace wavegate::device::reference
