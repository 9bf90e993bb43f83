#include <cstdlib>

#include "wavegate/api/engine.h"
#include "wavegate/device/reference/device.h"
#include "wavegate/device/vulkan/device.h"
#ifdef WAVEGATE_WEBGPU
#include "wavegate/api/kept.h"
#include "wavegate/device/webgpu/device.h"
#endif

/// The devices of a machine. A page has those of its browser instead, which open without blocking: see src/web.
namespace wavegate {
namespace {

Result<std::unique_ptr<device::Device>> open_webgpu() {
#ifdef WAVEGATE_WEBGPU
  device::webgpu::Options options;
  options.kept = {read_kept, keep};
  return device::webgpu::open(options);
#else
  return device_error(
      "this build has no WebGPU, since webgpu.h was not there; run tools/install_webgpu.sh, and configure again");
#endif
}

}  // namespace

std::vector<target::Profile> list_devices(std::string* why_not) {
  std::vector<target::Profile> profiles;
  std::vector<Error> skipped;
  Result<std::vector<target::Profile>> vulkan = device::vulkan::list_devices({}, &skipped);
  if (vulkan)
    profiles = *vulkan;
  else
    skipped = {vulkan.error()};
  if (const auto webgpu = open_webgpu())
    profiles.push_back((*webgpu)->profile());
  else
    skipped.push_back(webgpu.error());
  if (why_not != nullptr)
    for (const Error& error : skipped) *why_not += (why_not->empty() ? "" : "; ") + error.message;
  profiles.push_back(device::reference::make_device()->profile());
  return profiles;
}

Result<std::shared_ptr<device::Device>> open_device(const std::string& name) {
  std::string wanted = name;
  if (wanted.empty())
    if (const char* environment = std::getenv("WAVEGATE_DEVICE")) wanted = environment;
  if (wanted == "reference") return std::shared_ptr<device::Device>(device::reference::make_device());
  if (wanted == "webgpu") {
    WAVEGATE_TRY(std::unique_ptr<device::Device> device, open_webgpu());
    return std::shared_ptr<device::Device>(std::move(device));
  }
  device::vulkan::Options options;
  options.name = wanted;
  WAVEGATE_TRY(std::unique_ptr<device::Device> device, device::vulkan::open(options));
  return std::shared_ptr<device::Device>(std::move(device));
}

}  // namespace wavegate
