#pragma once

#include <cstdint>
#include <span>

#include "wavegate/amdgpu/isa/instruction.h"

namespace wavegate::amdgpu::isa {

/// Decodes the instruction that starts at words[0]; reads no more words than it has, nor beyond the span. Words that
/// are no instruction of the target, or end too early, are an error that shows them. Time is bounded by a constant.
Result<Instruction> decode(std::span<const std::uint32_t> words, Target target, WaveWidth wave);

/// The same without an error to make: false leaves `instruction` with unspecified contents. For loops over much code.
bool try_decode(std::span<const std::uint32_t> words, Target target, WaveWidth wave, Instruction& instruction);

}  // namespace wavegate::amdgpu::isa
