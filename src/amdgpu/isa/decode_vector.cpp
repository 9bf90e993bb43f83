#include "wavegate/amdgpu/isa/decoder.h"

namespace wavegate::amdgpu::isa {

namespace {

// Values of the first source that say which word follows.
constexpr unsigned kDpp8 = 0xe9;
constexpr unsigned kDpp8FetchInactive = 0xea;
constexpr unsigned kSdwa = 0xf9;
constexpr unsigned kDpp16 = 0xfa;

Format form_of(Format format, unsigned form) {
  return static_cast<Format>(static_cast<unsigned>(format) + form);
}

/// Whether LLVM has a name for the control: the others are reserved.
bool is_dpp_control(Generation generation, unsigned control) {
  if (control <= 0xff) return true;                                       // quad_perm
  if (control >= 0x101 && control <= 0x12f) return (control & 0xf) != 0;  // row_shl, row_shr, row_ror
  if (control == 0x140 || control == 0x141) return true;                  // row_mirror, row_half_mirror
  if (generation == Generation::gfx9) {
    if (control == 0x130 || control == 0x134 || control == 0x138 || control == 0x13c) return true;
    return control == 0x142 || control == 0x143;
  }
  return control >= 0x150 && control <= 0x16f;  // row_share, row_xmask
}

/// gfx90a's row_newbcast: of DPP, all that 64-bit operands can have.
bool is_newbcast(unsigned control) {
  return control >= 0x150 && control <= 0x15f;
}

/// The last word of a DPP16 form. `at` is the position of that word.
bool read_dpp16(Decoder& d, unsigned at) {
  Instruction& out = d.out;
  out.dpp = DppKind::dpp16;
  out.dpp_control = static_cast<std::uint16_t>(d.field(at + 8, 9));
  if (!is_dpp_control(d.generation, out.dpp_control)) {
    // gfx90a and gfx942 have row_newbcast.
    const bool broadcast = d.target == Target::gfx90a || d.target == Target::gfx942;
    if (!broadcast || !is_newbcast(out.dpp_control)) return false;
  }
  if (d.generation == Generation::gfx9 && !is_newbcast(out.dpp_control))
    for (unsigned i = 0; i < out.operand_count; ++i)
      if (out.operands[i].words == 2 && out.operands[i].type != ValueType::lane_mask) return false;
  out.fetch_inactive = d.bit(at + 18);
  out.bound_control = d.bit(at + 19);
  out.bank_mask = d.field(at + 24, 4) & 0xf;
  out.row_mask = d.field(at + 28, 4) & 0xf;
  return true;
}

void read_dpp8(Decoder& d, unsigned at, unsigned marker) {
  d.out.dpp = DppKind::dpp8;
  d.out.dpp8_selectors = d.field(at + 8, 24);
  d.out.fetch_inactive = marker == kDpp8FetchInactive;
}

bool is_integer(ValueType type) {
  return type == ValueType::u16 || type == ValueType::i16 || type == ValueType::u32 || type == ValueType::i32;
}

/// Conversions that round by random bits; gfx12 chooses the byte of the result where others choose halves.
bool chooses_byte(const Decoder& d) {
  return d.generation == Generation::gfx12 &&
         (d.out.opcode == Opcode::v_cvt_sr_fp8_f32 || d.out.opcode == Opcode::v_cvt_sr_bf8_f32);
}

/// Sets flags of the operand with the role, if there is one.
void flag(Decoder& d, Role role, std::uint8_t flags) {
  if (flags == 0) return;
  Operand* operand = d.operand_of(role);
  if (operand == nullptr) return;
  // Of an integer the bit that negates a float extends its sign.
  const bool exponent =
      d.out.opcode == Opcode::v_ldexp_f16 && d.out.encoding == Encoding::vop3 && d.generation >= Generation::gfx11;
  const bool integer = is_integer(operand->type) || (role == Role::source1 && chooses_byte(d));
  if (integer && !exponent && (flags & OperandFlags::negate) != 0)
    flags = static_cast<std::uint8_t>((flags & ~OperandFlags::negate) | OperandFlags::sign_extend);
  operand->flags |= flags;
}

std::uint8_t flags_of(bool negate, bool absolute, bool sign_extend = false) {
  return static_cast<std::uint8_t>((negate ? OperandFlags::negate : 0) | (absolute ? OperandFlags::absolute : 0) |
                                   (sign_extend ? OperandFlags::sign_extend : 0));
}

/// A source of an SDWA form: a VGPR, or with the bit set, what a scalar source can be but for a literal.
bool read_sdwa_source(Decoder& d, Role role, unsigned bits, bool scalar) {
  Operand* operand = d.operand_of(role);
  if (operand == nullptr || !scalar) return true;
  const ValueType type = operand->type;
  const std::uint8_t words = operand->words;
  *operand = source(d.generation, bits);
  operand->type = type;
  operand->words = words;
  return operand->kind != OperandKind::none && operand->kind != OperandKind::literal;
}

bool read_sdwa_select(unsigned value, SdwaSelect& select) {
  select = static_cast<SdwaSelect>(value);
  return value <= static_cast<unsigned>(SdwaSelect::dword);
}

/// The destination of a comparison: vcc, or with bit 15 set, an SGPR or SGPR pair.
bool read_sdwa_mask(Decoder& d, std::uint32_t word) {
  if (d.out.destination_count == 0 || (word >> 15 & 1) == 0) return true;
  Operand& operand = d.out.operands[0];
  const std::uint8_t words = d.out.wave == WaveWidth::wave64 ? 2 : 1;
  operand = source(d.generation, word >> 8 & 0x7f);
  const OperandRule rule = {How::scalar, Role::sdst, 0, 0, words, ValueType::lane_mask, 255, 0xffffffff};
  return operand.kind != OperandKind::none && fit(rule, d.sgprs, operand);
}

bool read_sdwa(Decoder& d, Format format) {
  Instruction& out = d.out;
  const std::uint32_t word = d.words[1];
  const std::uint32_t live = d.w[1];
  out.sdwa = true;
  const bool comparison = format == Format::vopc_sdwa;
  if (comparison) {
    if (!read_sdwa_mask(d, word)) return false;
  } else {
    if (!read_sdwa_select(live >> 8 & 7, out.sdwa_destination)) return false;
    const std::string_view name = to_string(out.opcode);
    if ((name.ends_with("f32_fp8") || name.ends_with("f32_bf8")) && (word >> 8 & 7) != 6) return false;
    const unsigned unused = live >> 11 & 3;
    out.sdwa_unused = unused == 3 ? SdwaUnused::pad : static_cast<SdwaUnused>(unused);  // 3 is reserved
    out.clamp = (live >> 13 & 1) != 0;
    out.output_modifier = live >> 14 & 3;
  }
  if (!read_sdwa_select(live >> 16 & 7, out.sdwa_source0)) return false;
  if (!read_sdwa_source(d, Role::source0, word & 0xff, word >> 23 & 1)) return false;
  flag(d, Role::source0, flags_of(live >> 20 & 1, live >> 21 & 1, live >> 19 & 1));
  if (format == Format::vop1_sdwa) return true;
  if (!read_sdwa_select(live >> 24 & 7, out.sdwa_source1)) return false;
  if (!read_sdwa_source(d, Role::source1, d.words[0] >> 9 & 0xff, word >> 31)) return false;
  flag(d, Role::source1, flags_of(live >> 28 & 1, live >> 29 & 1, live >> 27 & 1));
  return true;
}

/// The enumerators are in the order of their names.
bool is_interpolation(Opcode opcode) {
  return opcode >= Opcode::v_interp_mov_f32 && opcode < Opcode::v_ldexp_f16;
}

/// abs, neg, op_sel, clamp and omod of a VOP3. False: they do not go with the opcode.
bool read_vop3_modifiers(Decoder& d) {
  Instruction& out = d.out;
  out.clamp = d.bit(15);
  out.output_modifier = d.small(59, 2);
  const unsigned negate = d.field(61, 3);
  unsigned absolute = 0;
  if (is_interpolation(out.opcode)) {
    out.op_sel = d.small(40, 1);
    absolute = d.field(8, 3);
  } else if (d.operand_of(Role::sdst) == nullptr) {
    absolute = d.field(8, 3);
    out.op_sel = d.small(11, 4);
  }
  for (unsigned i = 0; i < 3; ++i) flag(d, static_cast<Role>(i), flags_of(negate >> i & 1, absolute >> i & 1));
  return !chooses_byte(d) || (out.op_sel & 3) == 0;
}

/// Those of VOP3P that are not packed: neg_hi is an absolute value there.
bool is_mix(Opcode opcode) {
  return opcode == Opcode::v_fma_mix_f32 || opcode == Opcode::v_fma_mixlo_f16 || opcode == Opcode::v_fma_mixhi_f16 ||
         opcode == Opcode::v_mad_mix_f32 || opcode == Opcode::v_mad_mixlo_f16 || opcode == Opcode::v_mad_mixhi_f16;
}

bool is_mfma(const Decoder& d) {
  return d.generation == Generation::gfx9 && info(d.out.opcode).has(OpcodeFlags::matrix);
}

void read_vop3p_modifiers(Decoder& d) {
  Instruction& out = d.out;
  out.clamp = d.bit(15);
  out.op_sel = d.small(11, 3);
  out.op_sel_hi = static_cast<std::uint8_t>(d.field(59, 2) | d.field(14, 1) << 2);
  out.neg_lo = d.small(61, 3);
  out.neg_hi = d.small(8, 3);
  if (is_mix(out.opcode)) {
    for (unsigned i = 0; i < 3; ++i) flag(d, static_cast<Role>(i), flags_of(out.neg_lo >> i & 1, out.neg_hi >> i & 1));
    out.neg_lo = out.neg_hi = 0;
  }
  if (is_mfma(d)) {
    out.cbsz = d.small(8, 3);
    out.abid = d.small(11, 4);
    out.blgp = d.small(61, 3);
    out.op_sel = out.op_sel_hi = out.neg_lo = out.neg_hi = 0;
    out.clamp = false;
  }
}

}  // namespace

bool decode_vector(Decoder& d, Format format, unsigned opcode) {
  const unsigned marker = d.words[0] & 0x1ff;
  if (marker == kDpp16 && d.begin(form_of(format, 1), opcode)) {
    if (!d.read_operands() || !read_dpp16(d, 32)) return false;
    flag(d, Role::source0, flags_of(d.bit(52), d.bit(53)));
    flag(d, Role::source1, flags_of(d.bit(54), d.bit(55)));
    return true;
  }
  if ((marker == kDpp8 || marker == kDpp8FetchInactive) && d.generation != Generation::gfx9 &&
      d.begin(form_of(format, 2), opcode)) {
    read_dpp8(d, 32, marker);
    return d.read_operands();
  }
  if (marker == kSdwa) {
    const Format sdwa = form_of(format, 3);
    if (d.begin(sdwa, opcode)) return d.read_operands() && read_sdwa(d, sdwa);
  }
  // Also what has no source, and so no form: v_nop.
  return d.begin(format, opcode) && d.read_operands();
}

bool decode_vop3(Decoder& d, Format format, unsigned opcode) {
  if (d.words.size() < 2) return false;
  const unsigned marker = d.generation >= Generation::gfx11 ? d.words[1] & 0x1ff : 0;
  if (marker == kDpp16) {
    if (!d.begin(form_of(format, 1), opcode) || !d.read_operands() || !read_dpp16(d, 64)) return false;
  } else if (marker == kDpp8 || marker == kDpp8FetchInactive) {
    if (!d.begin(form_of(format, 2), opcode) || !d.read_operands()) return false;
    read_dpp8(d, 64, marker);
  } else if (!d.begin(format, opcode) || !d.read_operands()) {
    return false;
  }
  if (format == Format::vop3p) {
    read_vop3p_modifiers(d);
  } else if (!read_vop3_modifiers(d)) {
    return false;
  }
  return true;
}

bool decode_vopd(Decoder& d) {
  Instruction& out = d.out;
  if (d.words.size() < 2 || !d.begin(Format::vopdx, d.words[0] >> 22 & 0xf) || !d.read_operands()) return false;
  const unsigned length = out.words;
  const unsigned first = out.operand_count;
  const Opcode opcode = out.opcode;
  const std::uint16_t row = out.row;
  Instruction second;
  second.target = out.target;
  second.wave = out.wave;
  Decoder half{d.words, d.target, d.generation, d.sgprs, d.table, second};
  if (!half.begin(Format::vopdy, d.words[0] >> 17 & 0x1f) || !half.read_operands()) return false;
  out.opcode = opcode;
  out.row = row;
  out.second_opcode = second.opcode;
  out.second_row = second.row;
  out.words = static_cast<std::uint8_t>(length > second.words ? length : second.words);
  for (unsigned i = 0; i < second.operand_count; ++i) out.operands[first + i] = second.operands[i];
  // The two destinations differ in their lowest bit, so only one of them has it encoded.
  out.operands[first].value = out.operands[first].value << 1 | (~out.operands[0].value & 1);
  out.second_operands = static_cast<std::uint8_t>(first);
  out.operand_count = static_cast<std::uint8_t>(first + second.operand_count);
  return true;
}

bool decode_interpolation(Decoder& d, Format format, unsigned opcode) {
  Instruction& out = d.out;
  if (!d.begin(format, opcode) || !d.read_operands()) return false;
  if (format == Format::vinterp) {
    out.offset = static_cast<std::int32_t>(d.words[0] >> 8 & 7);
    out.op_sel = d.small(11, 4);
    out.clamp = d.bit(15);
    for (unsigned i = 0; i < 3; ++i) flag(d, static_cast<Role>(i), flags_of(d.field(61, 3) >> i & 1, false));
  } else if (format == Format::lds_direct) {
    out.offset = static_cast<std::int32_t>(d.words[0] >> 16 & 0xf);
    out.offset1 = d.generation == Generation::gfx12 ? static_cast<std::uint8_t>(d.words[0] >> 23 & 1) : std::uint8_t{0};
  }
  return true;
}

}  // namespace wavegate::amdgpu::isa
