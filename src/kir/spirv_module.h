#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <spirv/unified1/spirv.hpp11>
#include <string>
#include <utility>
#include <vector>

#include "wavegate/base/result.h"

namespace wavegate::kir {

/// One instruction of a module. Reading past its end gives 0, which is never an id.
struct SpirvInstruction {
  spv::Op op = spv::Op::OpNop;
  uint32_t offset = 0;              ///< index of its first word in the module
  std::span<const uint32_t> words;  ///< with the opcode word; empty past the end of the module
  uint32_t word(size_t index) const { return index < words.size() ? words[index] : 0; }
};

/// The decorations of an id that a resource interface depends on.
struct SpirvDecorations {
  std::optional<uint32_t> set;
  std::optional<uint32_t> binding;
  std::optional<uint32_t> array_stride;  ///< bytes
  bool block = false;
  bool buffer_block = false;
  bool workgroup_size = false;  ///< the constant that is the built-in WorkgroupSize
};

/// The decorations of a struct's member that its layout depends on.
struct SpirvMemberDecorations {
  std::optional<uint32_t> offset;         ///< bytes
  std::optional<uint32_t> matrix_stride;  ///< bytes
  bool row_major = false;
};

struct SpirvEntryPoint {
  spv::ExecutionModel model = spv::ExecutionModel::Max;
  uint32_t function = 0;
  std::string name;
  std::span<const uint32_t> interface;  ///< ids of variables
};

/// The skeleton of a module. It borrows the words, which must outlive it. Every instruction has its whole length,
/// every result id is below the bound and defined once, functions are closed and not nested; no operand is checked.
struct SpirvModule {
  std::span<const uint32_t> words;
  std::vector<uint32_t> definitions;  ///< offset of the defining instruction by id; 0 where there is none
  std::map<uint32_t, SpirvDecorations> decorations;
  std::map<std::pair<uint32_t, uint32_t>, SpirvMemberDecorations> member_decorations;  ///< by struct and member
  std::vector<SpirvEntryPoint> entry_points;
  std::vector<uint32_t> execution_modes;  ///< offsets of OpExecutionMode and OpExecutionModeId
  std::vector<uint32_t> variables;        ///< ids of the variables outside functions

  SpirvInstruction at(uint32_t offset) const;
  SpirvInstruction first() const;
  SpirvInstruction next(const SpirvInstruction& instruction) const;
  /// The instruction that defines the id; empty where there is none.
  SpirvInstruction definition(uint32_t id) const;
  SpirvDecorations decorations_of(uint32_t id) const;
  SpirvMemberDecorations decorations_of(uint32_t structure, uint32_t member) const;
  /// The value of an integer OpConstant that fits 32 bits; nothing for any other id, specialised constants included.
  std::optional<uint32_t> constant(uint32_t id) const;
  /// Whether the id is a constant that specialisation may change.
  bool specialised(uint32_t id) const;
};

/// Reads the skeleton of a module in time and memory linear in its words, up to a logarithm, without trusting any of
/// them. Errors: `invalid_input` for a broken module, `unsupported` for a newer version, non-logical addressing,
/// untyped pointers, or a size past 16 MiB. Messages are fragments that the caller puts the kernel's name before.
Result<SpirvModule> read_spirv(std::span<const uint32_t> words);

/// The nul-terminated string that begins at a word of the instruction, never past its end.
std::string spirv_string(const SpirvInstruction& instruction, size_t first_word);

}  // namespace wavegate::kir
