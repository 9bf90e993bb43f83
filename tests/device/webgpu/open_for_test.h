#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "wavegate/base/result.h"
#include "wavegate/device/webgpu/device.h"

namespace wavegate::device::webgpu {

/// Opens the device of tests, whose implementation checks every command unless told otherwise. Besides the drivers of
/// the machine it may take SwiftShader, as Debian's chromium-common has it: Dawn does not take Mesa's software driver.
/// The Vulkan device of the same process does not see it.
inline Result<std::unique_ptr<Device>> open_for_test(bool validation = true) {
  constexpr const char* kVariable = "VK_ADD_DRIVER_FILES";
  constexpr const char* kSwiftShader = "/usr/lib/chromium/vk_swiftshader_icd.json";
  const bool adds = std::getenv(kVariable) == nullptr && std::filesystem::exists(kSwiftShader);
  if (adds) setenv(kVariable, kSwiftShader, 1);
  Options options;
  options.validation = validation;
  auto device = open(options);
  if (adds) unsetenv(kVariable);
  return device;
}

}  // namespace wavegate::device::webgpu
