#include "wavegate/device/webgpu/profile.h"

#include <algorithm>
#include <limits>

namespace wavegate::device::webgpu {
namespace {

/// Launch words lie in a uniform buffer, which is large; kernels are easier to read with a sensible number of them.
constexpr uint64_t kMostWords = 1024;

}  // namespace

target::Profile make_profile(const gpu::DeviceInfo& info) {
  target::Profile profile;
  profile.name = info.name.empty() ? "WebGPU adapter" : info.name;
  profile.backend = "webgpu";
  profile.driver = info.driver;
  profile.is_cpu = info.is_cpu;
  profile.minimum_subgroup_size = std::max(info.minimum_subgroup_size, 1u);
  profile.maximum_subgroup_size = std::max(info.maximum_subgroup_size, profile.minimum_subgroup_size);
  profile.subgroup_size = profile.maximum_subgroup_size;
  const gpu::Limits& limits = info.limits;
  profile.limits.grid = {limits.workgroups, limits.workgroups, limits.workgroups};
  profile.limits.workgroup_size = {limits.workgroup_size_x, limits.workgroup_size_y, limits.workgroup_size_z};
  profile.limits.workgroup_invocations = limits.workgroup_invocations;
  profile.limits.workgroup_memory = limits.workgroup_memory;
  profile.limits.storage_buffers = limits.storage_buffers;
  profile.limits.immediate_words = static_cast<uint32_t>(std::min(limits.uniform_binding / 4, kMostWords));
  profile.limits.binding_alignment = limits.storage_alignment;
  profile.limits.binding_bytes = limits.storage_binding / 4 * 4;
  profile.limits.buffer_bytes = limits.buffer;
  profile.limits.memory_bytes = std::numeric_limits<uint64_t>::max();  // WebGPU does not tell
  profile.features.int64 = true;                                       // as pairs of words
  profile.features.float16 = info.features.float16;
  profile.features.subgroup_operations = info.features.subgroups;
  profile.features.writes_its_grid_source = false;
  profile.features.shares_buffers = false;
  profile.features.checks_indirect = info.checks_indirect;
  profile.features.timestamps = info.features.timestamps;
  return profile;
}

}  // namespace wavegate::device::webgpu
