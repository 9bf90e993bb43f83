#include "wavegate/amdgpu/object/launch.h"

#include "wavegate/amdgpu/object/registers.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {
namespace {

/// LLVM's AMDGPUUsage, "Preloaded Kernel Arguments".
constexpr std::uint32_t kPreloadPrologue = 256;

/// Gives out the scalar registers one after the other.
class Sgprs {
 public:
  explicit Sgprs(std::uint32_t first) : next_(first) {}
  SgprRange take(std::uint32_t count) {
    const SgprRange range{next_, count};
    next_ += count;
    return range;
  }
  std::optional<std::uint32_t> take_if(bool wanted) { return wanted ? std::optional(take(1).first) : std::nullopt; }
  std::uint32_t taken() const { return next_; }

 private:
  std::uint32_t next_;
};

}  // namespace

Result<LaunchState> launch_state(const Descriptor& descriptor, isa::Target target, isa::WaveWidth wave) {
  const isa::TargetInfo& info = isa::info(target);
  const Registers registers = decode_registers(descriptor, target, wave);
  LaunchState state;
  state.user_sgprs = registers.user_sgprs;

  Sgprs user(0);
  for (std::size_t i = 0; i < kUserSgprKinds; ++i) {
    const auto value = static_cast<UserSgpr>(i);
    if (descriptor.passes(value)) state.user[i] = user.take(size_of(value));
  }
  state.preloaded = user.take(descriptor.preloaded_dwords);
  state.preload_offset = descriptor.preload_offset;
  state.entry_skip = descriptor.preloaded_dwords == 0 ? 0 : kPreloadPrologue;
  if (user.taken() > state.user_sgprs)
    return invalid_input(
        format("the descriptor passes {} user registers where it counts {}", user.taken(), state.user_sgprs));

  // gfx11 counts more than it passes where it must, so that what follows does not start before s15.
  Sgprs system(state.user_sgprs);
  state.workgroup_ids = info.workgroup_ids;
  if (info.workgroup_ids == isa::WorkgroupIds::user_sgprs) {
    state.workgroup_id = {system.take_if(registers.workgroup_id_x), system.take_if(registers.workgroup_id_y),
                          system.take_if(registers.workgroup_id_z)};
    state.workgroup_info = system.take_if(registers.workgroup_info);
  }
  if (registers.scratch) {
    state.scratch = info.architected_flat_scratch ? ScratchSetup::architected : ScratchSetup::offset_sgpr;
    state.scratch_offset = system.take_if(!info.architected_flat_scratch);
  }
  state.packed_work_item_ids = info.packed_work_item_ids;
  state.work_item_dimensions = registers.work_item_dimensions;
  return state;
}

std::array<std::uint32_t, 3> initial_vgprs(const LaunchState& state, std::array<std::uint32_t, 3> work_item) {
  for (std::size_t i = state.work_item_dimensions; i < 3; ++i) work_item[i] = 0;
  if (!state.packed_work_item_ids) return work_item;
  return {work_item[0] | work_item[1] << 10 | work_item[2] << 20, 0, 0};
}

}  // namespace wavegate::amdgpu::object
