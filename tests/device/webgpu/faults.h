#pragma once

#include <cstdint>
#include <optional>

#define WGPU_SKIP_DECLARATIONS
#include <webgpu/webgpu.h>

namespace wavegate::device::webgpu {

/// What the tests see of the library, and make it do: some of its functions are this program's own, which Wavegate
/// finds first.
struct Faults {
  WGPUDevice device = nullptr;  ///< that Wavegate took last, opened or adopted
  uint32_t pipelines = 0;       ///< that were made
  uint32_t bind_groups = 0;
  std::optional<WGPUErrorType> next_buffer = {};    ///< the next one to be made is such an error
  std::optional<WGPUErrorType> next_pipeline = {};  ///< the same of pipelines
};
Faults& faults();

}  // namespace wavegate::device::webgpu
