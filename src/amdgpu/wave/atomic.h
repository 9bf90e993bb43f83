#pragma once

#include <cstdint>

#include "wavegate/amdgpu/wave/step.h"

namespace wavegate::amdgpu::wave {

/// What memory holds after an atomic operation on `old`. Values of 4 bytes have their upper half zero.
std::uint64_t after_atomic(AtomicOperation operation, unsigned bytes, std::uint64_t old, std::uint64_t data,
                           std::uint64_t second);

/// Applies it to host memory and returns what was there before. `shared`: other threads may do so at the same time; the
/// place must then be aligned to its size.
std::uint64_t apply_atomic(AtomicOperation operation, unsigned bytes, std::byte* place, std::uint64_t data,
                           std::uint64_t second, bool shared);

}  // namespace wavegate::amdgpu::wave
