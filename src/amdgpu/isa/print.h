#pragma once

#include <string>

#include "wavegate/amdgpu/isa/instruction.h"

namespace wavegate::amdgpu::isa {

/// AMD syntax, as LLVM 19 prints it: "v_add_f32_e32 v0, v1, v2". Labels are printed as the displacement in words.
std::string print(const Instruction& instruction);

/// Appends it to `text`.
void print(const Instruction& instruction, std::string& text);

/// The mnemonic alone with its suffix: "v_add_f32_e32".
std::string_view mnemonic(const Instruction& instruction);

}  // namespace wavegate::amdgpu::isa
