#pragma once

#include <span>

#include "wavegate/amdgpu/isa/sources.h"
#include "wavegate/amdgpu/isa/tables.h"

namespace wavegate::amdgpu::isa {

/// The words of one instruction while it is decoded. Formats have their functions in decode*.cpp; each returns whether
/// the words are an instruction.
struct Decoder {
  std::span<const std::uint32_t> words;
  Target target;
  Generation generation;
  unsigned sgprs;
  const TargetTable& table;
  Instruction& out;
  std::uint32_t w[3] = {};  ///< the format's words, without the bits that have no meaning
  const Shape* shape = nullptr;
  unsigned literal_at = 0;  ///< the word that a literal would be; the length so far

  /// Finds the row, checks the fixed bits, reads the words. False if there is no such opcode.
  bool begin(Format format, unsigned opcode);
  /// Reads the operands by the rules of the shape.
  bool read_operands();
  /// Whether a VGPR's number is that of an AGPR.
  bool is_accumulator(const OperandRule& rule) const;
  bool read(const OperandRule& rule, Operand& operand);
  /// Reads the 9 bits of a source as a rule wants it.
  bool read_source(const OperandRule& rule, unsigned bits, Operand& operand);

  std::uint32_t field(unsigned position, unsigned bits) const {
    return w[position >> 5] >> (position & 31) & ((1u << bits) - 1);
  }
  std::uint8_t small(unsigned position, unsigned bits) const {
    return static_cast<std::uint8_t>(field(position, bits));
  }
  bool bit(unsigned position) const { return field(position, 1) != 0; }
  void set(MemoryFlags::Flag flag, bool on) {
    if (on) out.memory_flags |= flag;
  }
  Operand* operand_of(Role role);
};

bool decode_vector(Decoder& d, Format format, unsigned opcode);
bool decode_vop3(Decoder& d, Format format, unsigned opcode);
bool decode_vopd(Decoder& d);
bool decode_interpolation(Decoder& d, Format format, unsigned opcode);
bool decode_memory(Decoder& d, Format format, unsigned opcode);
bool decode_image(Decoder& d, unsigned opcode);

}  // namespace wavegate::amdgpu::isa
