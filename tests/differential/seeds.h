#pragma once

#include <cstdint>

namespace wavegate::differential {

/// The programs of the tests; `wavegate-differential` runs any others.
inline constexpr uint64_t kFirstSeed = 1;
inline constexpr uint32_t kSeeds = 500;

}  // namespace wavegate::differential
