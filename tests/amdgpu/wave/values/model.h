#pragma once

#include "amdgpu/wave/values/registers.h"
#include "amdgpu/wave/values/rows.h"

/// What an instruction does to registers: its row in every lane, and around it what is alike for all: modifiers, parts
/// of registers, DPP, masks.
namespace wavegate::amdgpu::wave::testing {

/// What of a result is not compared bit by bit.
struct Loose {
  static constexpr unsigned kScalar = ~0u;
  struct Place {
    unsigned row, lane;  ///< or a scalar register and kScalar
    u32 unspecified;     ///< bits whose value AMD does not say
    char nan;            ///< the type of a float that is a NaN, of which any will do; or 0
    int shift;           ///< where it is in its word
  };
  bool scc = false;
  std::vector<Place> places;
};

/// Whether the row reads a float, or is one.
bool has_floats(const Row& row);

Loose execute_vector(Registers& registers, const isa::Instruction& instruction, const Row& row);
/// Both operations of a VOPD read before either writes.
Loose execute_dual(Registers& registers, const isa::Instruction& instruction, const Row& first, const Row& second);
Loose execute_scalar(Registers& registers, const isa::Instruction& instruction, const Row& row);

/// Which lane a lane reads through DPP, or -1.
int dpp_source(const isa::Instruction& instruction, unsigned lane, unsigned lanes);

}  // namespace wavegate::amdgpu::wave::testing
