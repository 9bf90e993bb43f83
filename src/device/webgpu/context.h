#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wavegate/device/device.h"
#include "wavegate/device/webgpu/gpu.h"
#include "wavegate/device/webgpu/pipelines.h"
#include "wavegate/target/profile.h"

namespace wavegate::device::webgpu {

/// What all parts of an open device share. Does not move.
struct Context {
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  gpu::Device device = gpu::Device::none;
  uint32_t uniform_alignment = 256;  ///< of dynamic offsets, in bytes
  target::Profile profile;
  Counters counters;
  /// Why the device is gone, once it is; shared with the callback that hears of it.
  std::shared_ptr<std::optional<std::string>> lost = std::make_shared<std::optional<std::string>>();
  std::unique_ptr<PipelineStore> pipelines;
};

/// Whether the device is gone: looks first. Calls no callback but that which hears of the loss.
bool is_lost(const Context& context);

/// The error of everything that is attempted with a device that is gone.
Error lost_error(const Context& context, const std::string& what);

/// Calls back until `is_done`, which callbacks bring about. Precondition: gpu::can_wait().
void wait_until(Context& context, const std::function<bool()>& is_done);

}  // namespace wavegate::device::webgpu
