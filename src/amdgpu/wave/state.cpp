#include "wavegate/amdgpu/wave/state.h"

#include <sys/mman.h>

#include <new>

namespace wavegate::amdgpu::wave {

namespace {
constexpr std::size_t kBytes = sizeof(Row) * vector::kCount;
}

Rows allocate_rows() {
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return Rows(static_cast<Row*>(memory));
}

void FreeRows::operator()(Row* rows) const {
  munmap(rows, kBytes);
}

}  // namespace wavegate::amdgpu::wave
