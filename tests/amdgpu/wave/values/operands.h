#pragma once

#include "amdgpu/wave/values/registers.h"
#include "amdgpu/wave/values/rows.h"

namespace wavegate::amdgpu::wave::testing {

/// Bits of a type: a special value of it, a neighbour of one, or any.
u64 random_bits(char type, u64& random);
/// Puts such values into the registers that an instruction reads; often two operands get the same.
void fill_sources(Registers& registers, const isa::Instruction& instruction, const Row& row, u64& random);
/// All registers at random, and exec whole or in part.
Registers random_registers(isa::Generation generation, unsigned lanes, u64& random);
u64 random_exec(unsigned lanes, u64& random);

}  // namespace wavegate::amdgpu::wave::testing
