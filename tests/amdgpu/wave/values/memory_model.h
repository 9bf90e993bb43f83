#pragma once

#include <cstddef>
#include <string>

#include "amdgpu/wave/values/memory_rows.h"
#include "amdgpu/wave/values/model.h"

namespace wavegate::amdgpu::wave::testing {

/// The memories that instructions reach. Scratch memory is a lane's own.
struct Memories {
  static constexpr u64 kGlobalBytes = 8192, kLdsBytes = 1 << 18, kScratchBytes = 512;

  u64 global_base = 0;
  std::vector<std::byte> global = std::vector<std::byte>(kGlobalBytes);
  std::vector<std::byte> lds = std::vector<std::byte>(kLdsBytes);
  std::vector<std::byte> scratch = std::vector<std::byte>(kScratchBytes * 64);

  /// Of scratch memory dwords of lanes lie side by side.
  static u64 scratch_place(u64 offset, unsigned lane, unsigned lanes) {
    return offset / 4 * 4 * lanes + lane * 4 + offset % 4;
  }
};

/// Has an instruction's registers lead somewhere into memory, each lane to a place of its own; false if they cannot.
bool lead_into_memory(Registers& registers, Memories& memories, const isa::Instruction& instruction,
                      const MemoryRow& row, u64& random);
/// What it does to registers and memory.
Loose execute_memory(Registers& registers, Memories& memories, const isa::Instruction& instruction,
                     const MemoryRow& row);

/// Whether memories are as expected, up to NaNs; else what is not, in words.
std::string difference(Memories& expected, const Memories& got, const MemoryRow& row);

}  // namespace wavegate::amdgpu::wave::testing
