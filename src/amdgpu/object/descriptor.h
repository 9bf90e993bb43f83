#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wavegate/amdgpu/object/bytes.h"
#include "wavegate/base/result.h"

/// What the hardware and its launcher are told of a kernel: register words and sizes, as they lie in the object.
namespace wavegate::amdgpu::object {

/// The values that a launcher may put into a wave's first scalar registers, in the order in which they lie there, and
/// how many registers each takes.
enum class UserSgpr : std::uint8_t {
  private_segment_buffer,  ///< 4: a buffer descriptor of scratch memory.
  dispatch_pointer,        ///< 2: the address of the dispatch packet.
  queue_pointer,           ///< 2
  kernarg_pointer,         ///< 2: the address of the arguments.
  dispatch_id,             ///< 2
  flat_scratch_init,       ///< 2
  private_segment_size,    ///< 1: scratch bytes of a work-item.
};
inline constexpr std::size_t kUserSgprKinds = 7;

std::string_view to_string(UserSgpr value);
/// Registers that it takes.
std::uint32_t size_of(UserSgpr value);

/// The kernel descriptor of versions 3 and later, 64 bytes, or what amd_kernel_code_t of version 2 says of the same
/// things.
struct Descriptor {
  std::uint32_t lds_bytes = 0;      ///< Fixed; a launch may add to it.
  std::uint32_t scratch_bytes = 0;  ///< Of a work-item, fixed.
  std::uint32_t kernarg_bytes = 0;  ///< 0 where not told.
  std::int64_t entry_offset = 0;    ///< From the descriptor's address to the first instruction.
  std::uint32_t rsrc1 = 0;          ///< COMPUTE_PGM_RSRC1
  std::uint32_t rsrc2 = 0;
  std::uint32_t rsrc3 = 0;      ///< 0 in version 2, which has none.
  std::uint8_t user_sgprs = 0;  ///< Bit i: UserSgpr(i) is passed.
  bool wave32 = false;          ///< Of targets that have both widths.
  bool dynamic_stack = false;
  std::uint8_t preloaded_dwords = 0;  ///< Of the arguments, into the registers after the other user values.
  std::uint16_t preload_offset = 0;   ///< In dwords, from the first argument.

  bool passes(UserSgpr value) const { return (user_sgprs >> static_cast<unsigned>(value) & 1) != 0; }
};

inline constexpr std::size_t kDescriptorSize = 64;
/// amd_kernel_code_t
inline constexpr std::size_t kKernelCodeSize = 256;

/// Reads a descriptor of version 3 or later. Reserved fields are not held to be zero: compilers fill some.
Descriptor read_descriptor(std::span<const std::byte, kDescriptorSize> bytes);

/// Version 2's: what only it tells comes beside.
struct KernelCode {
  Descriptor descriptor;
  std::uint32_t wave_width = 64;
  std::uint32_t sgprs = 0, vgprs = 0;
  std::uint32_t kernarg_alignment = 0;
};
KernelCode read_kernel_code(std::span<const std::byte, kKernelCodeSize> bytes);

}  // namespace wavegate::amdgpu::object
