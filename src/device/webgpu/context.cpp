#include "wavegate/device/webgpu/context.h"

#include "wavegate/base/format.h"
#include "wavegate/device/backoff.h"

namespace wavegate::device::webgpu {

Context::~Context() {
  pipelines.reset();
  if (device != gpu::Device::none) gpu::release(device);
}

bool is_lost(const Context& context) {
  if (!*context.lost) gpu::look_for_loss(context.device);
  return context.lost->has_value();
}

Error lost_error(const Context& context, const std::string& what) {
  return device_error(
      format("{}: the device is lost: a kernel ran too long, the driver failed, or it was destroyed; open the device "
             "anew ({})",
             what, context.lost->value_or("")));
}

void wait_until(Context& context, const std::function<bool()>& is_done) {
  Backoff backoff(context.profile.is_cpu);
  while (!is_done()) {
    gpu::pump(context.device);
    if (is_done()) return;
    backoff.pause();
  }
}

}  // namespace wavegate::device::webgpu
