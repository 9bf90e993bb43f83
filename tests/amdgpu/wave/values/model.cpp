#include "amdgpu/wave/values/model.h"

#include <algorithm>
#include <array>

namespace wavegate::amdgpu::wave::testing {

namespace {

using isa::Generation;
using isa::Instruction;
using isa::Operand;
using isa::OperandFlags;

bool is_wide(char type) {
  return type == 'd' || type == 'q';
}
bool is_short(char type) {
  return type == 'h' || type == 'w' || type == 's';
}
bool is_float(char type) {
  return type == 'f' || type == 'd' || type == 'h';
}
int sign_bit(char type) {
  return is_wide(type) ? 63 : is_short(type) ? 15 : 31;
}

Float float_of(const Registers& registers, Format format) {
  const bool single = format.fraction_bits == kF32.fraction_bits;
  const u32 round = registers.mode >> (single ? 0 : 2) & 3, denormals = registers.mode >> (single ? 4 : 6) & 3;
  return {format, static_cast<Round>(round), (denormals & 1) == 0, (denormals & 2) == 0};
}
const Float& float_of(const Lane& lane, char type) {
  return type == 'f' ? lane.f32 : type == 'd' ? lane.f64 : lane.f16;
}
/// gfx12 has no bit for it.
bool is_ieee(const Registers& registers) {
  return registers.generation >= Generation::gfx12 || (registers.mode >> 9 & 1) != 0;
}

Lane lane_of(const Registers& registers, const Instruction& instruction) {
  Lane lane;
  lane.f16 = float_of(registers, kF16), lane.f32 = float_of(registers, kF32), lane.f64 = float_of(registers, kF64);
  lane.ieee = is_ieee(registers);
  lane.clamp = instruction.clamp != 0;
  lane.generation = registers.generation;
  lane.instruction = &instruction;
  return lane;
}

bool is_mix(std::string_view name) {
  return name.find("_mix") != std::string_view::npos;
}
bool is_packed(std::string_view name) {
  return name.starts_with("v_pk_");
}

/// The operands by the types of a row: those of the syntax, then the destination or VCC where they are read as well.
std::vector<Operand> operands_of(const Instruction& instruction, const Row& row) {
  const auto written = instruction.sources();
  std::vector<Operand> operands(written.begin(), written.end());
  if (operands.size() < row.sources().size()) {
    if (row.sources()[operands.size()] == 'm') {
      operands.push_back({isa::OperandKind::vcc, 2, isa::ValueType::lane_mask, 0, 0});
    } else {
      operands.push_back(instruction.operands[0]);
      operands.back().flags &= OperandFlags::high_half;
    }
  }
  return operands;
}

struct Part {
  int first = 0, bits = 32;
};
Part part_of(isa::SdwaSelect select) {
  const int number = static_cast<int>(select);
  if (select == isa::SdwaSelect::dword) return {};
  return number < 4 ? Part{number * 8, 8} : Part{(number - 4) * 16, 16};
}

u64 with_signs(u64 value, int sign, bool absolute, bool negate) {
  if (absolute) value &= ~(u64{1} << sign);
  return negate ? value ^ u64 { 1 } << sign : value;
}

/// A source of one lane; of packed ones, of one half.
struct Reader {
  const Registers& registers;
  const Instruction& instruction;
  std::string_view name;

  u64 raw(const Operand& operand, unsigned words, unsigned number, unsigned lane, bool& valid) const {
    if (number == 0 && instruction.dpp != isa::DppKind::none) {
      const int from = dpp_source(instruction, lane, registers.lanes);
      valid = from >= 0 && (instruction.fetch_inactive || (registers.exec() >> from & 1) != 0);
      if (!valid) return 0;
      lane = static_cast<unsigned>(from);
    }
    u64 value = registers.word(operand, 0, lane);
    if (words == 2) value |= static_cast<u64>(registers.word(operand, 1, lane)) << 32;
    return value;
  }
  u64 operator()(const Operand& operand, char type, unsigned number, unsigned lane, bool& valid) const {
    u64 value = raw(operand, is_wide(type) ? 2 : 1, number, lane, valid);
    if (instruction.sdwa && number < 2) {
      const Part selected = part_of(number == 0 ? instruction.sdwa_source0 : instruction.sdwa_source1);
      if (selected.bits != 32) {
        value = part(value, selected.first, selected.bits);
        if (operand.has(OperandFlags::sign_extend)) value = static_cast<u64>(sx(value, selected.bits)) & 0xffffffffu;
      }
    }
    const bool vop3_half = instruction.encoding == isa::Encoding::vop3 && is_short(type) && number < 3 &&
                           (instruction.op_sel >> number & 1) != 0;
    if (vop3_half || operand.has(OperandFlags::high_half)) value = part(value, 16, 16);
    if (is_short(type)) value &= 0xffff;
    return with_signs(value, sign_bit(type), operand.has(OperandFlags::absolute), operand.has(OperandFlags::negate));
  }
  /// v_mad_mix and v_fma_mix: a float, or a half that is made one.
  u64 mixed(const Lane& x, const Operand& operand, unsigned number, unsigned lane, bool& valid) const {
    const bool is_half = (instruction.op_sel_hi >> number & 1) != 0, is_high = (instruction.op_sel >> number & 1) != 0;
    const bool negate = (instruction.neg_lo >> number & 1) != 0 || operand.has(OperandFlags::negate);
    const bool absolute = (instruction.neg_hi >> number & 1) != 0 || operand.has(OperandFlags::absolute);
    const u64 word = raw(operand, 1, number, lane, valid);
    if (!is_half) return with_signs(word, 31, absolute, negate);
    return converted(x.f16, x.f32, with_signs(part(word, is_high ? 16 : 0, 16), 15, absolute, negate));
  }
  u64 packed(const Operand& operand, char type, unsigned number, bool high, unsigned lane) const {
    const bool selectable = number < instruction.sources().size();
    const u32 select = high ? instruction.op_sel_hi : instruction.op_sel,
              sign = high ? instruction.neg_hi : instruction.neg_lo;
    const bool upper = selectable ? (select >> number & 1) != 0 : high;
    const bool negate = selectable && (sign >> number & 1) != 0;
    u64 value = 0;
    if (type == 'f')
      value = operand.words >= 2 || Registers::row_index(operand) != Registers::kNone
                  ? registers.word(operand, upper ? 1 : 0, lane)
                  : registers.word(operand, 0, lane);
    else
      value = part(registers.word(operand, 0, lane), upper ? 16 : 0, 16);
    return with_signs(value, sign_bit(type), false, negate);
  }
};

u64 modified(const Registers& registers, Lane& lane, const Instruction& instruction, char type, u64 value,
             bool has_output_modifier, bool has_no_denormals) {
  if (!is_float(type)) return value;
  Float to = float_of(lane, type);
  to.flush_results |= has_no_denormals;
  // Whether what is rounded up to the least number counts as a denormal is not said.
  if (to.flush_results && to.format.magnitude(value) == u64{1} << to.format.fraction_bits) lane.unspecified = true;
  // Neither with denormals nor in IEEE mode; -0 becomes +0.
  const bool ieee = registers.generation < Generation::gfx12 && lane.ieee;
  if (has_output_modifier && instruction.output_modifier != 0 && !ieee && to.flush_results) {
    constexpr int kPowers[] = {0, 1, 2, -1};
    // Whether a half that has no denormals is rounded before or after it is scaled is not said.
    if (type == 'h' &&
        (to.is_zero(value) || to.is_infinite(value) || to.format.magnitude(value) + 1 == to.format.infinity()))
      lane.unspecified = true;
    value = to.scaled(value, kPowers[instruction.output_modifier]);
    if (type == 'h' && to.is_zero(value)) lane.unspecified = true;
    if (to.is_zero(value)) value = 0;
  }
  if (instruction.clamp == 0) return value;
  const bool dx10 = registers.generation >= Generation::gfx12 || (registers.mode >> 8 & 1) != 0;
  if (to.is_nan(value)) return dx10 ? 0 : value;
  if (to.is_negative(value)) return 0;
  return to.compare(value, to.format.one()) > 0 ? to.format.one() : value;
}

/// Before gfx10 a result of 16 bits clears the upper half of its register, but for those that came with gfx9.
bool keeps_other_half(const Registers& registers, std::string_view name) {
  if (registers.generation >= Generation::gfx10) return true;
  for (const std::string_view kept :
       {"v_mad_f16",    "v_mad_u16",    "v_mad_i16",       "v_fma_f16",      "v_div_fixup_f16", "v_mac_f16",
        "v_madak_f16",  "v_madmk_f16",  "v_fmac_f16",      "v_min3_f16",     "v_min3_i16",      "v_min3_u16",
        "v_max3_f16",   "v_max3_i16",   "v_max3_u16",      "v_med3_f16",     "v_med3_i16",      "v_med3_u16",
        "v_add_nc_i16", "v_sub_nc_i16", "v_mad_mixlo_f16", "v_fma_mixlo_f16"})
    if (name == kept) return true;
  return false;
}

/// Where a result's bits go.
struct Target {
  Part part;                  ///< of the register
  bool extend = false;        ///< to the whole register, by its sign
  u32 changed = 0xffffffffu;  ///< bits
  u32 unspecified = 0;
};
Target target_of(const Registers& registers, const Instruction& instruction, std::string_view name, char type) {
  Target target;
  if (instruction.sdwa && instruction.sdwa_destination != isa::SdwaSelect::dword) {
    target.part = part_of(instruction.sdwa_destination);
    target.extend = instruction.sdwa_unused == isa::SdwaUnused::sign_extend;
    if (instruction.sdwa_unused == isa::SdwaUnused::preserve)
      target.changed = static_cast<u32>(((u64{1} << target.part.bits) - 1) << target.part.first);
    return target;
  }
  if (!is_short(type)) return target;
  const bool high = instruction.operands[0].has(OperandFlags::high_half) ||
                    name.find("mixhi") != std::string_view::npos ||
                    (instruction.encoding == isa::Encoding::vop3 && (instruction.op_sel >> 3 & 1) != 0);
  target.part = {high ? 16 : 0, 16};
  if (high) target.changed = 0xffff0000u;
  if (!high && keeps_other_half(registers, name)) target.changed = 0xffff;
  // What the whole of a register gets from 16 bits through SDWA is not said of gfx10.
  if (instruction.sdwa && registers.generation >= Generation::gfx10) target.unspecified = 0xffff0000u;
  return target;
}

/// What there is to write when all has been read.
struct Results {
  std::array<u64, 64> values{};
  std::array<bool, 64> unspecified{};
  u64 written = 0;  ///< lanes
  u64 mask = 0;     ///< of a compare, of carries
};

/// NaNs of a result may be others, and halves of 16 bits may be NaNs each.
void note_nans(const Row& row, u64 value, unsigned to, unsigned lane, const Target& target, bool in_part,
               Loose& loose) {
  const char type = is_packed(row.name) && row.result() == 'h' ? 'p' : row.result();
  const bool two_words = is_packed(row.name) && type == 'f';
  const auto is_nan = [&](Format format, u64 bits) { return Float{format}.is_nan(bits); };
  if (two_words) {
    for (unsigned i = 0; i < 2; ++i)
      if (is_nan(kF32, part(value, static_cast<int>(i) * 32, 32))) loose.places.push_back({to + i, lane, 0, 'f', 0});
    return;
  }
  bool any = false;
  if (type == 'p') any = is_nan(kF16, part(value, 0, 16)) || is_nan(kF16, part(value, 16, 16));
  if (is_float(type)) any = is_nan(type == 'f' ? kF32 : type == 'd' ? kF64 : kF16, value);
  if (!any) return;
  if (in_part)
    loose.places.push_back({to, lane, target.changed, '\0', 0});
  else
    loose.places.push_back({to, lane, 0, type, target.part.first});
}

void commit_row(Registers& registers, const Instruction& instruction, const Row& row, const Results& results,
                Loose& loose) {
  const unsigned to = Registers::row_index(instruction.operands[0]);
  if (to == Registers::kNone) return;
  const bool packed = is_packed(row.name);
  const bool pair = is_wide(row.result()) || (packed && row.result() == 'f');
  const Target target = packed ? Target{} : target_of(registers, instruction, row.name, row.result());
  const bool in_part = instruction.sdwa && instruction.sdwa_destination != isa::SdwaSelect::dword;
  for (unsigned lane = 0; lane < registers.lanes; ++lane) {
    if ((results.written >> lane & 1) == 0) continue;
    const u64 value = results.values[lane];
    u64 bits = value;
    if (!pair && !packed) {
      bits = part(value, 0, target.part.bits);
      if (target.extend) bits = static_cast<u64>(sx(bits, target.part.bits));
      bits <<= target.part.first;
    }
    u32& word = registers.rows[to][lane];
    word = (word & ~target.changed) | (static_cast<u32>(bits) & target.changed);
    if (pair) registers.rows[to + 1][lane] = static_cast<u32>(value >> 32);
    if (results.unspecified[lane]) {
      loose.places.push_back({to, lane, target.changed, '\0', 0});
      if (pair) loose.places.push_back({to + 1, lane, 0xffffffffu, '\0', 0});
      continue;
    }
    if (target.unspecified != 0) loose.places.push_back({to, lane, target.unspecified, '\0', 0});
    note_nans(row, value, to, lane, target, in_part, loose);
  }
}

/// The mask goes to its operand, and with v_cmpx to exec.
void commit_mask(Registers& registers, const Instruction& instruction, const Row& row, const Results& results) {
  const bool compare = row.result() == 'm';
  const unsigned place = compare ? 0 : 1;
  if (instruction.destination_count > place)
    if (const unsigned index = Registers::scalar_index(instruction.operands[place]); index != Registers::kNone)
      registers.set_mask(index, results.mask);
  if (row.name.starts_with("v_cmpx_")) registers.set_mask(Registers::kExec, results.mask);
}

u64 value_in(const Registers& registers, const Instruction& instruction, const Row& row,
             const std::vector<Operand>& operands, Lane& x, unsigned lane, bool& valid) {
  const Reader read{registers, instruction, row.name};
  const std::string_view types = row.sources();
  const bool packed = is_packed(row.name);
  u64 whole = 0;
  for (int half = 0; half < (packed ? 2 : 1); ++half) {
    for (unsigned i = 0; i < types.size(); ++i) {
      bool here = true;
      if (types[i] == 'm')
        x.mask = (registers.scalar_index(operands[i]) == Registers::kNone
                      ? registers.scalar(operands[i])
                      : registers.mask(Registers::scalar_index(operands[i]))) >>
                     lane &
                 1;
      else if (is_mix(row.name))
        x.source[i] = read.mixed(x, operands[i], i, lane, here);
      else if (packed)
        x.source[i] = read.packed(operands[i], types[i], i, half == 1, lane);
      else
        x.source[i] = read(operands[i], types[i], i, lane, here);
      valid = valid && here;
    }
    u64 value = row.value(x);
    // MAD of f32 keeps no denormals, so that its results may be scaled always.
    const bool is_mad = row.types == "f=fff" && (row.name.starts_with("v_mad_") || row.name.starts_with("v_mac_") ||
                                                 row.name.starts_with("v_madak") || row.name.starts_with("v_madmk"));
    const bool is_half_dot = row.name == "v_dot2_f32_f16" || row.name == "v_dot2c_f32_f16";
    value = modified(registers, x, instruction, row.result(), value, !packed, is_mad || is_half_dot);
    whole |= packed
                 ? (value & (row.result() == 'f' ? 0xffffffffu : 0xffffu)) << (half * (row.result() == 'f' ? 32 : 16))
                 : value;
  }
  return whole;
}

Results results_of(const Registers& registers, const Instruction& instruction, const Row& row) {
  Results results;
  const std::vector<Operand> operands = operands_of(instruction, row);
  Lane x = lane_of(registers, instruction);
  for (unsigned lane = 0; lane < registers.lanes; ++lane) {
    if ((registers.exec() >> lane & 1) == 0) continue;
    bool valid = true;
    x.flag = x.unspecified = false;
    results.values[lane] = value_in(registers, instruction, row, operands, x, lane, valid);
    results.unspecified[lane] = x.unspecified;
    if (instruction.dpp == isa::DppKind::dpp16) {
      const bool on =
          (instruction.row_mask >> (lane / 16) & 1) != 0 && (instruction.bank_mask >> (lane / 4 % 4) & 1) != 0;
      if (!on || (!valid && !instruction.bound_control)) continue;
    }
    results.written |= u64{1} << lane;
    const bool bit = row.result() == 'm' ? (results.values[lane] & 1) != 0 : x.flag;
    if (bit) results.mask |= u64{1} << lane;
  }
  return results;
}

void commit(Registers& registers, const Instruction& instruction, const Row& row, const Results& results,
            Loose& loose) {
  if (row.result() != 'm') commit_row(registers, instruction, row, results, loose);
  if (row.result() == 'm' || instruction.destination_count > 1) commit_mask(registers, instruction, row, results);
}

/// One of the two operations of a VOPD.
Instruction half_of(const Instruction& dual, bool second) {
  Instruction half = dual;
  const unsigned first = second ? dual.second_operands : 0u, last = second ? dual.operand_count : dual.second_operands;
  for (unsigned i = first; i < last; ++i) half.operands[i - first] = dual.operands[i];
  half.operand_count = static_cast<std::uint8_t>(last - first);
  half.destination_count = 1;
  return half;
}

}  // namespace

bool has_floats(const Row& row) {
  return row.types.find_first_of("fdhp") != std::string_view::npos;
}

int dpp_source(const Instruction& instruction, unsigned lane, unsigned lanes) {
  if (instruction.dpp == isa::DppKind::dpp8)
    return static_cast<int>((lane & ~7u) | (instruction.dpp8_selectors >> (lane % 8 * 3) & 7));
  const int control = instruction.dpp_control, place = static_cast<int>(lane % 16),
            row = static_cast<int>(lane) - place;
  const int count = control & 15, last = static_cast<int>(lanes) - 1, here = static_cast<int>(lane);
  const auto in_row = [&](int wanted) { return wanted < 0 || wanted > 15 ? -1 : row + wanted; };
  if (control <= 0xff) return (here & ~3) + (control >> (here % 4 * 2) & 3);
  if (control <= 0x10f) return in_row(place + count);
  if (control <= 0x11f) return in_row(place - count);
  if (control <= 0x12f) return row + (place - count + 16) % 16;
  if (control >= 0x150 && control <= 0x15f) return row + count;
  if (control >= 0x160 && control <= 0x16f) return row + (place ^ count);
  switch (control) {
    case 0x130: return here == last ? -1 : here + 1;
    case 0x134: return here == last ? 0 : here + 1;
    case 0x138: return here == 0 ? -1 : here - 1;
    case 0x13c: return here == 0 ? last : here - 1;
    case 0x140: return row + 15 - place;
    case 0x141: return (here & ~7) + 7 - here % 8;
    case 0x142: return row == 0 ? -1 : row - 1;
    case 0x143: return here < 32 ? -1 : 31;
    default: return -1;
  }
}

Loose execute_vector(Registers& registers, const Instruction& instruction, const Row& row) {
  Loose loose;
  commit(registers, instruction, row, results_of(registers, instruction, row), loose);
  return loose;
}

Loose execute_dual(Registers& registers, const Instruction& instruction, const Row& first, const Row& second) {
  Loose loose;
  const Instruction one = half_of(instruction, false), other = half_of(instruction, true);
  const Results results = results_of(registers, one, first), other_results = results_of(registers, other, second);
  commit(registers, one, first, results, loose);
  commit(registers, other, second, other_results, loose);
  return loose;
}

Loose execute_scalar(Registers& registers, const Instruction& instruction, const Row& row) {
  Loose loose;
  Lane x = lane_of(registers, instruction);
  x.mask = x.flag = registers.scc != 0;
  const bool writes_exec =
      row.name.find("saveexec") != std::string_view::npos || row.name.find("wrexec") != std::string_view::npos;
  const bool keeps_old = row.name.find("saveexec") != std::string_view::npos;
  std::vector<Operand> operands = operands_of(instruction, row);
  const char type = row.result();
  const unsigned words = is_wide(type) ? 2 : 1;
  if (writes_exec) operands[1] = {isa::OperandKind::exec, static_cast<std::uint8_t>(words), {}, 0, 0};
  for (unsigned i = 0; i < row.sources().size(); ++i) {
    u64 value = registers.scalar(operands[i]);
    const char source = row.sources()[i];
    if (!is_wide(source)) value &= 0xffffffffu;
    if (is_short(source)) value &= 0xffff;
    const bool field = operands[i].kind == isa::OperandKind::immediate;
    x.source[i] = field && source == 's' ? static_cast<u64>(sx(value, 16)) : value;
  }
  const u64 old_exec = x.source[1];
  const u64 value = row.value(x);
  registers.scc = x.flag ? 1 : 0;
  // Of equal ones: documents say that the first is taken, hardware is reported to say the second.
  loose.scc = row.name.starts_with("s_max_") && (row.name.ends_with("32")) && type != 'f' && x.a() == x.b();
  if (writes_exec) registers.set(Registers::kExec, value, words);
  if (instruction.destination_count == 0) return loose;
  const unsigned index = Registers::scalar_index(instruction.operands[0]);
  if (index == Registers::kNone) return loose;
  registers.set(index, keeps_old ? old_exec : value, words);
  if (is_float(type) || type == 'p') {
    const bool nan = type == 'p' ? Float{kF16}.is_nan(part(value, 0, 16)) || Float{kF16}.is_nan(part(value, 16, 16))
                                 : float_of(x, type).is_nan(value);
    if (nan) loose.places.push_back({index, Loose::kScalar, 0, type, 0});
  }
  return loose;
}

}  // namespace wavegate::amdgpu::wave::testing
