#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "wavegate/base/result.h"
#include "wavegate/device/webgpu/device.h"

namespace wavegate::device::webgpu {

/// Opens the device of tests, whose implementation checks every command unless told otherwise. Besides the drivers of
/// the machine it may take SwiftShader, as Debian's chromium-common has it: Dawn does not take Mesa's software driver
/// without the layer of claim_features_layer.cpp. The Vulkan device of the same process does not see SwiftShader.
///
/// Where WAVEGATE_TEST_ADAPTER is a part of the adapter's name, this throws if there is none of that name, so that the
/// test fails and is not skipped.
inline Result<std::unique_ptr<Device>> open_for_test(bool validation = true) {
  constexpr const char* kVariable = "VK_ADD_DRIVER_FILES";
  constexpr const char* kSwiftShader = "/usr/lib/chromium/vk_swiftshader_icd.json";
  const bool adds = std::getenv(kVariable) == nullptr && std::filesystem::exists(kSwiftShader);
  if (adds) setenv(kVariable, kSwiftShader, 1);
  Options options;
  options.validation = validation;
  const char* wanted = std::getenv("WAVEGATE_TEST_ADAPTER");
  if (wanted != nullptr) options.name = wanted;
  auto device = open(options);
  if (adds) unsetenv(kVariable);
  if (wanted != nullptr && !device) throw std::runtime_error(device.error().to_string());
  return device;
}

}  // namespace wavegate::device::webgpu
