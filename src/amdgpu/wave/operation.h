#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "wavegate/amdgpu/isa/opcode.h"
#include "wavegate/amdgpu/wave/row.h"

/// The operations of vector instructions: what is computed in each lane, free of registers, modifiers and masks. Those
/// are the same for all of them and done before and after, see vector.h.
namespace wavegate::amdgpu::wave {

/// How a value of one lane is handed to an operation. A function's parameter types say it.
enum class Storage : std::uint8_t {
  none,
  word,  ///< float, uint32_t, int32_t: a word a lane
  pair,  ///< double, uint64_t, int64_t: 8 bytes a lane
  half,  ///< F16: a float a lane, which is rounded to 16 bits when it is written
  u16,   ///< U16: a word a lane, extended with zeros
  i16,   ///< I16: a word a lane, extended by its sign
  flag,  ///< Flag: a word a lane, 0 or all ones; a bit of a mask in registers
  quad,  ///< four words a lane: v_mqsad_u32_u8
};

struct F16 {
  float value;
};
struct U16 {
  std::uint32_t value;
};
struct I16 {
  std::int32_t value;
};
struct Flag {
  std::uint32_t value;
};

/// A result beside which a mask is written: a carry, or v_div_scale's.
template <typename T>
struct WithFlag {
  T value;
  std::uint32_t flag;  ///< 0 or 1: a bool keeps compilers from making vector code
};

/// The bit of MODE that some operations depend on, for functions that ask for it as their first parameter.
struct Ieee {
  bool on;
};

/// One execution for a wave. Lanes that are not active are computed as well, and not written.
struct Call {
  void* result = nullptr;
  std::uint32_t* flags = nullptr;
  std::array<const void*, 4> sources{};
  unsigned lanes = 0;  ///< 32 or 64
  bool ieee = false;
};
using Kernel = void (*)(const Call&);

/// How near a result is to what hardware gives.
enum class Exactness : std::uint8_t {
  exact,        ///< AMD defines every bit.
  approximate,  ///< AMD bounds the error; this is the correctly rounded value.
};

/// Which fields of MODE rule over an operation's arithmetic. `flushing` is single without denormals, whatever MODE
/// says.
enum class FloatClass : std::uint8_t { none, single, wide, flushing };

struct Operation {
  isa::Opcode opcode;
  Kernel kernel;
  Storage result;  ///< `flag` of compares
  bool writes_flags;
  std::array<Storage, 4> sources;
  FloatClass float_class;
  bool float_result;  ///< what modifiers and flushing of denormals apply to
  Exactness exactness = Exactness::exact;
};

/// Every operation, by opcode; nullptr where there is none. Packed operations have the row of their half.
const Operation* find_operation(isa::Opcode opcode);

/// The tables that it is made from, one a source.
std::span<const Operation> float_operations();
std::span<const Operation> half_operations();
std::span<const Operation> double_operations();
std::span<const Operation> approximate_operations();
std::span<const Operation> integer_operations();
std::span<const Operation> short_operations();
std::span<const Operation> conversion_operations();
std::span<const Operation> compare_operations();
std::span<const Operation> dot_operations();
std::span<const Operation> reduction_operations();

/// The row of an integer operation whose instruction has `clamp`; nullptr where there is none.
const Operation* find_saturating_operation(isa::Opcode opcode);
std::span<const Operation> saturating_operations();
std::span<const Operation> saturating_dot_operations();

/// Dot products of integers that are signed as bits 0 and 1 of `signs` say; nullptr for other opcodes.
const Operation* find_mixed_dot(isa::Opcode opcode, unsigned signs, bool clamp);

/// gfx90a's dot products of halves, which have no denormals; nullptr for other opcodes.
const Operation* find_normal_dot(isa::Opcode opcode);
/// gfx9's sine and cosine in f32, which are 0 and 1 beyond 256 turns; nullptr for other opcodes.
const Operation* find_bounded_sine(isa::Opcode opcode);

/// gfx942's conversions of floats of 8 bits, whose formats are its own; nullptr for other opcodes.
const Operation* find_fnuz_operation(isa::Opcode opcode);
std::span<const Operation> small_float_operations();
std::span<const Operation> fnuz_operations();

}  // namespace wavegate::amdgpu::wave
