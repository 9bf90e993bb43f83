#pragma once

#include <array>
#include <vector>

#include "amdgpu/wave/values/soft_float.h"
#include "wavegate/amdgpu/isa/instruction.h"

namespace wavegate::amdgpu::wave::testing {

/// What instructions read and write, by the numbers that encodings give registers.
struct Registers {
  static constexpr unsigned kVcc = 106, kM0 = 124, kExec = 126, kScalars = 128;
  static constexpr unsigned kAccumulation = 256, kRows = 512;
  using VectorRow = std::array<u32, 64>;

  unsigned lanes = 64;
  isa::Generation generation{};
  std::array<u32, kScalars> scalars{};
  u32 scc = 0;
  u32 mode = 0xf0 | 1u << 8 | 1u << 9;
  std::vector<VectorRow> rows{kRows};

  u64 pair(unsigned index) const { return static_cast<u64>(scalars[index + 1]) << 32 | scalars[index]; }
  u64 mask(unsigned index) const { return lanes == 32 ? scalars[index] : pair(index); }
  u64 exec() const { return mask(kExec); }
  u64 full() const { return lanes == 32 ? 0xffffffffu : ~u64{0}; }
  void set(unsigned index, u64 value, unsigned words) {
    scalars[index] = static_cast<u32>(value);
    if (words > 1) scalars[index + 1] = static_cast<u32>(value >> 32);
  }
  void set_mask(unsigned index, u64 value) { set(index, value, lanes == 32 ? 1 : 2); }

  /// The first register of a scalar operand; kNone of what is none.
  static constexpr unsigned kNone = ~0u;
  static unsigned scalar_index(const isa::Operand& operand);
  static unsigned row_index(const isa::Operand& operand);
  /// A scalar, or a constant: 64 bits of an operand that has them.
  u64 scalar(const isa::Operand& operand) const;
  /// A word of an operand in a lane.
  u32 word(const isa::Operand& operand, unsigned number, unsigned lane) const;
};

}  // namespace wavegate::amdgpu::wave::testing
