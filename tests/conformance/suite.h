#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "wavegate/wavegate.h"

/// The conformance suite: one set of tests that every device must pass. A test is a TEST_P of ConformanceTest and
/// uses device(); it runs once for each device.
namespace wavegate::conformance {

/// The devices under test, opened once a process: the reference device, Vulkan with validation layers, and WebGPU with
/// its own validation.
std::shared_ptr<device::Device> device_named(const std::string& name);

class ConformanceTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    device_ = device_named(GetParam());
    if (device_ == nullptr && GetParam() == "webgpu")
      GTEST_SKIP() << "there is no WebGPU here, so that this is not tested; run tools/install_webgpu.sh";
    ASSERT_NE(device_, nullptr) << "device \"" << GetParam() << "\" cannot be opened";
  }

  const std::shared_ptr<device::Device>& device() const { return device_; }
  static std::shared_ptr<device::Device> reference() { return device_named("reference"); }

  /// Compiles for the device under test; a failure ends the test with the error.
  Executable compiled(const program::Program& program) { return compiled(program, device_); }
  static Executable compiled(const program::Program& program, std::shared_ptr<device::Device> device) {
    Result<Executable> executable = compile(program, std::move(device));
    if (!executable) throw std::runtime_error(executable.error().to_string());
    return std::move(executable).value();
  }

 private:
  std::shared_ptr<device::Device> device_;
};

/// The value of a result, or a failed test that shows the error.
template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(result).value();
}
inline void succeed(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().to_string());
}

/// A kernel as a dispatch takes it.
inline std::shared_ptr<const program::KernelSource> source(Result<kir::Kernel> kernel) {
  return program::make_kernel_source(value_of(std::move(kernel)));
}

/// The names of the devices under test. WebGPU is among them where this build has it.
inline std::vector<std::string> device_names() {
  std::vector<std::string> names = {"reference", "vulkan"};
#ifdef WAVEGATE_WEBGPU
  names.emplace_back("webgpu");
#endif
  return names;
}

// Runs a suite on every device.
#define WAVEGATE_CONFORMANCE(suite)                                          \
  INSTANTIATE_TEST_SUITE_P(Device, suite, testing::ValuesIn(device_names()), \
                           [](const testing::TestParamInfo<std::string>& device) { return device.param; })

}  // namespace wavegate::conformance
