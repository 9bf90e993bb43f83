#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "amdgpu/wave/values/soft_float.h"
#include "wavegate/amdgpu/isa/instruction.h"

/// What instructions give, written down from AMD's ISA documents and from nothing of the interpreter: a row for each
/// mnemonic, with its operands' types and its value in one lane (of scalar instructions, of the wave).
namespace wavegate::amdgpu::wave::testing {

/// The operands of one lane, bits of the row's types with all modifiers applied, and what else there is to see.
struct Lane {
  std::array<u64, 4> source{};
  bool mask = false;   ///< this lane's bit of the operand that is a mask; of scalars, SCC
  bool clamp = false;  ///< integers stop at their bounds
  bool ieee = true;
  Float f16{kF16}, f32{kF32}, f64{kF64};
  isa::Generation generation{};
  const isa::Instruction* instruction = nullptr;

  // Results beside the value.
  bool flag = false;         ///< the carry, or SCC. Of scalars it is SCC before, until it is set
  bool unspecified = false;  ///< AMD does not say what comes out

  u64 a() const { return source[0]; }
  u64 b() const { return source[1]; }
  u64 c() const { return source[2]; }
  /// An exact integer as a result of so many bits: wrapped, or with `clamp` at the bounds.
  u64 as_unsigned(i128 value, int bits) const {
    const i128 most = (i128{1} << bits) - 1;
    return static_cast<u64>(clamp ? std::clamp<i128>(value, 0, most) : value & most);
  }
  u64 as_signed(i128 value, int bits) const {
    const i128 most = (i128{1} << (bits - 1)) - 1;
    return static_cast<u64>((clamp ? std::clamp<i128>(value, -most - 1, most) : value) & ((i128{1} << bits) - 1));
  }
};

/// Types, of the result first, then "=", then of the sources in the order of the syntax: f f32, d f64, h f16, u bits of
/// 32, i i32, q bits of 64, w u16, s i16, m a mask with a bit for each lane. What an instruction reads of its
/// destination is its last source.
struct Row {
  std::string_view name;
  std::string_view types;
  u64 (*value)(Lane&);

  char result() const { return types[0]; }
  std::string_view sources() const { return types.substr(2); }
};

#define WAVEGATE_VALUE(name, types, expression)                                \
  Row {                                                                        \
#name, types, [](Lane & x) -> u64 { return static_cast<u64>(expression); } \
  }

inline i64 sx(u64 value, int bits = 32) {
  return static_cast<i64>(value << (64 - bits)) >> (64 - bits);
}
inline u64 part(u64 value, int first, int bits) {
  return value >> first & ((u64{1} << bits) - 1);
}

/// An element of a dot product's packed source. Halves are chosen as for other packed instructions; what negating an
/// integer would be is not said.
inline u64 dot_part(Lane& x, unsigned number, int first, int bits) {
  const isa::Instruction& instruction = *x.instruction;
  if (instruction.encoding != isa::Encoding::vop3p) return part(x.source[number], first, bits);
  x.unspecified |= ((instruction.neg_lo | instruction.neg_hi) & 7) != 0;
  if (bits != 16) return part(x.source[number], first, bits);
  const unsigned select = first == 0 ? instruction.op_sel : instruction.op_sel_hi;
  return part(x.source[number], (select >> number & 1) != 0 ? 16 : 0, 16);
}

std::span<const Row> integer_rows();
std::span<const Row> short_rows();
std::span<const Row> float_rows();
std::span<const Row> conversion_rows();
std::span<const Row> packed_rows();
std::span<const Row> mix_rows();
std::span<const Row> scalar_rows();

/// Of any kind, compares included; nullptr if there is none.
const Row* find_row(std::string_view name);
/// v_cmp and v_cmpx by what their names say, which is made into rows once.
std::span<const Row> compare_rows();

}  // namespace wavegate::amdgpu::wave::testing
