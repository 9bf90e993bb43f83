#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "wavegate/device/device.h"

namespace wavegate::device::reference {

struct Options {
  uint32_t subgroup_size = 32;  ///< 1 to 128, a power of two; others fail at load()
  uint64_t memory_bytes = uint64_t{4} << 30;
  /// Instructions that one dispatch may run before it counts as endless; see Launch::max_steps. The default is minutes.
  uint64_t max_steps = uint64_t{1} << 30;

  // Limits of the profile, so that a device with less can be tried: what a graph or a launch needs beyond them is
  // refused, and a kernel's loops end as target::Limits says.
  uint32_t storage_buffers = 64;
  uint32_t immediate_words = 64;
  uint32_t workgroup_memory = 1u << 16;
  uint64_t kernel_loop_iterations = std::numeric_limits<uint64_t>::max();
};

/// The CPU device that is the oracle of every other: it interprets kir in plain C++ and stops at the first access
/// outside a memory, read of a value never written, race in workgroup memory, or failed assume_uniform claim, naming
/// kernel, operation, memory, index and invocation. Invocations of a workgroup run in lockstep between convergent
/// operations. Opaque kernels and device pointers are `unsupported`.
///
/// The run happens in submit(); wait() returns its error. Loops end with the first run of their body that leaves them
/// done: one observation a run.
std::unique_ptr<Device> make_device(const Options& options = {});

}  // namespace wavegate::device::reference
