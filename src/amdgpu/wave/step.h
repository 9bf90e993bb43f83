#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "wavegate/amdgpu/isa/instruction.h"
#include "wavegate/amdgpu/wave/operation.h"
#include "wavegate/amdgpu/wave/state.h"

/// A program as the interpreter runs it: each instruction decoded once, with the function that does it and its operands
/// resolved, linked to those that may follow.
namespace wavegate::amdgpu::wave {

struct Step;
/// Does an instruction for a wave and returns the next, or nullptr where the wave waits, ends or fails.
using Handler = const Step* (*)(Wave& wave, const Step& step);

enum class SourceMode : std::uint8_t {
  none,
  row,       ///< vector registers from row `index` on
  scalar,    ///< scalar registers from `index` on
  constant,  ///< `value`
  scc,
  vccz,
  execz,
};

struct Source {
  SourceMode mode = SourceMode::none;
  Storage storage = Storage::none;  ///< how the operation wants it
  std::uint8_t words = 0;
  bool negate = false;
  bool absolute = false;
  bool sign_extend = false;
  std::uint8_t first_bit = 0;  ///< of the part that is read
  std::uint8_t bits = 32;
  std::uint16_t index = 0;
  std::uint64_t value = 0;
  /// Of a constant: its value in all lanes, converted and with modifiers applied.
  const Values* values = nullptr;
};

struct Destination {
  SourceMode mode = SourceMode::none;  ///< row, scalar or none
  std::uint8_t words = 0;
  std::uint16_t index = 0;
};

enum class MemorySpace : std::uint8_t { global, flat, scratch, lds, buffer };
enum class AtomicOperation : std::uint8_t {
  none,
  swap,
  compare_swap,
  add,
  subtract,
  reverse_subtract,
  signed_minimum,
  unsigned_minimum,
  signed_maximum,
  unsigned_maximum,
  bit_and,
  bit_or,
  bit_xor,
  increment,
  decrement,
  add_f32,
  add_f64,
  minimum_f32,
  maximum_f32,
  minimum_f64,
  maximum_f64,
  compare_swap_f32,
  compare_swap_f64,
  packed_add_f16,
  packed_add_bf16,
  subtract_clamped,
  conditional_subtract,
  masked_or,
  wrap,
  exchange_marked_words,
};

/// What a memory instruction moves.
struct MemoryAction {
  enum class Kind : std::uint8_t { none, load, store, atomic };
  Kind kind = Kind::none;
  MemorySpace space{};
  std::uint8_t element_bytes = 4;  ///< 1 or 2 of narrow ones, else 4; of atomics 4 or 8
  std::uint8_t words = 1;          ///< registers
  bool sign_extend = false;
  bool half = false;       ///< d16: the other half of the register stays
  bool high_half = false;  ///< it is the high one that is moved
  bool two_addresses = false;
  bool by_lane = false;         ///< lanes have no addresses: their words lie side by side
  std::uint32_t stride = 0;     ///< of the offsets of two addresses, in bytes
  std::uint8_t components = 0;  ///< of typed buffers: so many values, converted by a format
  bool typed = false;           ///< it is the instruction's, not the descriptor's
  bool to_lds = false;          ///< what is loaded goes to LDS, at M0
  AtomicOperation atomic = AtomicOperation::none;
  bool returns = false;
  // Which of the step's sources they are.
  std::uint8_t address = 0;
  std::uint8_t data = 1;
  std::uint8_t second_data = 2;
  std::uint8_t base = 3;  ///< scalar address or buffer descriptor
  std::uint8_t base_offset = 3;
};

struct Step {
  Handler run = nullptr;
  const Step* next = nullptr;
  const Step* target = nullptr;  ///< of a branch
  Kernel kernel = nullptr;
  std::array<Source, 5> sources{};  ///< one more than an instruction has, so that there always is one that is none
  std::uint8_t source_count = 0;
  Destination destination;
  Destination mask_destination;  ///< of carries and of compares

  // of vector operations
  Storage result = Storage::none;
  FloatClass float_class = FloatClass::none;
  bool float_result = false;
  bool mixed_half_result = false;   ///< an f32 that is written as f16
  bool writes_exec = false;         ///< v_cmpx
  std::uint8_t result_shift = 0;    ///< of parts of registers
  std::uint32_t result_bits = ~0u;  ///< those that are written
  bool result_sign_extend = false;  ///< SDWA
  std::uint8_t result_width = 32;

  MemoryAction memory;
  std::uint64_t address = 0;
  isa::Instruction instruction;
};

/// A scalar operand's value: 64 bits of those that are wider, else 32.
inline std::uint64_t read(const Wave& wave, const Source& source) {
  switch (source.mode) {
    case SourceMode::scalar: return source.words >= 2 ? wave.pair(source.index) : wave.scalars[source.index];
    case SourceMode::row: return wave.vectors[source.index].lane[0];
    case SourceMode::constant: return source.value;
    case SourceMode::scc: return wave.scc;
    case SourceMode::vccz: return wave.vcc() == 0 ? 1 : 0;
    case SourceMode::execz: return wave.exec() == 0 ? 1 : 0;
    case SourceMode::none: return 0;
  }
  return 0;
}

inline void write(Wave& wave, const Destination& destination, std::uint64_t value) {
  wave.scalars[destination.index] = static_cast<std::uint32_t>(value);
  if (destination.words >= 2) wave.scalars[destination.index + 1] = static_cast<std::uint32_t>(value >> 32);
}

/// What an instruction is, in AMD's syntax; of half of a dual instruction, the whole.
std::string text_of(const Wave& wave, const Step& step);
/// Where it is: "0x54" in the kernel, "look_up+0x54" in a function that it calls.
std::string place_text(const Wave& wave, const Step& step);

/// Handlers, by kind; translate.cpp chooses.
Handler scalar_handler(isa::Opcode opcode);
Handler control_handler(const isa::Instruction& instruction);
Handler cross_lane_handler(isa::Opcode opcode);
/// What a memory instruction moves; nothing where that is not implemented.
std::optional<MemoryAction> memory_action(const isa::Instruction& instruction);
Handler memory_handler(const MemoryAction& action);
Handler scalar_memory_handler(isa::Opcode opcode);
/// Of a step whose operands are resolved; nullptr for what is no matrix instruction.
Handler matrix_handler(const Step& step);
/// Of a step whose operands are resolved.
Handler vector_handler(const Step& step);
const Step* run_unsupported(Wave& wave, const Step& step);

}  // namespace wavegate::amdgpu::wave
