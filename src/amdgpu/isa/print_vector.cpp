#include <optional>

#include "wavegate/amdgpu/isa/printer.h"
#include "wavegate/amdgpu/isa/tables.h"

namespace wavegate::amdgpu::isa {

namespace {

/// " name:[0,1]", the lowest bit first; nothing if all have the default.
void print_bits(Printer& printer, std::string_view name, unsigned bits, unsigned count, unsigned usual) {
  if (count == 0 || bits == usual) return;
  printer.put(" ");
  printer.put(name);
  printer.put(":[");
  for (unsigned i = 0; i < count; ++i) {
    if (i > 0) printer.put(",");
    printer.put((bits >> i & 1) != 0 ? "1" : "0");
  }
  printer.put("]");
}

void print_output_modifier(Printer& printer) {
  constexpr std::string_view kTexts[] = {"", " mul:2", " mul:4", " div:2"};
  printer.put(kTexts[printer.in.output_modifier]);
}

unsigned source_count(const Instruction& in) {
  return in.operand_count - in.destination_count;
}

/// Which byte of a word a conversion of gfx12 takes or makes.
std::optional<unsigned> selected_byte(const Instruction& in) {
  if (info(in.target).generation != Generation::gfx12) return std::nullopt;
  switch (in.opcode) {
    case Opcode::v_cvt_sr_fp8_f32:
    case Opcode::v_cvt_sr_bf8_f32: return in.op_sel >> 2;
    case Opcode::v_cvt_f32_fp8:
    case Opcode::v_cvt_f32_bf8: return (in.op_sel & 1u) << 1 | (in.op_sel >> 1 & 1u);
    default: return std::nullopt;
  }
}

void print_vop3(Printer& printer) {
  const Instruction& in = printer.in;
  const bool tied = in.opcode == Opcode::v_fmac_f16 || in.opcode == Opcode::v_cvt_sr_fp8_f32 ||
                    in.opcode == Opcode::v_cvt_sr_bf8_f32;  // whose third source is the destination
  const unsigned count = source_count(in) + (tied ? 1 : 0);
  if (const auto byte = selected_byte(in)) {
    if (*byte != 0) printer.put_modifier("byte_sel", *byte);
  } else if (to_string(in.opcode).starts_with("v_interp")) {
    if (in.op_sel != 0) printer.put(" high");
  } else if (to_string(in.opcode).starts_with("v_permlane")) {
    print_bits(printer, "op_sel", in.op_sel & 3, 2, 0);
  } else if (in.op_sel != 0) {
    // The destination's bit is the fourth, and is shown behind the sources that there are.
    const unsigned sources = in.op_sel & ((1u << count) - 1);
    print_bits(printer, "op_sel", sources | (in.op_sel >> 3) << count, count + 1, 0);
  }
  if (in.clamp) printer.put(" clamp");
  print_output_modifier(printer);
}

bool is_mix(Opcode opcode) {
  const std::string_view name = to_string(opcode);
  return name.starts_with("v_fma_mix") || name.starts_with("v_mad_mix");
}

void print_mfma(Printer& printer) {
  const Instruction& in = printer.in;
  if (in.cbsz != 0) printer.put_modifier("cbsz", in.cbsz);
  if (in.abid != 0) printer.put_modifier("abid", in.abid);
  const bool negates = in.target == Target::gfx942 && to_string(in.opcode).starts_with("v_mfma_f64");
  if (negates) {
    print_bits(printer, "neg", in.blgp, 3, 0);
  } else if (in.blgp != 0) {
    printer.put_modifier("blgp", in.blgp);
  }
}

void print_vop3p(Printer& printer) {
  const Instruction& in = printer.in;
  if (info(in.target).generation == Generation::gfx9 && info(in.opcode).has(OpcodeFlags::matrix))
    return print_mfma(printer);
  const unsigned count = source_count(in);
  const unsigned all = is_mix(in.opcode) ? 0 : (1u << count) - 1;
  if (is_mix(in.opcode)) {
    print_bits(printer, "op_sel", in.op_sel, count, 0);
    print_bits(printer, "op_sel_hi", in.op_sel_hi, count, 0);
    if (in.clamp) printer.put(" clamp");
    return;
  }
  const std::string_view name = to_string(in.opcode);
  const bool whole = name.starts_with("v_wmma_i32") || name.starts_with("v_wmma_f32") ||
                     name.starts_with("v_accvgpr");  // no halves to select
  if (name.starts_with("v_swmmac")) {
    if (in.op_sel != 0) printer.put_modifier("index_key", in.op_sel);
  } else if (!whole) {
    print_bits(printer, "op_sel", in.op_sel & all, count, 0);
    print_bits(printer, "op_sel_hi", in.op_sel_hi & all, count, all);
  }
  print_bits(printer, "neg_lo", in.neg_lo & all, count, 0);
  print_bits(printer, "neg_hi", in.neg_hi & all, count, 0);
  if (in.clamp) printer.put(" clamp");
}

void print_dpp_control(Printer& printer) {
  const unsigned control = printer.in.dpp_control;
  struct Group {
    unsigned first;
    std::string_view name;
  };
  constexpr Group kShifts[] = {{0x100, "row_shl"}, {0x110, "row_shr"}, {0x120, "row_ror"}};
  if (control <= 0xff) {
    printer.put(" quad_perm:[");
    for (unsigned i = 0; i < 4; ++i) {
      if (i > 0) printer.put(",");
      printer.put_number(control >> 2 * i & 3);
    }
    return printer.put("]");
  }
  for (const Group& group : kShifts)
    if (control > group.first && control <= group.first + 15)
      return printer.put_modifier(group.name, control - group.first);
  const bool broadcast = printer.in.target == Target::gfx90a || printer.in.target == Target::gfx942;
  switch (control) {
    case 0x130: return printer.put(" wave_shl:1");
    case 0x134: return printer.put(" wave_rol:1");
    case 0x138: return printer.put(" wave_shr:1");
    case 0x13c: return printer.put(" wave_ror:1");
    case 0x140: return printer.put(" row_mirror");
    case 0x141: return printer.put(" row_half_mirror");
    case 0x142: return printer.put(" row_bcast:15");
    case 0x143: return printer.put(" row_bcast:31");
    default: break;
  }
  if (control >= 0x160) return printer.put_modifier("row_xmask", control - 0x160);
  printer.put_modifier(broadcast ? "row_newbcast" : "row_share", control - 0x150);
}

void print_dpp(Printer& printer) {
  const Instruction& in = printer.in;
  if (in.dpp == DppKind::dpp8) {
    printer.put(" dpp8:[");
    for (unsigned i = 0; i < 8; ++i) {
      if (i > 0) printer.put(",");
      printer.put_number(in.dpp8_selectors >> 3 * i & 7);
    }
    printer.put("]");
  } else {
    print_dpp_control(printer);
    printer.put(" row_mask:");
    printer.put_hexadecimal(in.row_mask);
    printer.put(" bank_mask:");
    printer.put_hexadecimal(in.bank_mask);
    if (in.bound_control) printer.put(" bound_ctrl:1");
  }
  if (in.fetch_inactive) printer.put(" fi:1");
}

void print_select(Printer& printer, std::string_view name, SdwaSelect select) {
  constexpr std::string_view kTexts[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  printer.put(" ");
  printer.put(name);
  printer.put(":");
  printer.put(kTexts[static_cast<std::size_t>(select)]);
}

/// Conversions from 8-bit floats, which SDWA lets choose a byte and nothing else.
bool is_small_float(Opcode opcode) {
  const std::string_view name = to_string(opcode);
  return name.ends_with("f32_fp8") || name.ends_with("f32_bf8");
}

void print_sdwa(Printer& printer) {
  constexpr std::string_view kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  const Instruction& in = printer.in;
  if (in.clamp) printer.put(" clamp");
  print_output_modifier(printer);
  if (in.encoding != Encoding::vopc && !is_small_float(in.opcode)) {
    print_select(printer, "dst_sel", in.sdwa_destination);
    printer.put(" dst_unused:");
    printer.put(kUnused[static_cast<std::size_t>(in.sdwa_unused)]);
  }
  print_select(printer, "src0_sel", in.sdwa_source0);
  if (in.encoding != Encoding::vop1) print_select(printer, "src1_sel", in.sdwa_source1);
}

void print_vinterp(Printer& printer) {
  const Instruction& in = printer.in;
  if (in.clamp) printer.put(" clamp");
  print_bits(printer, "op_sel", in.op_sel, 4, 0);
  printer.put_modifier("wait_exp", in.offset);
}

void print_lds_direct(Printer& printer) {
  const Instruction& in = printer.in;
  const bool gfx12 = info(in.target).generation == Generation::gfx12;
  printer.put_modifier(gfx12 ? "wait_va_vdst" : "wait_vdst", in.offset);
  if (gfx12) printer.put_modifier("wait_vm_vsrc", in.offset1);
}

}  // namespace

void print_vector_modifiers(Printer& printer) {
  const Instruction& in = printer.in;
  if (in.sdwa) return print_sdwa(printer);
  if (in.encoding == Encoding::vop3) print_vop3(printer);
  if (in.encoding == Encoding::vop3p) print_vop3p(printer);
  if (in.encoding == Encoding::vinterp && info(in.target).generation >= Generation::gfx11) print_vinterp(printer);
  if (in.encoding == Encoding::lds_direct) print_lds_direct(printer);
  if (in.dpp != DppKind::none) print_dpp(printer);
}

}  // namespace wavegate::amdgpu::isa
