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

bool is_16_bit_integer(ValueType type) {
  return type == ValueType::b16 || type == ValueType::u16 || type == ValueType::i16;
}

void print_real(Printer& printer, const Operand& operand) {
  constexpr std::string_view kTexts[] = {"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"};
  if (is_16_bit_integer(operand.type)) return printer.put_hexadecimal(constant_bits(operand));
  if (operand.value == 0x3e22f983)
    return printer.put(operand.words == 2 && operand.type != ValueType::packed_f32 ? "0.15915494309189532" : "0.15915494");
  const unsigned exponent = operand.value >> 23 & 0xff;
  printer.put(kTexts[(exponent - 126) * 2 + (operand.value >> 31)]);
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

void print_attribute(Printer& printer, std::uint32_t value) {
  printer.put("attr");
  printer.put_number(value & 0x3f);
  printer.put(".");
  printer.put(std::string_view("xyzw").substr(value >> 6 & 3, 1));
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
    case OperandKind::literal: return printer.put_hexadecimal(operand.value);
    case OperandKind::immediate: return print_immediate(printer, operand.value);
    case OperandKind::label: return printer.put_number(operand.value & 0xffff);
    case OperandKind::attribute: return print_attribute(printer, operand.value);
    default: return printer.put(name_of(operand.kind));
  }
}

void print_operands(Printer& printer, unsigned first, unsigned end) {
  for (unsigned i = first; i < end; ++i) {
    printer.put(i == first ? " " : ", ");
    print_operand(printer, printer.in.operands[i]);
  }
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
