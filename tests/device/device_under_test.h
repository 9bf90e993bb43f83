#pragma once

#include <gmock/gmock.h>

#include <memory>

#include "device/test_graph.h"

/// For what every device must do: a device's test program defines the two functions.
namespace wavegate::device {

std::unique_ptr<Device> make_device_under_test();
/// Complaints so far of whatever watches over the device.
uint64_t complaints(const Device& device);

class DeviceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { device_ = make_device_under_test(); }
  static void TearDownTestSuite() { device_.reset(); }
  void SetUp() override { complaints_ = complaints(*device_); }
  void TearDown() override { EXPECT_EQ(complaints(*device_), complaints_); }
  static Device& device() { return *device_; }
  static std::unique_ptr<Executable> load(const TestGraph& graph) { return must(device_->load(graph.get())); }

 private:
  static inline std::unique_ptr<Device> device_;
  uint64_t complaints_ = 0;
};

}  // namespace wavegate::device
