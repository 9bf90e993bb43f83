#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "device/test_graph.h"
#include "wavegate/base/format.h"
#include "wavegate/device/vulkan/device.h"

namespace wavegate::device::vulkan {

/// A directory of its own for this program's caches, removed at the end.
inline const std::string& cache_directory() {
  struct Directory {
    std::string path = (std::filesystem::temp_directory_path() / format("wavegate-vulkan-test-{}", getpid())).string();
    ~Directory() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Directory directory;
  return directory.path;
}

inline Options test_options() {
  Options options;
  options.validation = true;
  options.synchronisation_validation = true;
  options.cache.directory = cache_directory();
  return options;
}

/// A device under the validation layer; any message of the layer fails the test.
class VulkanTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { device_ = must(open(test_options())); }
  static void TearDownTestSuite() { device_.reset(); }
  void SetUp() override { messages_ = validation_messages(*device_); }
  void TearDown() override {
    EXPECT_EQ(validation_messages(*device_), messages_) << "the validation layer has something to say";
  }
  static Device& device() { return *device_; }

 private:
  static inline std::unique_ptr<Device> device_;
  uint64_t messages_ = 0;
};

}  // namespace wavegate::device::vulkan
