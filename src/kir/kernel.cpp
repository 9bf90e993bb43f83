#include "wavegate/kir/kernel.h"

namespace wavegate::kir {

uint64_t workgroup_bytes(const Kernel& kernel) {
  uint64_t bytes = 0;
  for (const Memory& memory : kernel.memories) {
    if (memory.space != MemorySpace::workgroup) continue;
    const uint64_t size = byte_size(memory.element);
    bytes = (bytes + size - 1) / size * size + size * memory.length;
  }
  return bytes;
}

}  // namespace wavegate::kir
