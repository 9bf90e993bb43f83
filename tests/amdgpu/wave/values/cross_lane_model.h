#pragma once

#include "amdgpu/wave/values/model.h"

namespace wavegate::amdgpu::wave::testing {

/// Whether a mnemonic moves values between lanes, or registers by numbers: there is no row of one lane for it.
bool is_cross_lane(std::string_view name);
/// Brings registers to where the instruction reads something; false if it has a form that is not compared.
bool prepare_cross_lane(Registers& registers, const isa::Instruction& instruction, u64& random);
void execute_cross_lane(Registers& registers, const isa::Instruction& instruction);

}  // namespace wavegate::amdgpu::wave::testing
