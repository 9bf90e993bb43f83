#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "wavegate/amdgpu/wave/step.h"

/// What moves values between lanes, or between lanes and scalar registers. All lanes are read before any is written.
namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// A copy of a source in all lanes.
Row row_of(Wave& wave, const Source& source) {
  Row row;
  if (source.mode == SourceMode::row)
    std::memcpy(row.lane, wave.row(source.index)->lane, wave.lanes * sizeof(u32));
  else
    fill(row.lane, static_cast<u32>(read(wave, source)), wave.lanes);
  return row;
}

void store(Wave& wave, const Step& step, const Row& row, LaneMask written) {
  blend(wave.row(step.destination.index)->lane, row.lane, wave.spread(written), wave.lanes);
}

void count(Wave& wave) {
  wave.lane_instructions += static_cast<u64>(std::popcount(wave.exec()));
}

const Step* run_readfirstlane(Wave& wave, const Step& step) {
  count(wave);
  const LaneMask exec = wave.exec();
  const unsigned lane = exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(exec));
  const Source& source = step.sources[0];
  write(wave, step.destination,
        source.mode == SourceMode::row ? wave.row(source.index)->lane[lane] : read(wave, source));
  return step.next;
}

const Step* run_readlane(Wave& wave, const Step& step) {
  count(wave);
  const unsigned lane = static_cast<unsigned>(read(wave, step.sources[1])) & (wave.lanes - 1);
  const Source& source = step.sources[0];
  write(wave, step.destination,
        source.mode == SourceMode::row ? wave.row(source.index)->lane[lane] : read(wave, source));
  return step.next;
}

/// Writes its lane whether it is active or not.
const Step* run_writelane(Wave& wave, const Step& step) {
  count(wave);
  const unsigned lane = static_cast<unsigned>(read(wave, step.sources[1])) & (wave.lanes - 1);
  wave.row(step.destination.index)->lane[lane] = static_cast<u32>(read(wave, step.sources[0]));
  return step.next;
}

/// How many lanes below this one are in a mask, of whose low or high half it sees what is below; added to what it is
/// given.
template <unsigned half>
const Step* run_mbcnt(Wave& wave, const Step& step) {
  count(wave);
  const Row mask = row_of(wave, step.sources[0]), sum = row_of(wave, step.sources[1]);
  Row result;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    const u32 below = static_cast<u32>(((u64{1} << lane) - 1) >> (32 * half));
    result.lane[lane] = sum.lane[lane] + static_cast<u32>(std::popcount(mask.lane[lane] & below));
  }
  store(wave, step, result, wave.exec());
  return step.next;
}

/// op_sel[0]: lanes that are off are read; op_sel[1]: else they count as 0, rather than that the result is not written.
const Step* permute_rows(Wave& wave, const Step& step, u32 crossing, const auto& selector) {
  count(wave);
  const Row data = row_of(wave, step.sources[0]);
  const LaneMask exec = wave.exec();
  const bool fetch = (step.instruction.op_sel & 1) != 0, bound = (step.instruction.op_sel & 2) != 0;
  Row result;
  LaneMask written = 0;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    const unsigned source = ((lane & ~15u) ^ crossing) | selector(lane);
    const bool valid = fetch || (exec >> source & 1) != 0;
    result.lane[lane] = valid ? data.lane[source] : 0;
    if (valid || bound) written |= LaneMask{1} << lane;
  }
  store(wave, step, result, exec & written);
  return step.next;
}
template <u32 crossing>
const Step* run_permlane16(Wave& wave, const Step& step) {
  const u64 selectors = read(wave, step.sources[2]) << 32 | static_cast<u32>(read(wave, step.sources[1]));
  return permute_rows(wave, step, crossing,
                      [&](unsigned lane) { return static_cast<unsigned>(selectors >> ((lane & 15) * 4)) & 15u; });
}
template <u32 crossing>
const Step* run_permlane16_var(Wave& wave, const Step& step) {
  const Row selectors = row_of(wave, step.sources[1]);
  return permute_rows(wave, step, crossing, [&](unsigned lane) { return selectors.lane[lane] & 15u; });
}
const Step* run_permlane64(Wave& wave, const Step& step) {
  count(wave);
  if (wave.lanes == 32) return step.next;
  const Row data = row_of(wave, step.sources[0]);
  Row result;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) result.lane[lane] = data.lane[lane ^ 32];
  store(wave, step, result, wave.exec());
  return step.next;
}

const Step* run_swap(Wave& wave, const Step& step) {
  count(wave);
  const Row first = row_of(wave, step.sources[0]);
  Row* const other = wave.row(step.sources[0].index);
  Row* const to = wave.row(step.destination.index);
  const Row second = *to;
  const u32* const active = wave.spread(wave.exec());
  blend(to->lane, first.lane, active, wave.lanes);
  blend(other->lane, second.lane, active, wave.lanes);
  return step.next;
}

/// VGPRs numbered by M0.
Row* moved_by(Wave& wave, unsigned index, u32 by) {
  return wave.row(std::min<unsigned>(index + by, vector::kAccumulation - 1));
}
unsigned moved(const Wave& wave, unsigned index) {
  return std::min<unsigned>(index + wave.scalars[scalar::kM0], vector::kAccumulation - 1);
}
const Step* run_movrels(Wave& wave, const Step& step) {
  count(wave);
  const Row value = *wave.row(moved(wave, step.sources[0].index));
  store(wave, step, value, wave.exec());
  return step.next;
}
const Step* run_movreld(Wave& wave, const Step& step) {
  count(wave);
  const Row value = row_of(wave, step.sources[0]);
  blend(wave.row(moved(wave, step.destination.index))->lane, value.lane, wave.spread(wave.exec()), wave.lanes);
  return step.next;
}

const Step* run_movrelsd(Wave& wave, const Step& step) {
  count(wave);
  const Row value = *wave.row(moved(wave, step.sources[0].index));
  blend(wave.row(moved(wave, step.destination.index))->lane, value.lane, wave.spread(wave.exec()), wave.lanes);
  return step.next;
}
/// Two fields of M0 number the source and the destination.
template <bool swaps>
const Step* run_moved_apart(Wave& wave, const Step& step) {
  count(wave);
  const u32 by = wave.scalars[scalar::kM0];
  Row* const from = moved_by(wave, step.sources[0].index, by & 0x3ffu);
  Row* const to = moved_by(wave, step.destination.index, by >> 16 & 0x3ffu);
  const Row source = *from, old = *to;
  const u32* const active = wave.spread(wave.exec());
  if (swaps) blend(from->lane, old.lane, active, wave.lanes);
  blend(to->lane, source.lane, active, wave.lanes);
  return step.next;
}

/// The halves of a pair, each from a source of its own: op_sel[0] and op_sel[1] say which word of it.
const Step* run_packed_move(Wave& wave, const Step& step) {
  count(wave);
  Row words[2];
  for (unsigned i = 0; i < 2; ++i) {
    Source source = step.sources[i];
    const bool high = (step.instruction.op_sel >> i & 1) != 0;
    if (high && source.mode == SourceMode::constant) source.value >>= 32;
    if (high && source.mode != SourceMode::constant) source.index = static_cast<std::uint16_t>(source.index + 1);
    source.words = 1;
    words[i] = row_of(wave, source);
  }
  const u32* const active = wave.spread(wave.exec());
  for (unsigned i = 0; i < 2; ++i) blend(wave.row(step.destination.index + i)->lane, words[i].lane, active, wave.lanes);
  return step.next;
}

/// Four sums of byte differences, each added to a word: too wide for an operation of lanes.
const Step* run_masked_sums(Wave& wave, const Step& step) {
  count(wave);
  const auto words_of = [&](const Source& source, unsigned word) {
    Source one = source;
    if (source.mode == SourceMode::constant) one.value = word < 2 ? source.value >> (32 * word) : 0;
    one.index = static_cast<std::uint16_t>(source.index + (source.mode == SourceMode::constant ? 0 : word));
    one.words = 1;
    return row_of(wave, one);
  };
  const Row low = words_of(step.sources[0], 0), high = words_of(step.sources[0], 1),
            pattern = words_of(step.sources[1], 0);
  Row results[4];
  for (unsigned i = 0; i < 4; ++i) {
    results[i] = words_of(step.sources[2], i);
    for (unsigned lane = 0; lane < wave.lanes; ++lane) {
      const u32 window = static_cast<u32>((static_cast<u64>(high.lane[lane]) << 32 | low.lane[lane]) >> (8 * i));
      u32 sum = results[i].lane[lane];
      for (unsigned bit = 0; bit < 32; bit += 8) {
        const u32 a = window >> bit & 0xffu, b = pattern.lane[lane] >> bit & 0xffu;
        const u32 difference = b == 0 ? 0 : a > b ? a - b : b - a;
        const bool over = step.instruction.clamp != 0 && sum + difference < sum;
        sum = over ? ~0u : sum + difference;
      }
      results[i].lane[lane] = sum;
    }
  }
  const u32* const active = wave.spread(wave.exec());
  for (unsigned i = 0; i < 4; ++i)
    blend(wave.row(step.destination.index + i)->lane, results[i].lane, active, wave.lanes);
  return step.next;
}

// ---------------------------------------------------------------- through the LDS hardware, without LDS

/// Between gfx9 and gfx12 the halves of a wave64 are apart.
unsigned lane_within(const Wave& wave, unsigned lane, u32 address) {
  const isa::Generation generation = wave.machine->generation;
  const bool halves = generation == isa::Generation::gfx10 || generation == isa::Generation::gfx11;
  const unsigned index = address / 4;
  return halves && wave.lanes == 64 ? (lane & 32u) | (index & 31u) : index & (wave.lanes - 1);
}
const Step* run_bpermute(Wave& wave, const Step& step) {
  count(wave);
  const Row address = row_of(wave, step.sources[0]), data = row_of(wave, step.sources[1]);
  const LaneMask exec = wave.exec();
  Row result;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    const unsigned source = lane_within(wave, lane, address.lane[lane] + static_cast<u32>(step.instruction.offset));
    result.lane[lane] = (exec >> source & 1) != 0 ? data.lane[source] : 0;
  }
  store(wave, step, result, exec);
  return step.next;
}
const Step* run_permute(Wave& wave, const Step& step) {
  count(wave);
  const Row address = row_of(wave, step.sources[0]), data = row_of(wave, step.sources[1]);
  const LaneMask exec = wave.exec();
  Row result{};
  for (unsigned lane = 0; lane < wave.lanes; ++lane)
    if ((exec >> lane & 1) != 0)
      result.lane[lane_within(wave, lane, address.lane[lane] + static_cast<u32>(step.instruction.offset))] =
          data.lane[lane];
  store(wave, step, result, exec);
  return step.next;
}
/// Which lane of its 32 a lane reads: bits changed by masks; from 0x8000 on of its four lanes one; from 0xc000 on all
/// lanes rotated by a number, but bits in a mask kept; from 0xe000 on reordered as an FFT wants it, which reverses
/// bits.
unsigned swizzled(u32 pattern, unsigned lane) {
  const unsigned half = lane & 32u, place = lane & 31u, mask = pattern & 31u;
  if (pattern >= 0xe000u) {
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < 5; ++bit) reversed |= (place >> bit & 1) << (4 - bit);
    return half | (reversed >> std::popcount(mask)) | (place & mask);
  }
  if (pattern >= 0xc000u) {
    const unsigned distance = pattern >> 5 & 31u;
    const unsigned moved = (pattern >> 10 & 1) != 0 ? place - distance : place + distance;
    return half | (place & mask) | (moved & 31u & ~mask);
  }
  if (pattern >= 0x8000u) return (lane & ~3u) | (pattern >> ((lane & 3) * 2) & 3u);
  return half | ((((place & pattern) | (pattern >> 5 & 31u)) ^ (pattern >> 10 & 31u)) & 31u);
}
const Step* run_swizzle(Wave& wave, const Step& step) {
  count(wave);
  const Row data = row_of(wave, step.sources[0]);
  const u32 pattern = static_cast<u32>(step.instruction.offset) & 0xffffu;
  const LaneMask exec = wave.exec();
  Row result;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    const unsigned source = swizzled(pattern, lane);
    result.lane[lane] = (exec >> source & 1) != 0 ? data.lane[source] : 0;
  }
  store(wave, step, result, exec);
  return step.next;
}

struct CrossLaneRow {
  isa::Opcode opcode;
  Handler handler;
};
constexpr CrossLaneRow kRows[] = {
    {v_readfirstlane_b32, run_readfirstlane},
    {v_readlane_b32, run_readlane},
    {v_writelane_b32, run_writelane},
    {v_mbcnt_lo_u32_b32, run_mbcnt<0>},
    {v_mbcnt_hi_u32_b32, run_mbcnt<1>},
    {v_permlane16_b32, run_permlane16<0>},
    {v_permlanex16_b32, run_permlane16<16>},
    {v_permlane16_var_b32, run_permlane16_var<0>},
    {v_permlanex16_var_b32, run_permlane16_var<16>},
    {v_permlane64_b32, run_permlane64},
    {v_swap_b32, run_swap},
    {v_movrels_b32, run_movrels},
    {v_movreld_b32, run_movreld},
    {v_movrelsd_b32, run_movrelsd},
    {v_movrelsd_2_b32, run_moved_apart<false>},
    {v_swaprel_b32, run_moved_apart<true>},
    {v_pk_mov_b32, run_packed_move},
    {ds_bpermute_b32, run_bpermute},
    {ds_permute_b32, run_permute},
    {ds_swizzle_b32, run_swizzle},
    {v_mqsad_u32_u8, run_masked_sums},
};

}  // namespace

Handler cross_lane_handler(isa::Opcode opcode) {
  const auto* const row = std::ranges::find(kRows, opcode, &CrossLaneRow::opcode);
  return row == std::end(kRows) ? nullptr : row->handler;
}

}  // namespace wavegate::amdgpu::wave
