#pragma once

namespace wavegate::device::vulkan {

/// Device features that Wavegate can use, by the names of the Vulkan structures that enable them. The default is what
/// every device has: none.
struct EnabledFeatures {
  bool robust_buffer_access = false;
  bool shader_int64 = false;
  bool shader_float64 = false;
  bool shader_int16 = false;
  bool shader_int8 = false;
  bool shader_float16 = false;
  bool storage_buffer_8bit_access = false;
  bool storage_buffer_16bit_access = false;
  bool scalar_block_layout = false;
  bool buffer_device_address = false;
  bool shader_buffer_int64_atomics = false;
  bool shader_shared_int64_atomics = false;
  bool shader_subgroup_extended_types = false;
  bool vulkan_memory_model = false;    ///< with its device scope
  bool conditional_rendering = false;  ///< with the extension VK_EXT_conditional_rendering, which it belongs to
};

}  // namespace wavegate::device::vulkan
