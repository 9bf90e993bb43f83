#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace wavegate::target {

/// What a device can hold and launch. Sizes are bytes unless the name says otherwise.
struct Limits {
  std::array<uint32_t, 3> grid = {65535, 65535, 65535};          ///< workgroups per dispatch, per dimension
  std::array<uint32_t, 3> workgroup_size = {1024, 1024, 64};     ///< invocations, per dimension
  uint32_t workgroup_invocations = 1024;                         ///< invocations in a workgroup
  uint32_t workgroup_memory = 32768;                             ///< bytes shared by a workgroup
  uint32_t storage_buffers = 8;                                  ///< storage buffers bound to one kernel
  uint32_t immediate_words = 32;                                 ///< 32-bit words of launch parameters
  uint32_t binding_alignment = 16;                               ///< a bound range's offset is a multiple of this
  uint64_t binding_bytes = uint64_t{128} << 20;                  ///< largest range one binding can see
  uint64_t buffer_bytes = std::numeric_limits<uint64_t>::max();  ///< largest buffer
  uint64_t memory_bytes = 0;                                     ///< memory of the device
  /// Loop iterations of one invocation, of all loops of a kernel together, after which the driver silently ends them.
  uint64_t kernel_loop_iterations = std::numeric_limits<uint64_t>::max();
};

/// Widths of floats for which something holds.
struct FloatWidths {
  bool f16 = false;
  bool f32 = false;
  bool f64 = false;
};

/// What a kernel may use.
struct Features {
  bool int8 = false;   ///< 8-bit storage and arithmetic
  bool int16 = false;  ///< 16-bit storage and arithmetic
  bool int64 = false;
  bool float16 = false;
  bool float64 = false;
  bool int64_atomics = false;
  bool device_pointers = false;        ///< 64-bit addresses of buffers
  bool subgroup_operations = false;    ///< vote, ballot, shuffle and arithmetic in compute kernels
  bool conditional_rendering = false;  ///< commands that a word of device memory leaves out
  bool shares_buffers = true;          ///< a dispatch may bind one buffer for reading and, elsewhere, for writing
  bool writes_its_grid_source = true;  ///< a dispatch may read its grid from a buffer that it also binds for writing
  bool checks_indirect = false;  ///< the API puts a dispatch of its own before each indirect one, to check its grid
  bool timestamps = false;
  FloatWidths preserves_denormals;       ///< a kernel may ask to keep denormals of this width, whatever the others do
  FloatWidths preserves_special_values;  ///< a kernel may ask to keep NaNs, infinities and signs of zero
};

/// What floats do, found by running a kernel, never by asking the driver.
struct FloatBehaviour {
  bool fused_fma_f32 = false;  ///< fma rounds once
  bool fused_fma_f64 = false;
  bool keeps_denormals_f32 = false;
  bool keeps_denormals_f64 = false;
  bool contracts_f32 = false;       ///< a*b+c is fused although forbidden
  bool exact_division_f32 = false;  ///< a/b is correctly rounded
  bool exact_square_root_f32 = false;
};

/// A device as plain data: what the lowering and the emitters decide by.
struct Profile {
  std::string name;            ///< as the driver says it
  std::string backend;         ///< "vulkan", "reference", ...
  std::string driver;          ///< driver name and version
  bool is_cpu = false;         ///< a software implementation
  uint32_t subgroup_size = 1;  ///< invocations in a host subgroup
  uint32_t minimum_subgroup_size = 1;
  uint32_t maximum_subgroup_size = 1;
  Limits limits;
  Features features;
  FloatBehaviour floats;
};

/// A language of finished modules.
enum class ModuleLanguage : uint8_t { none, spirv, wgsl };
std::string_view to_string(ModuleLanguage language);

/// The language of the finished modules that a device takes besides kernels of ours, which all devices take.
ModuleLanguage module_language(const Profile& profile);

/// The names of the features that change what Wavegate does on this device, for people and for JSON.
std::vector<std::string> feature_names(const Profile& profile);

}  // namespace wavegate::target
