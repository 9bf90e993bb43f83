#include "wavegate/amdgpu/wave/state.h"

#include <sys/mman.h>

namespace wavegate::amdgpu::wave {

namespace {
constexpr std::size_t kBytes = sizeof(Row) * vector::kCount;
}

Result<Rows> allocate_rows() {
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return device_error("the host has no memory for the registers of a wave");
  return Rows(static_cast<Row*>(memory));
}

void FreeRows::operator()(Row* rows) const {
  munmap(rows, kBytes);
}

}  // namespace wavegate::amdgpu::wave
