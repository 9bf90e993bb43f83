#include "amdgpu/wave/values/compared.h"

#include <algorithm>

#include "wavegate/base/format.h"

namespace wavegate::amdgpu::wave::testing {

namespace {

bool is_nan(Format format, u64 bits) {
  return Float{format}.is_nan(bits);
}

/// The word that a place holds made what was expected of it, where it may be another.
void settle(u32& got, u32& got_high, u32 expected, u32 expected_high, const Loose::Place& place) {
  got = (got & ~place.unspecified) | (expected & place.unspecified);
  const u32 low_half = 0xffffu;
  switch (place.nan) {
    case 'f':
      if (is_nan(kF32, got)) got = expected;
      break;
    case 'd':
      if (is_nan(kF64, static_cast<u64>(got_high) << 32 | got)) got = expected, got_high = expected_high;
      break;
    case 'h':
      if (is_nan(kF16, part(got, place.shift, 16)))
        got = (got & ~(low_half << place.shift)) | (expected & (low_half << place.shift));
      break;
    case 'p':
      for (int shift = 0; shift < 32; shift += 16)
        if (is_nan(kF16, part(got, shift, 16)) && is_nan(kF16, part(expected, shift, 16)))
          got = (got & ~(low_half << shift)) | (expected & (low_half << shift));
      break;
    default: break;
  }
}

}  // namespace

std::string difference(const Registers& expected, const Registers& got, const Loose& loose) {
  Registers::VectorRow none{};
  Registers settled = got;
  for (const Loose::Place& place : loose.places) {
    if (place.lane == Loose::kScalar)
      settle(settled.scalars[place.row], settled.scalars[place.row + 1], expected.scalars[place.row],
             expected.scalars[place.row + 1], place);
    else
      settle(settled.rows[place.row][place.lane],
             place.row + 1 < Registers::kRows ? settled.rows[place.row + 1][place.lane] : none[0],
             expected.rows[place.row][place.lane],
             place.row + 1 < Registers::kRows ? expected.rows[place.row + 1][place.lane] : 0u, place);
  }
  if (!loose.scc && expected.scc != got.scc) return format("SCC is {}, not {}", got.scc, expected.scc);
  if (expected.mode != got.mode) return format("MODE is {:#x}, not {:#x}", got.mode, expected.mode);
  for (unsigned i = 0; i < Registers::kScalars; ++i)
    if (expected.scalars[i] != settled.scalars[i])
      return format("scalar register {} is {:#x}, not {:#x}", i, got.scalars[i], expected.scalars[i]);
  for (unsigned row = 0; row < Registers::kRows; ++row) {
    if (expected.rows[row] == settled.rows[row]) continue;
    for (unsigned lane = 0; lane < 64; ++lane)
      if (expected.rows[row][lane] != settled.rows[row][lane])
        return format("{}{} is {:#x} in lane {}, not {:#x}", row < Registers::kAccumulation ? 'v' : 'a', row % 256,
                      got.rows[row][lane], lane, expected.rows[row][lane]);
  }
  return {};
}

}  // namespace wavegate::amdgpu::wave::testing
