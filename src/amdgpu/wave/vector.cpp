#include <bit>
#include <cstring>

#include "wavegate/amdgpu/wave/float_scope.h"
#include "wavegate/amdgpu/wave/step.h"

/// Vector arithmetic: operands are brought to where an operation wants them, it runs over all lanes, and its result
/// goes to the lanes that are active. All of an instruction's sources are read before anything is written.
namespace wavegate::amdgpu::wave {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// The rows of a source as registers hold them: nothing is converted. `space` is where a scalar is spread to.
const u32* raw_row(Wave& wave, const Source& source, unsigned word, u32* space) {
  if (source.mode == SourceMode::row) return wave.row(source.index + word)->lane;
  fill(space, static_cast<u32>(word == 0 ? read(wave, source) : read(wave, source) >> 32), wave.lanes);
  return space;
}

// ---------------------------------------------------------------- DPP

/// Which lane each lane reads, or kNone, for a control of DPP16.
constexpr std::uint8_t kNone = 255;
std::uint8_t source_of(unsigned control, unsigned lane, unsigned lanes) {
  const unsigned row = lane & ~15u, place = lane & 15u, count = control & 15u;
  const auto inside = [&](int target) {
    return static_cast<std::uint8_t>(target < 0 || target > 15 ? kNone : row + static_cast<unsigned>(target));
  };
  const auto in_wave = [&](unsigned target) { return static_cast<std::uint8_t>(target >= lanes ? kNone : target); };
  if (control < 0x100) return static_cast<std::uint8_t>((lane & ~3u) | (control >> ((lane & 3) * 2) & 3));
  switch (control & 0x1f0) {
    case 0x100: return inside(static_cast<int>(place + count));
    case 0x110: return inside(static_cast<int>(place) - static_cast<int>(count));
    case 0x120: return static_cast<std::uint8_t>(row + ((place - count) & 15u));
    case 0x150: return static_cast<std::uint8_t>(row + count);
    case 0x160: return static_cast<std::uint8_t>(row + (place ^ count));
    default: break;
  }
  switch (control) {
    case 0x130: return in_wave(lane + 1);
    case 0x134: return static_cast<std::uint8_t>((lane + 1) % lanes);
    case 0x138: return in_wave(lane - 1);
    case 0x13c: return static_cast<std::uint8_t>((lane + lanes - 1) % lanes);
    case 0x140: return static_cast<std::uint8_t>(row + (15 - place));
    case 0x141: return static_cast<std::uint8_t>((lane & ~7u) + (7 - (lane & 7u)));
    case 0x142: return in_wave(row - 1);
    case 0x143: return lane >= 32 ? std::uint8_t{31} : kNone;
    default: return kNone;
  }
}

/// The source's row after DPP, and the lanes that may be written.
LaneMask permute_lanes(Wave& wave, const isa::Instruction& instruction, const u32* from, u32* to) {
  Row result;
  LaneMask written = 0;
  const LaneMask exec = wave.exec();
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    const bool wide = instruction.dpp == isa::DppKind::dpp16;
    const unsigned source = wide ? source_of(instruction.dpp_control, lane, wave.lanes)
                                 : (lane & ~7u) + (instruction.dpp8_selectors >> ((lane & 7) * 3) & 7);
    const bool valid = source != kNone && (instruction.fetch_inactive != 0 || (exec >> source & 1) != 0);
    result.lane[lane] = valid ? from[source] : 0;
    const bool masked =
        wide && ((instruction.row_mask >> (lane >> 4) & 1) == 0 || (instruction.bank_mask >> (lane >> 2 & 3) & 1) == 0);
    if (!masked && (valid || !wide || instruction.bound_control != 0)) written |= LaneMask{1} << lane;
  }
  std::memcpy(to, &result, wave.lanes * sizeof(u32));
  return written;
}

// ---------------------------------------------------------------- sources

/// Applies |x| and -x to a source of words whose sign is bit `sign`.
const u32* with_signs(const Source& source, const u32* from, u32* to, u32 sign, unsigned lanes) {
  if (!source.negate && !source.absolute) return from;
  change_bits(to, from, source.absolute ? ~sign : ~0u, source.negate ? sign : 0, lanes);
  return to;
}

/// A source as the operation wants it. `low`, if given, is what its first word was permuted to.
const void* load(Wave& wave, const Source& source, const u32* low, Values& space, const Mode& mode) {
  const unsigned lanes = wave.lanes;
  const bool flushes = source.storage == Storage::half && mode.flushes_wide_sources();
  if (source.values != nullptr && low == nullptr && !flushes) return source.values->word;
  if (source.storage == Storage::flag) {
    expand(space.word, source.mode == SourceMode::scalar ? wave.mask(source.index) : read(wave, source), lanes);
    return space.word;
  }
  if (source.storage == Storage::pair) {
    Row spaces[2];
    const u32* const first = low != nullptr ? low : raw_row(wave, source, 0, spaces[0].lane);
    combine(space.pairs(), first,
            source.words < 2 && source.mode == SourceMode::row ? first : raw_row(wave, source, 1, spaces[1].lane),
            lanes);
    if (source.negate || source.absolute)
      change_bits(space.pairs(), source.absolute ? ~kSign<double> : ~u64{0}, source.negate ? kSign<double> : 0, lanes);
    return space.word;
  }
  const u32* row = low != nullptr ? low : raw_row(wave, source, 0, space.word);
  if (source.bits != 32 || source.first_bit != 0) {
    extract(space.word, row, source.first_bit, source.bits, source.sign_extend, lanes);
    row = space.word;
  }
  if (source.storage == Storage::word) return with_signs(source, row, space.word, 0x80000000u, lanes);
  row = with_signs(source, row, space.word, 0x8000u, lanes);
  if (source.storage == Storage::half) {
    if (flushes) {
      extract(space.word, row, 0, 16, false, lanes);
      flush_halves(space.word, lanes);
      row = space.word;
    }
    halves_to_floats(space.floats(), row, lanes);
    return space.word;
  }
  extract(space.word, row, 0, 16, source.storage == Storage::i16, lanes);
  return space.word;
}

// ---------------------------------------------------------------- results

/// Output modifiers are ignored in IEEE mode, which gfx12 has no bit for, and where denormal results are kept.
float output_factor(const Wave& wave, const Step& step) {
  constexpr float kFactors[] = {1.0f, 2.0f, 4.0f, 0.5f};
  const bool ieee = wave.mode.ieee() && wave.machine->generation < isa::Generation::gfx12;
  const bool wide = step.float_class == FloatClass::wide || step.mixed_half_result;
  const bool flushes = step.float_class == FloatClass::flushing ||
                       (wide ? wave.mode.flushes_wide_results() : wave.mode.flushes_single_results());
  return ieee || !flushes ? 1.0f : kFactors[step.instruction.output_modifier];
}

void modify(Wave& wave, const Step& step, Values& result) {
  const isa::Instruction& instruction = step.instruction;
  if (!step.float_result) return;
  const float factor = output_factor(wave, step);
  const bool clamp = instruction.clamp != 0;
  if (!clamp && factor == 1.0f) return;
  // From gfx12 on there is no bit for it, and a NaN becomes 0 always.
  const bool nan_to_zero = wave.machine->generation >= isa::Generation::gfx12 || wave.mode.dx10_clamp();
  if (step.result == Storage::pair)
    modify_doubles(reinterpret_cast<double*>(result.word), factor, clamp, nan_to_zero, wave.lanes);
  else if (step.result == Storage::half || step.result == Storage::word)
    modify_floats(result.floats(), factor, clamp, nan_to_zero, wave.lanes);
}

Rounding wide_rounding(const Mode& mode) {
  return static_cast<Rounding>(mode.round_wide());
}

/// Writes the part of a row that the step writes.
void store_row(Wave& wave, const Step& step, u32* row, LaneMask written) {
  const u32* const active = wave.spread(written);
  u32* const to = wave.row(step.destination.index)->lane;
  if (step.result_width != 32) extract(row, row, 0, step.result_width, step.result_sign_extend, wave.lanes);
  if (step.result_shift != 0)
    for (unsigned lane = 0; lane < wave.lanes; ++lane) row[lane] <<= step.result_shift;
  if (step.result_bits == ~0u)
    blend(to, row, active, wave.lanes);
  else
    blend_bits(to, row, step.result_bits, active, wave.lanes);
}

void write_mask(Wave& wave, const Step& step, const u32* flags, LaneMask written) {
  const LaneMask mask = collect(flags, wave.lanes) & written;
  if (step.mask_destination.mode == SourceMode::scalar) wave.set_mask(step.mask_destination.index, mask);
  if (step.writes_exec) wave.set_mask(scalar::kExec, mask);
}

void store(Wave& wave, const Step& step, Values& result, LaneMask written) {
  const bool flush_single = wave.mode.flushes_single_results(), flush_wide = wave.mode.flushes_wide_results();
  if (step.result == Storage::flag) return write_mask(wave, step, result.word, written);
  modify(wave, step, result);
  if (step.result == Storage::pair) {
    if (flush_wide && step.float_result) flush_pairs(result.pairs(), wave.lanes);
    Row* const to = wave.row(step.destination.index);
    if (written == wave.full) return split(to[0].lane, to[1].lane, result.pairs(), wave.lanes);
    Row low, high;
    split(low.lane, high.lane, result.pairs(), wave.lanes);
    const u32* const active = wave.spread(written);
    blend(to[0].lane, low.lane, active, wave.lanes);
    blend(to[1].lane, high.lane, active, wave.lanes);
    return;
  }
  if (step.result == Storage::half || step.mixed_half_result) {
    floats_to_halves(result.word, result.floats(), wide_rounding(wave.mode), wave.lanes);
    if (flush_wide) flush_halves(result.word, wave.lanes);
  } else if (flush_single && step.float_result && step.result == Storage::word) {
    flush_words(result.word, wave.lanes);
  }
  if (step.result == Storage::u16 || step.result == Storage::i16)
    extract(result.word, result.word, 0, 16, false, wave.lanes);
  store_row(wave, step, result.word, written);
}

// ---------------------------------------------------------------- handlers

/// A source after DPP, which only the first has and which takes lanes out of `written`.
const void* load(Wave& wave, const Step& step, const Source& source, unsigned i, Row& permuted, LaneMask& written) {
  const u32* low = nullptr;
  if (i == 0 && step.instruction.dpp != isa::DppKind::none) {
    Row space;
    written &= permute_lanes(wave, step.instruction, raw_row(wave, source, 0, space.lane), permuted.lane);
    low = permuted.lane;
  }
  return load(wave, source, low, wave.operands[i], wave.mode);
}

/// Anything: conversions, modifiers, parts of registers, DPP, masks.
const Step* run_general(Wave& wave, const Step& step) {
  LaneMask written = wave.exec();
  wave.lane_instructions += static_cast<u64>(std::popcount(written));
  const FloatScope scope(wave.mode, step.float_class);
  Call call;
  call.lanes = wave.lanes;
  call.ieee = wave.mode.ieee();
  Row permuted;
  for (unsigned i = 0; i < step.source_count; ++i)
    call.sources[i] = load(wave, step, step.sources[i], i, permuted, written);
  call.result = wave.result.word;
  call.flags = wave.flags.lane;
  step.kernel(call);
  store(wave, step, wave.result, written);
  if (step.mask_destination.mode == SourceMode::scalar && step.result != Storage::flag)
    write_mask(wave, step, wave.flags.lane, written);
  return step.next;
}

/// A call whose sources are words without modifiers; its result is to be said.
template <unsigned count>
Call plain_call(Wave& wave, const Step& step) {
  Call call;
  call.lanes = wave.lanes;
  call.ieee = wave.mode.ieee();
  for (unsigned i = 0; i < count; ++i) {
    const Source& source = step.sources[i];
    if (source.mode == SourceMode::row) {
      call.sources[i] = wave.row(source.index);
    } else if (source.values != nullptr) {
      call.sources[i] = source.values->word;
    } else {
      fill(wave.operands[i].word, wave.scalars[source.index], wave.lanes);
      call.sources[i] = wave.operands[i].word;
    }
  }
  return call;
}

/// Words without modifiers to words: most instructions of most programs.
template <unsigned count>
const Step* run_plain(Wave& wave, const Step& step) {
  if (!wave.mode.is_plain()) [[unlikely]]
    return run_general(wave, step);
  const LaneMask exec = wave.exec();
  wave.lane_instructions += static_cast<u64>(std::popcount(exec));
  Call call = plain_call<count>(wave, step);
  u32* const to = wave.row(step.destination.index)->lane;
  if (exec == wave.full) {
    call.result = to;
    step.kernel(call);
  } else {
    call.result = wave.result.word;
    step.kernel(call);
    blend(to, wave.result.word, wave.spread(exec), wave.lanes);
  }
  return step.next;
}

/// The same with a mask for a result.
const Step* run_plain_compare(Wave& wave, const Step& step) {
  if (!wave.mode.is_plain()) [[unlikely]]
    return run_general(wave, step);
  const LaneMask exec = wave.exec();
  wave.lane_instructions += static_cast<u64>(std::popcount(exec));
  Call call = plain_call<2>(wave, step);
  call.result = wave.result.word;
  step.kernel(call);
  write_mask(wave, step, wave.result.word, exec);
  return step.next;
}

/// Words, and a mask as the last source or beside the result: long sums and differences, and so most addresses, and
/// choices.
template <bool reads_mask, bool writes_mask>
const Step* run_masked(Wave& wave, const Step& step) {
  const LaneMask exec = wave.exec();
  wave.lane_instructions += static_cast<u64>(std::popcount(exec));
  Call call = plain_call<2>(wave, step);
  if constexpr (reads_mask) {
    expand(wave.operands[2].word, wave.mask(step.sources[2].index), wave.lanes);
    call.sources[2] = wave.operands[2].word;
  }
  u32* const to = wave.row(step.destination.index)->lane;
  call.result = exec == wave.full ? to : wave.result.word;
  call.flags = wave.flags.lane;
  step.kernel(call);
  if (exec != wave.full) blend(to, wave.result.word, wave.spread(exec), wave.lanes);
  if constexpr (writes_mask) write_mask(wave, step, wave.flags.lane, exec);
  return step.next;
}

/// Two operations on 16 bits, or two on 32: each reads the halves that op_sel and op_sel_hi name.
const Step* run_packed(Wave& wave, const Step& step) {
  const isa::Instruction& instruction = step.instruction;
  const LaneMask exec = wave.exec();
  wave.lane_instructions += static_cast<u64>(std::popcount(exec));
  const FloatScope scope(wave.mode, step.float_class);
  const bool words = step.result == Storage::word;
  Row halves[2];
  for (unsigned half = 0; half < 2; ++half) {
    Call call;
    call.lanes = wave.lanes;
    call.ieee = wave.mode.ieee();
    for (unsigned i = 0; i < step.source_count; ++i) {
      Source source = step.sources[i];
      source.values = nullptr;
      // The accumulator of v_pk_fmac_f16 is no source that could be selected.
      const bool selectable = i < 3 && i < instruction.sources().size();
      const bool high =
          selectable ? ((half == 0 ? instruction.op_sel : instruction.op_sel_hi) >> i & 1) != 0 : half != 0;
      source.negate = selectable && ((half == 0 ? instruction.neg_lo : instruction.neg_hi) >> i & 1) != 0;
      source.absolute = false;
      if (!words) {
        source.first_bit = high ? 16 : 0;
        source.bits = 16;
      } else if (high && source.mode == SourceMode::constant) {
        source.value >>= source.words >= 2 ? 32 : 0;
      } else if (high && source.mode != SourceMode::row && source.mode != SourceMode::scalar) {
        source.mode = SourceMode::none;  // SCC and the like have a word
      } else if (high) {
        source.index = static_cast<std::uint16_t>(source.index + 1);
        source.words = 1;
      } else {
        source.words = 1;
      }
      call.sources[i] = load(wave, source, nullptr, wave.operands[i], wave.mode);
    }
    call.result = wave.result.word;
    call.flags = wave.flags.lane;
    step.kernel(call);
    modify(wave, step, wave.result);
    if (step.result == Storage::half) {
      floats_to_halves(wave.result.word, wave.result.floats(), wide_rounding(wave.mode), wave.lanes);
      if (wave.mode.flushes_wide_results()) flush_halves(wave.result.word, wave.lanes);
    } else if (!words) {
      extract(wave.result.word, wave.result.word, 0, 16, false, wave.lanes);
    }
    std::memcpy(halves[half].lane, wave.result.word, wave.lanes * sizeof(u32));
  }
  const u32* const active = wave.spread(exec);
  if (words) {
    blend(wave.row(step.destination.index)->lane, halves[0].lane, active, wave.lanes);
    blend(wave.row(step.destination.index + 1)->lane, halves[1].lane, active, wave.lanes);
    return step.next;
  }
  for (unsigned lane = 0; lane < wave.lanes; ++lane) halves[0].lane[lane] |= halves[1].lane[lane] << 16;
  blend(wave.row(step.destination.index)->lane, halves[0].lane, active, wave.lanes);
  return step.next;
}

bool is_mask(const Source& source) {
  return source.mode == SourceMode::scalar && source.storage == Storage::flag;
}

/// The halves of a source of a dot product: which of them each product takes, and floats' signs.
const u32* with_halves(const isa::Instruction& instruction, bool is_float, unsigned index, const u32* from, u32* to,
                       unsigned lanes) {
  const unsigned low = (instruction.op_sel >> index & 1) != 0 ? 16 : 0;
  const unsigned high = (instruction.op_sel_hi >> index & 1) != 0 ? 16 : 0;
  const u32 signs = !is_float ? 0
                              : ((instruction.neg_lo >> index & 1) != 0 ? 0x8000u : 0) |
                                    ((instruction.neg_hi >> index & 1) != 0 ? 0x80000000u : 0);
  for (unsigned lane = 0; lane < lanes; ++lane)
    to[lane] = ((from[lane] >> low & 0xffffu) | (from[lane] >> high & 0xffffu) << 16) ^ signs;
  return to;
}

/// A sum of two products of halves, which op_sel and the like pick.
const Step* run_dot(Wave& wave, const Step& step) {
  LaneMask written = wave.exec();
  wave.lane_instructions += static_cast<u64>(std::popcount(written));
  const isa::Instruction& instruction = step.instruction;
  const FloatScope scope(wave.mode, step.float_class);
  Call call;
  call.lanes = wave.lanes;
  Row permuted;
  for (unsigned i = 0; i < step.source_count; ++i) {
    Source source = step.sources[i];
    if (i == 2 && (instruction.neg_lo & 4) != 0 && step.float_class != FloatClass::none) {
      source.negate = true;
      source.values = nullptr;
    }
    const void* const loaded = load(wave, step, source, i, permuted, written);
    call.sources[i] = i == 2 ? loaded
                             : with_halves(instruction, step.float_class != FloatClass::none, i,
                                           static_cast<const u32*>(loaded), wave.operands[i].word, wave.lanes);
  }
  call.result = wave.result.word;
  step.kernel(call);
  store(wave, step, wave.result, written);
  return step.next;
}

bool is_plain(const Source& source) {
  const bool place = source.mode == SourceMode::row || source.mode == SourceMode::scalar || source.values != nullptr;
  return place && source.storage == Storage::word &&
         (source.values != nullptr ||
          (!source.negate && !source.absolute && source.bits == 32 && source.first_bit == 0));
}

/// A dot product of halves whose modifiers say something.
bool picks_halves(const isa::Instruction& instruction) {
  const bool plain =
      instruction.op_sel == 0 && (instruction.op_sel_hi & 3) == 3 && instruction.neg_lo == 0 && instruction.neg_hi == 0;
  return instruction.encoding == isa::Encoding::vop3p && !plain &&
         isa::to_string(instruction.opcode).starts_with("v_dot2_");
}

}  // namespace

Handler vector_handler(const Step& step) {
  const isa::Instruction& instruction = step.instruction;
  if (isa::info(instruction.opcode).has(isa::OpcodeFlags::packed) && instruction.encoding == isa::Encoding::vop3p &&
      step.result != Storage::flag && isa::to_string(instruction.opcode).starts_with("v_pk_"))
    return run_packed;
  if (isa::to_string(instruction.opcode).starts_with("v_pk_")) return run_packed;
  if (picks_halves(instruction)) return run_dot;
  bool plain = instruction.dpp == isa::DppKind::none && !instruction.sdwa && instruction.clamp == 0 &&
               instruction.output_modifier == 0 && step.float_class != FloatClass::flushing;
  const bool word = step.result == Storage::word && !step.mixed_half_result && step.result_bits == ~0u;
  const bool writes_mask = step.mask_destination.mode == SourceMode::scalar;
  if (plain && word && step.float_class == FloatClass::none && is_plain(step.sources[0]) && is_plain(step.sources[1])) {
    if (step.source_count == 3 && is_mask(step.sources[2]))
      return writes_mask ? run_masked<true, true> : run_masked<true, false>;
    if (step.source_count == 2 && writes_mask) return run_masked<false, true>;
  }
  for (unsigned i = 0; i < step.source_count; ++i) plain = plain && is_plain(step.sources[i]);
  if (!plain) return run_general;
  if (step.result == Storage::flag && step.source_count == 2) return run_plain_compare;
  if (!word || writes_mask) return run_general;
  switch (step.source_count) {
    case 1: return run_plain<1>;
    case 2: return run_plain<2>;
    case 3: return run_plain<3>;
    default: return run_general;
  }
}

}  // namespace wavegate::amdgpu::wave
