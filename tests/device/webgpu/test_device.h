#pragma once

#include <gmock/gmock.h>

#include <memory>

#include "device/test_graph.h"
#include "device/webgpu/open_for_test.h"
#include "wavegate/device/webgpu/device.h"

namespace wavegate::device::webgpu {

/// A device whose implementation checks every command.
class WebGpuTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { device_ = must(open_for_test()); }
  static void TearDownTestSuite() { device_.reset(); }
  static Device& device() { return *device_; }

 private:
  static inline std::unique_ptr<Device> device_;
};

}  // namespace wavegate::device::webgpu
