#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/amdgpu/object/bytes.h"
#include "wavegate/base/result.h"

/// What compilers tell of kernels in a note: the names, kinds and places of their arguments, and what they use.
namespace wavegate::amdgpu::object {

/// What an argument holds, and who fills it in: those named hidden are the launcher's.
enum class ValueKind : std::uint8_t {
  by_value,
  global_buffer,           ///< A pointer to global memory.
  dynamic_shared_pointer,  ///< The place in LDS of memory whose size the launch decides.
  sampler,
  image,
  pipe,
  queue,
  hidden_global_offset_x,
  hidden_global_offset_y,
  hidden_global_offset_z,
  hidden_none,  ///< Room that nothing reads.
  hidden_printf_buffer,
  hidden_hostcall_buffer,
  hidden_default_queue,
  hidden_completion_action,
  hidden_multigrid_sync_arg,
  hidden_block_count_x,  ///< u32: whole groups of the grid.
  hidden_block_count_y,
  hidden_block_count_z,
  hidden_group_size_x,  ///< u16: work-items of a whole group.
  hidden_group_size_y,
  hidden_group_size_z,
  hidden_remainder_x,  ///< u16: work-items of the partial group, 0 if there is none.
  hidden_remainder_y,
  hidden_remainder_z,
  hidden_grid_dims,  ///< u16: 1, 2 or 3.
  hidden_heap_v1,
  hidden_dynamic_lds_size,
  hidden_private_base,  ///< u32: the upper half of the scratch aperture's address.
  hidden_shared_base,   ///< u32: the upper half of the LDS aperture's address.
  hidden_queue_ptr,
  unknown,  ///< A kind that this version does not know; Argument::kind_name has its name.
};

/// "global_buffer", as objects of version 3 and later spell it.
std::string_view to_string(ValueKind kind);
/// `unknown` for a name that is none of them.
ValueKind value_kind_of(std::string_view name);
/// True if the launcher fills it in rather than the caller.
bool is_hidden(ValueKind kind);

struct Argument {
  std::string name;       ///< Empty where the compiler left names out.
  std::string type_name;  ///< Of the source language; empty where left out.
  std::string kind_name;  ///< As in the file, where `kind` is `unknown`; else empty.
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  ValueKind kind = ValueKind::by_value;
  bool is_const = false;  ///< Of a pointer: what it leads to is not written.
};

/// What the note says of a kernel. Zero is what it does not say.
struct KernelMetadata {
  std::string name;
  std::string symbol;  ///< Of the descriptor: "name.kd".
  std::uint32_t kernarg_bytes = 0;
  std::uint32_t kernarg_alignment = 0;
  std::uint32_t lds_bytes = 0;
  std::uint32_t scratch_bytes = 0;
  std::uint32_t wave_width = 0;
  std::uint32_t sgprs = 0;
  std::uint32_t vgprs = 0;
  std::uint32_t agprs = 0;
  std::uint32_t sgpr_spills = 0;
  std::uint32_t vgpr_spills = 0;
  std::uint32_t max_workgroup = 0;                    ///< Work-items of a group at most.
  std::array<std::uint32_t, 3> required_workgroup{};  ///< reqd_work_group_size; zeros where it is free.
  bool uses_dynamic_stack = false;
  std::vector<Argument> arguments;  ///< By offset.
};

struct Metadata {
  std::string target;  ///< "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"; empty before version 4.
  std::vector<KernelMetadata> kernels;
};

/// Reads the MessagePack document of versions 3 and later. Time and memory are linear in its size; what it nests deeper
/// than 32 levels is refused, keys that are not known are passed over.
Result<Metadata> parse_metadata(Bytes note);

}  // namespace wavegate::amdgpu::object
