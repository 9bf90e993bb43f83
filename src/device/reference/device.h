#pragma once

#include <memory>

#include "wavegate/device/device.h"

namespace wavegate::device::reference {

struct Options {
  uint32_t subgroup_size = 32;  ///< 1 to 128, a power of two
  uint64_t memory_bytes = uint64_t{4} << 30;
};

/// The CPU device that is the oracle of every other: it interprets kir in plain C++ and stops at the first access
/// outside a memory, read of a value never written, or failed assume_uniform claim, naming kernel, operation,
/// memory, index and invocation. Invocations of a workgroup run in lockstep between convergent operations.
/// Opaque kernels are `unsupported`.
std::unique_ptr<Device> make_device(const Options& options = {});

}  // namespace wavegate::device::reference
