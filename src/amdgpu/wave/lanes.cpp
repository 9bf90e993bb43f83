#include "wavegate/amdgpu/wave/lanes.h"

#include <cstring>

#include "wavegate/amdgpu/wave/kernel.h"

namespace wavegate::amdgpu::wave {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Calls `body(lane)` for each of them, in blocks of a constant count.
template <typename Body>
WAVEGATE_LANE void for_lanes(unsigned lanes, const Body& body) {
  for (std::size_t first = 0; first < lanes; first += 32) {
    WAVEGATE_INDEPENDENT_LANES
    for (std::size_t lane = 0; lane < 32; ++lane) body(first + lane);
  }
}

}  // namespace

void fill(u32* row, u32 value, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) { row[i] = value; });
}
void fill(u64* pairs, u64 value, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) { pairs[i] = value; });
}
void combine(u64* pairs, const u32* low, const u32* high, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) { pairs[i] = static_cast<u64>(high[i]) << 32 | low[i]; });
}
void split(u32* low, u32* high, const u64* pairs, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) {
    low[i] = static_cast<u32>(pairs[i]);
    high[i] = static_cast<u32>(pairs[i] >> 32);
  });
}
void expand(u32* row, LaneMask mask, unsigned lanes) {
  for (std::size_t first = 0; first < lanes; first += 32) {
    const u32 word = static_cast<u32>(mask >> first);
    u32* const block = row + first;
    WAVEGATE_INDEPENDENT_LANES
    for (u32 lane = 0; lane < 32; ++lane) block[lane] = 0u - (word >> lane & 1u);
  }
}
LaneMask collect(const u32* row, unsigned lanes) {
  LaneMask mask = 0;
  for (std::size_t first = 0; first < lanes; first += 32) {
    u32 word = 0;
    const u32* const block = row + first;
    for (u32 lane = 0; lane < 32; ++lane) word |= block[lane] & (1u << lane);
    mask |= static_cast<LaneMask>(word) << first;
  }
  return mask;
}
void blend(u32* to, const u32* from, const u32* active, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) { to[i] = (from[i] & active[i]) | (to[i] & ~active[i]); });
}
void blend_bits(u32* to, const u32* from, u32 bits, const u32* active, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) { to[i] = (from[i] & active[i] & bits) | (to[i] & ~(active[i] & bits)); });
}
void change_bits(u32* to, const u32* from, u32 keep, u32 flip, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) { to[i] = (from[i] & keep) ^ flip; });
}
void change_bits(u64* to, u64 keep, u64 flip, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) { to[i] = (to[i] & keep) ^ flip; });
}
void extract(u32* to, const u32* from, unsigned first, unsigned width, bool sign_extend, unsigned lanes) {
  const u32 sign = sign_extend ? 1u << (width - 1) : 0u;
  const u32 kept = width >= 32 ? ~0u : (1u << width) - 1;
  for_lanes(lanes, [=](std::size_t i) { to[i] = ((from[i] >> first & kept) ^ sign) - sign; });
}
void halves_to_floats(float* to, const u32* from, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) { to[i] = of_half(from[i] & 0xffffu); });
}
void floats_to_halves(u32* to, const float* from, Rounding rounding, unsigned lanes) {
  if (rounding == Rounding::nearest_even) {
    for_lanes(lanes, [=](std::size_t i) { to[i] = half_bits(from[i], Rounding::nearest_even); });
  } else {
    for_lanes(lanes, [=](std::size_t i) { to[i] = half_bits(from[i], rounding); });
  }
}
void flush_words(u32* row, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) { row[i] = (row[i] & 0x7f800000u) == 0 ? row[i] & 0x80000000u : row[i]; });
}
void flush_pairs(u64* pairs, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) {
    pairs[i] = (pairs[i] & kInfinity<double>) == 0 ? pairs[i] & kSign<double> : pairs[i];
  });
}
void flush_halves(u32* row, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) { row[i] = (row[i] & 0x7c00u) == 0 ? row[i] & ~0x3ffu : row[i]; });
}

namespace {

template <typename T>
WAVEGATE_LANE T modified(T value, T factor, bool clamp, bool nan_to_zero) {
  const T product = value * factor;
  const T scaled_value = factor == T{1} ? value : is_zero(product) ? T{0} : product;
  const T bounded = scaled_value > T{1}                    ? T{1}
                    : scaled_value > T{0}                  ? scaled_value
                    : is_nan(scaled_value) && !nan_to_zero ? scaled_value
                                                           : T{0};
  return clamp ? bounded : scaled_value;
}

}  // namespace

void modify_floats(float* row, float factor, bool clamp, bool nan_to_zero, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) { row[i] = modified(row[i], factor, clamp, nan_to_zero); });
}
void modify_doubles(double* pairs, double factor, bool clamp, bool nan_to_zero, unsigned lanes) {
  for_lanes(lanes, [=](std::size_t i) { pairs[i] = modified(pairs[i], factor, clamp, nan_to_zero); });
}

void addresses(u64* to, const u32* low, const u32* high, u64 base, unsigned lanes) {
  if (high == nullptr)
    for_lanes(lanes, [=](std::size_t i) { to[i] = base + low[i]; });
  else
    for_lanes(lanes, [=](std::size_t i) { to[i] = base + (static_cast<u64>(high[i]) << 32 | low[i]); });
}

Span offsets_within(u64* offsets, const u64* addresses, const u32* active, u64 base, u64 size, unsigned bytes,
                    unsigned lanes) {
  if (size < bytes) return {};
  // An unsigned comparison by the sign of a difference: sizes are below 2^62, and what is far off is so as well.
  const u64 last = size - bytes;
  u64 outside = 0, scattered = 0;
  const u64 first = addresses[0] - base;
  for (std::size_t block = 0; block < lanes; block += 32) {
    WAVEGATE_INDEPENDENT_LANES
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const std::size_t i = block + lane;
      const u64 offset = addresses[i] - base;
      const u64 on = active[i] != 0 ? ~u64{0} : u64{0};
      offsets[i] = offset;
      outside |= ((last - offset) | offset) & on;
      scattered |= offset ^ (first + i * bytes);
    }
  }
  return {(outside >> 63) == 0, scattered == 0};
}

void gather_lanes(u32* to, const u32* from, const std::uint8_t* source, unsigned lanes) {
  Row copy;
  std::memcpy(&copy, from, lanes * sizeof(u32));
  for (unsigned lane = 0; lane < lanes; ++lane) to[lane] = copy.lane[source[lane] & (kRowLanes - 1)];
}

}  // namespace wavegate::amdgpu::wave
