#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/amdgpu/object/bytes.h"
#include "wavegate/amdgpu/object/code_target.h"
#include "wavegate/amdgpu/object/descriptor.h"
#include "wavegate/amdgpu/object/elf.h"
#include "wavegate/amdgpu/object/metadata.h"
#include "wavegate/base/result.h"

/// AMD's code objects: ELF files of a target's machine code, with a descriptor and metadata for each kernel.
namespace wavegate::amdgpu::object {

struct Kernel {
  std::string name;  ///< As the host asks for it, without ".kd".
  Descriptor descriptor;
  std::uint64_t descriptor_address = 0;
  std::uint64_t entry = 0;  ///< Address of the first instruction, before the object is moved to where it is loaded.
  Bytes code;               ///< From there to the function's end, as its symbol says; without the padding after it.
  std::uint32_t wave_width = 64;
  bool has_metadata = false;  ///< Without, all below is zero but what the descriptor tells.
  std::uint32_t lds_bytes = 0;
  std::uint32_t scratch_bytes = 0;
  std::uint32_t kernarg_bytes = 0;
  std::uint32_t kernarg_alignment = 0;
  std::uint32_t sgprs = 0;
  std::uint32_t vgprs = 0;
  std::uint32_t agprs = 0;
  std::uint32_t max_workgroup = 0;
  std::array<std::uint32_t, 3> required_workgroup{};
  bool uses_dynamic_stack = false;
  std::vector<Argument> arguments;  ///< By offset.
  /// Of a raw shader: what s0 and on hold. Its descriptor says nothing of what they mean.
  std::vector<std::uint32_t> user_sgpr_values;

  /// The argument of this name or, of those that a caller gives, of this number: "x" or "0". nullptr if there is none.
  const Argument* find_argument(std::string_view name_or_number) const;
};

/// A code object. Names, code and contents are views of its bytes, which must outlive it; the bytes need no alignment.
struct CodeObject {
  std::uint32_t version = 0;  ///< 2 to 6; 0 for a raw shader.
  CodeTarget target;
  Elf elf;
  std::vector<Symbol> symbols;
  std::vector<Kernel> kernels;  ///< In the order of the metadata.

  /// The kernel of this name, nullptr if there is none.
  const Kernel* find_kernel(std::string_view name) const;
};

/// True if the bytes are an ELF file for AMD's GPUs.
bool is_code_object(Bytes bytes);

/// What the header says, without a look at anything else.
struct Identity {
  std::uint32_t version = 0;
  CodeTarget target;
};
Result<Identity> identify(Bytes bytes);

/// Reads a linked code object of any version. Time is linear in its size up to a logarithm, memory a small multiple of
/// its tables. Objects that no linker has seen are unsupported.
Result<CodeObject> parse_code_object(Bytes bytes);

}  // namespace wavegate::amdgpu::object
