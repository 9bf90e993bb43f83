#include "wavegate/amdgpu/isa/print.h"

#include <iterator>

#include "wavegate/amdgpu/isa/printer.h"
#include "wavegate/amdgpu/isa/tables.h"

namespace wavegate::amdgpu::isa {

namespace {

void print_range(Printer& printer, std::string_view bank, const Operand& operand) {
  printer.put(bank);
  if (operand.words <= 1) {
    printer.put_number(operand.value);
    return;
  }
  printer.put("[");
  printer.put_number(operand.value);
  printer.put(":");
  printer.put_number(operand.value + operand.words - 1);
  printer.put("]");
}

/// vcc, or one half of it.
void print_halves(Printer& printer, std::string_view name, const Operand& operand) {
  printer.put(name);
  if (operand.words <= 1) printer.put(operand.value == 0 ? "_lo" : "_hi");
}

constexpr std::uint32_t kInverseTwoPi = 0x3e22f983;

bool is_mix(Opcode opcode) {
  return to_string(opcode).find("_mix") != std::string_view::npos;
}

bool is_16_bit_integer(ValueType type) {
  return type == ValueType::b16 || type == ValueType::u16 || type == ValueType::i16;
}

/// The f16 of scalar instructions, whose constants LLVM prints as those of integers.
bool is_compared_half(const Printer& printer, const Operand& operand) {
  return operand.type == ValueType::f16 && printer.in.encoding == Encoding::sopc;
}

/// The f32 of an inline constant as text; empty for others.
std::string_view text_of_f32(std::uint32_t bits) {
  constexpr std::string_view kTexts[] = {"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"};
  if (bits == kInverseTwoPi) return "0.15915494";
  const unsigned exponent = bits >> 23 & 0xff;
  if ((bits & 0x7fffff) != 0 || exponent < 126 || exponent > 129) return "";
  return kTexts[(exponent - 126) * 2 + (bits >> 31)];
}

std::string_view text_of_f16(std::uint32_t bits) {
  if (bits == 0x3118) return "0.15915494";
  if (bits > 0xffff || (bits & 0x3ff) != 0) return "";
  const unsigned exponent = bits >> 10 & 0x1f;
  if (exponent < 14 || exponent > 17) return "";
  return text_of_f32((bits >> 15) << 31 | (exponent - 15 + 127) << 23);
}

std::string_view text_of_high_f64(std::uint32_t bits) {
  if ((bits & 0xfffff) != 0) return "";
  const unsigned exponent = bits >> 20 & 0x7ff;
  if (exponent < 1022 || exponent > 1025) return "";
  return text_of_f32((bits >> 31) << 31 | (exponent - 1023 + 127) << 23);
}

void print_real(Printer& printer, const Operand& operand) {
  if (is_compared_half(printer, operand) || is_16_bit_integer(operand.type))
    return printer.put_hexadecimal(constant_bits(operand));
  const bool wide = operand.words == 2 && operand.type != ValueType::packed_f32;
  if (wide && operand.value == kInverseTwoPi) return printer.put("0.15915494309189532");
  printer.put(text_of_f32(operand.value));
}

/// A number that is an inline integer in decimal, what has a text by it, the rest in hexadecimal.
void print_number(Printer& printer, std::int32_t integer, std::string_view real, std::uint32_t bits) {
  if (integer >= -16 && integer <= 64) return printer.put_number(integer);
  if (!real.empty()) return printer.put(real);
  printer.put_hexadecimal(bits);
}

/// The word behind an instruction, which LLVM prints as the constant that it could have been.
void print_literal(Printer& printer, const Operand& operand) {
  const std::uint32_t bits = operand.value;
  const auto integer = static_cast<std::int32_t>(bits);
  if (printer.in.encoding == Encoding::sop1 && operand.type == ValueType::f16)
    return print_number(printer, integer, text_of_f32(bits), bits);
  if (!is_compared_half(printer, operand) && (operand.type == ValueType::f16 || is_mix(printer.in.opcode))) {
    const auto low = static_cast<std::uint16_t>(bits);
    return print_number(printer, static_cast<std::int16_t>(low), text_of_f16(low), low);
  }
  if (is_16_bit_integer(operand.type) || is_compared_half(printer, operand))
    return print_number(printer, integer, text_of_f32(bits), bits & 0xffff);
  if (operand.type == ValueType::bf16)
    return print_number(printer, static_cast<std::int16_t>(bits), text_of_f32(bits << 16), bits);
  if (operand.type == ValueType::packed_bf16) return print_number(printer, integer, "", bits);
  if (operand.type == ValueType::packed_f16) return print_number(printer, integer, text_of_f16(bits), bits);
  if (operand.type == ValueType::f64) return print_number(printer, bits == 0 ? 0 : 65, text_of_high_f64(bits), bits);
  if (operand.words == 2) return print_number(printer, integer < 0 ? 65 : integer, "", bits);
  print_number(printer, integer, text_of_f32(bits), bits);
}

/// Which operand of v_fmaak and the like is always a word behind the instruction; -1 for others.
int word_operand(std::string_view name) {
  if (name.find("aak_") != std::string_view::npos || name.find("adak_") != std::string_view::npos) return 3;
  if (name.find("amk_") != std::string_view::npos || name.find("admk_") != std::string_view::npos) return 2;
  return -1;
}

std::string_view name_of(OperandKind kind) {
  switch (kind) {
    case OperandKind::off: return "off";
    case OperandKind::null: return "null";
    case OperandKind::m0: return "m0";
    case OperandKind::scc: return "src_scc";
    case OperandKind::vccz: return "src_vccz";
    case OperandKind::execz: return "src_execz";
    case OperandKind::shared_base: return "src_shared_base";
    case OperandKind::shared_limit: return "src_shared_limit";
    case OperandKind::private_base: return "src_private_base";
    case OperandKind::private_limit: return "src_private_limit";
    case OperandKind::pops_exiting_wave_id: return "src_pops_exiting_wave_id";
    case OperandKind::lds_direct: return "src_lds_direct";
    default: return "";
  }
}

/// The offset of scalar memory.
void print_offset(Printer& printer, const Operand& operand) {
  const auto value = static_cast<std::int32_t>(operand.value);
  if (value < 0) printer.put("-");
  printer.put_hexadecimal(value < 0 ? 0u - operand.value : operand.value);
}

void print_attribute(Printer& printer, std::uint32_t value) {
  printer.put("attr");
  printer.put_number(value >> 2);
  printer.put(".");
  printer.put(std::string_view("xyzw").substr(value & 3, 1));
}

void print_value(Printer& printer, const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::sgpr: return print_range(printer, "s", operand);
    case OperandKind::vgpr: return print_range(printer, "v", operand);
    case OperandKind::agpr: return print_range(printer, "a", operand);
    case OperandKind::ttmp: return print_range(printer, "ttmp", operand);
    case OperandKind::vcc: return print_halves(printer, "vcc", operand);
    case OperandKind::exec: return print_halves(printer, "exec", operand);
    case OperandKind::flat_scratch: return print_halves(printer, "flat_scratch", operand);
    case OperandKind::xnack_mask: return print_halves(printer, "xnack_mask", operand);
    case OperandKind::integer: return printer.put_number(static_cast<std::int32_t>(operand.value));
    case OperandKind::real: return print_real(printer, operand);
    case OperandKind::literal: return print_literal(printer, operand);
    case OperandKind::immediate:
      return operand.type == ValueType::i32 ? print_offset(printer, operand) : print_immediate(printer, operand.value);
    case OperandKind::label: return printer.put_number(operand.value & 0xffff);
    case OperandKind::attribute: return print_attribute(printer, operand.value);
    default: return printer.put(name_of(operand.kind));
  }
}

/// The registers of an image's addresses where they are not one range.
void print_addresses(Printer& printer) {
  for (unsigned i = 0; i < printer.in.address_count; ++i) {
    printer.put(i == 0 ? "[v" : ", v");
    printer.put_number(printer.in.addresses[i]);
  }
  printer.put("]");
}

void print_operands(Printer& printer, unsigned first, unsigned end) {
  const int word = word_operand(to_string(first == 0 ? printer.in.opcode : printer.in.second_opcode));
  for (unsigned i = first; i < end; ++i) {
    // VOPD does not show the mask of its v_cndmask.
    if (printer.in.encoding == Encoding::vopd && printer.in.operands[i].kind == OperandKind::vcc &&
        printer.in.operands[i].type == ValueType::lane_mask)
      continue;
    printer.put(i == first ? " " : ", ");
    const Operand& operand = printer.in.operands[i];
    if (i == 1 && printer.in.address_count != 0) {
      print_addresses(printer);
    } else if (operand.kind == OperandKind::literal && static_cast<int>(i - first) == word) {
      printer.put_hexadecimal(operand.value);
    } else {
      print_operand(printer, operand);
    }
  }
}

void print_export_target(Printer& printer, unsigned target) {
  const Generation generation = info(printer.in.target).generation;
  const bool late = generation >= Generation::gfx11;
  if (target < 8) {
    printer.put("mrt");
    return printer.put_number(target);
  }
  if (target == 8) return printer.put("mrtz");
  if (target == 9 && !late) return printer.put("null");
  if (target >= 12 && target <= (generation == Generation::gfx9 ? 15u : 16u)) {
    printer.put("pos");
    return printer.put_number(target - 12);
  }
  if (target == 20 && generation != Generation::gfx9) return printer.put("prim");
  if ((target == 21 || target == 22) && late) {
    printer.put("dual_src_blend");
    return printer.put_number(target - 21);
  }
  if (target >= 32 && !late) {
    printer.put("param");
    return printer.put_number(target - 32);
  }
  printer.put("invalid_target_");
  printer.put_number(target);
}

void print_export(Printer& printer) {
  const Instruction& in = printer.in;
  printer.put(" ");
  print_export_target(printer, in.format);
  print_operands(printer, 0, in.operand_count);
  printer.put_flag(MemoryFlags::done, "done");
  printer.put_flag(MemoryFlags::compressed, "compr");
  printer.put_flag(MemoryFlags::valid_mask, "vm");
  printer.put_flag(MemoryFlags::row_enable, "row_en");
}

}  // namespace

void print_operand(Printer& printer, const Operand& operand) {
  const bool negate = operand.has(OperandFlags::negate);
  const bool absolute = operand.has(OperandFlags::absolute);
  const bool in_words = negate && !absolute && operand.is_constant();  // "-1" would be another constant
  if (operand.has(OperandFlags::sign_extend)) printer.put("sext(");
  if (negate) printer.put(in_words ? "neg(" : "-");
  if (absolute) printer.put("|");
  print_value(printer, operand);
  if (absolute) printer.put("|");
  if (in_words) printer.put(")");
  if (operand.has(OperandFlags::sign_extend)) printer.put(")");
}

std::string_view mnemonic(const Instruction& instruction) {
  return table(instruction.target).rows[instruction.row].mnemonic;
}

void print(const Instruction& instruction, std::string& text) {
  Printer printer{instruction, text};
  printer.put(mnemonic(instruction));
  // LLVM has a space more behind the names of those with a sampler.
  if (instruction.address_count != 0 && instruction.operand_count == 4) printer.put(" ");
  if (instruction.encoding == Encoding::export_) return print_export(printer);
  if (instruction.opcode == Opcode::s_endpgm && instruction.operands[0].value == 0) return;
  print_operands(printer, 0, instruction.second_operands);
  if (instruction.encoding == Encoding::vopd) {
    printer.put(" :: ");
    printer.put(table(instruction.target).rows[instruction.second_row].mnemonic);
    print_operands(printer, instruction.second_operands, instruction.operand_count);
    return;
  }
  if (instruction.encoding < Encoding::smem) return;
  if (instruction.encoding >= Encoding::vop1 && instruction.encoding <= Encoding::lds_direct) {
    print_vector_modifiers(printer);
  } else {
    print_memory_modifiers(printer);
  }
}

std::string print(const Instruction& instruction) {
  std::string text;
  print(instruction, text);
  return text;
}

}  // namespace wavegate::amdgpu::isa
