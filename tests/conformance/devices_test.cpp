#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "conformance/open_anew.h"
#include "conformance/suite.h"
#include "wavegate/device/vulkan/device.h"
#ifdef WAVEGATE_WEBGPU
#include "device/webgpu/open_for_test.h"
#endif

namespace wavegate::conformance {

Result<std::shared_ptr<device::Device>> open_anew(const std::string& name) {
#ifdef WAVEGATE_WEBGPU
  if (name == "webgpu") {
    WAVEGATE_TRY(std::unique_ptr<device::Device> device, device::webgpu::open_for_test());
    return std::shared_ptr<device::Device>(std::move(device));
  }
#endif
  return open_device(name);
}

namespace {

/// Those that were opened so far.
std::map<std::string, std::shared_ptr<device::Device>>& devices() {
  static std::map<std::string, std::shared_ptr<device::Device>> opened;
  return opened;
}

}  // namespace

std::shared_ptr<device::Device> device_named(const std::string& name) {
  auto [place, is_new] = devices().try_emplace(name);
  if (!is_new) return place->second;
  if (name == "webgpu") {
    if (auto device = open_anew(name))
      place->second = std::move(device).value();
    else
      std::fprintf(stderr, "%s\n", device.error().to_string().c_str());
  } else if (name == "vulkan") {
    device::vulkan::Options options;
    // A machine with a GPU may lack the layers; it says so itself with WAVEGATE_VALIDATION=0.
    const char* validation = std::getenv("WAVEGATE_VALIDATION");
    options.validation = validation == nullptr || std::string_view(validation) != "0";
    if (auto device = device::vulkan::open(options))
      place->second = std::move(device).value();
    else
      ADD_FAILURE() << device.error().to_string();
  } else if (auto device = open_device(name)) {
    place->second = *device;
  }
  return place->second;
}

namespace {

/// Runs after all tests, whatever their order: what the validation layers said of them. Lets the devices go while their
/// drivers are there, which end before what was made ahead of them.
class NoValidationMessages : public testing::Environment {
 public:
  void TearDown() override {
    if (const auto found = devices().find("vulkan"); found != devices().end() && found->second != nullptr) {
      EXPECT_EQ(device::vulkan::validation_messages(*found->second), 0u);
    }
    devices().clear();
  }
};
const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new NoValidationMessages);

}  // namespace
}  // namespace wavegate::conformance
