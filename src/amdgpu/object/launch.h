#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "wavegate/amdgpu/isa/target.h"
#include "wavegate/amdgpu/object/descriptor.h"
#include "wavegate/base/result.h"

/// What a wave's registers hold at its first instruction.
namespace wavegate::amdgpu::object {

/// Where something lies among the scalar registers: s[first] to s[first + count - 1].
struct SgprRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  bool operator==(const SgprRange&) const = default;
};

/// How a wave finds its scratch memory.
enum class ScratchSetup : std::uint8_t {
  none,         ///< It has none.
  offset_sgpr,  ///< Its offset from the dispatch's scratch comes in an SGPR, for the program to add.
  architected,  ///< FLAT_SCRATCH holds its address already.
};

/// A launch puts values into s0 and on: first those that the launcher passes, the same for all waves, then, from
/// `user_sgprs` on, those that differ between groups and waves.
struct LaunchState {
  /// By UserSgpr; nothing where it is not passed.
  std::array<std::optional<SgprRange>, kUserSgprKinds> user;
  /// Arguments that are passed in registers as well: `count` words from word `preload_offset` of the arguments on.
  SgprRange preloaded;
  std::uint32_t preload_offset = 0;
  /// Bytes from the kernel's entry to where its waves start. Kernels whose arguments are preloaded begin with code for
  /// launchers that do not preload, and the others start behind it.
  std::uint32_t entry_skip = 0;
  std::uint32_t user_sgprs = 0;

  isa::WorkgroupIds workgroup_ids = isa::WorkgroupIds::user_sgprs;
  /// x, y, z: the SGPR that holds it, where `workgroup_ids` says so and it is asked for.
  std::array<std::optional<std::uint32_t>, 3> workgroup_id;
  std::optional<std::uint32_t> workgroup_info;
  std::optional<std::uint32_t> scratch_offset;
  ScratchSetup scratch = ScratchSetup::none;

  /// v0 holds all of a work-item's id, ten bits each, x lowest; else v0, v1, v2 hold x, y, z.
  bool packed_work_item_ids = false;
  /// 1 to 3: the ids that are there. Of packed ones the others are zero, and programs rely on that.
  std::uint32_t work_item_dimensions = 1;

  const std::optional<SgprRange>& operator[](UserSgpr value) const { return user[static_cast<std::size_t>(value)]; }
};

/// The launch state that a descriptor asks for on a target. An error if what it passes does not fit into the user
/// registers that it counts.
Result<LaunchState> launch_state(const Descriptor& descriptor, isa::Target target, isa::WaveWidth wave);

/// What v0 to v2 start with for a work-item of this id; values that the program does not ask for are zero.
std::array<std::uint32_t, 3> initial_vgprs(const LaunchState& state, std::array<std::uint32_t, 3> work_item);

}  // namespace wavegate::amdgpu::object
