#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "wavegate/amdgpu/isa/instruction.h"

namespace wavegate::amdgpu::isa {

/// Text of one instruction while it grows.
struct Printer {
  const Instruction& in;
  std::string& text;

  void put(std::string_view part) { text += part; }
  void put_number(std::int64_t value) {
    char digits[24];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  void put_hexadecimal(std::uint64_t value) {
    char digits[24];
    text += "0x";
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value, 16).ptr);
  }
  /// As LLVM prints an immediate: what would be an inline constant in decimal, the rest in hexadecimal.
  void put_immediate(std::uint32_t value) {
    if (value <= 64) {
      put_number(value);
    } else {
      put_hexadecimal(value);
    }
  }
  /// " name:value"
  void put_modifier(std::string_view name, std::int64_t value) {
    text += ' ';
    text += name;
    text += ':';
    put_number(value);
  }
  /// " name", if the instruction has the flag.
  void put_flag(MemoryFlags::Flag flag, std::string_view name) {
    if (!in.has(flag)) return;
    text += ' ';
    text += name;
  }
};

/// The 16 bits of a scalar instruction: a number, or what they stand for.
void print_immediate(Printer& printer, std::uint32_t value);
/// What follows the operands of a vector instruction.
void print_vector_modifiers(Printer& printer);
/// What follows the operands of a memory instruction.
void print_memory_modifiers(Printer& printer);
void print_operand(Printer& printer, const Operand& operand);

}  // namespace wavegate::amdgpu::isa
