#pragma once

#include <cstddef>
#include <cstdint>
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
  uint32_t subgroup_size = 32;
};

/// Runs every workgroup of a dispatch, in order. Precondition: the kernel is verified. The first fault ends the
/// dispatch with an error that names kernel, operation, memory, index and invocation.
Result<void> interpret(const kir::Kernel& kernel, const Launch& launch);

}  // namespace wavegate::device::reference
