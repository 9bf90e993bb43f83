#pragma once

#include <cstdint>

namespace wavegate::kir {

/// The value of IEEE binary16 bits; exact. A NaN keeps its payload in the upper bits.
double float16_to_double(uint16_t bits);

/// The nearest binary16, ties to even; overflow gives infinity, a NaN stays a (quiet) NaN.
uint16_t double_to_float16(double value);

}  // namespace wavegate::kir
