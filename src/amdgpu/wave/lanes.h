#pragma once

#include <cstdint>

#include "wavegate/amdgpu/wave/numeric.h"
#include "wavegate/amdgpu/wave/row.h"

/// What is done to rows before and after an operation, in all lanes at once. `lanes` is 32 or 64 throughout. Rows that
/// are written may be those that are read.
namespace wavegate::amdgpu::wave {

void fill(std::uint32_t* row, std::uint32_t value, unsigned lanes);
void fill(std::uint64_t* pairs, std::uint64_t value, unsigned lanes);

/// Two rows of words as 64-bit values, and back.
void combine(std::uint64_t* pairs, const std::uint32_t* low, const std::uint32_t* high, unsigned lanes);
void split(std::uint32_t* low, std::uint32_t* high, const std::uint64_t* pairs, unsigned lanes);

/// A bit a lane as 0 or all ones a lane, and back.
void expand(std::uint32_t* row, LaneMask mask, unsigned lanes);
LaneMask collect(const std::uint32_t* row, unsigned lanes);

/// to = active ? from : to
void blend(std::uint32_t* to, const std::uint32_t* from, const std::uint32_t* active, unsigned lanes);
/// The same of the bits in `bits` alone.
void blend_bits(std::uint32_t* to, const std::uint32_t* from, std::uint32_t bits, const std::uint32_t* active,
                unsigned lanes);

/// to = (from & keep) ^ flip: absolute values and negation are that.
void change_bits(std::uint32_t* to, const std::uint32_t* from, std::uint32_t keep, std::uint32_t flip, unsigned lanes);
void change_bits(std::uint64_t* to, std::uint64_t keep, std::uint64_t flip, unsigned lanes);

/// `width` bits from bit `first` on, extended with zeros or by their sign.
void extract(std::uint32_t* to, const std::uint32_t* from, unsigned first, unsigned width, bool sign_extend,
             unsigned lanes);

/// The low 16 bits as floats, and back.
void halves_to_floats(float* to, const std::uint32_t* from, unsigned lanes);
void floats_to_halves(std::uint32_t* to, const float* from, Rounding rounding, unsigned lanes);

/// Denormals to zeros of their sign; of f16, in the low half.
void flush_words(std::uint32_t* row, unsigned lanes);
void flush_pairs(std::uint64_t* pairs, unsigned lanes);
void flush_halves(std::uint32_t* row, unsigned lanes);

/// Times `factor`, then to [0, 1] if `clamp`; a NaN then becomes 0 if `nan_to_zero`.
void modify_floats(float* row, float factor, bool clamp, bool nan_to_zero, unsigned lanes);
void modify_doubles(double* pairs, double factor, bool clamp, bool nan_to_zero, unsigned lanes);

/// address = base + (high:low or low alone) + offset
void addresses(std::uint64_t* to, const std::uint32_t* low, const std::uint32_t* high, std::uint64_t base,
               unsigned lanes);

/// Whether every active lane's `bytes` at its address lie within a range; then `offsets` are from its start, and
/// `contiguous` if each lane's follows its neighbour's.
struct Span {
  bool inside = false;
  bool contiguous = false;
};
Span offsets_within(std::uint64_t* offsets, const std::uint64_t* addresses, const std::uint32_t* active,
                    std::uint64_t base, std::uint64_t size, unsigned bytes, unsigned lanes);

/// Lane i of `to` is lane source[i] of `from`.
void gather_lanes(std::uint32_t* to, const std::uint32_t* from, const std::uint8_t* source, unsigned lanes);

}  // namespace wavegate::amdgpu::wave
