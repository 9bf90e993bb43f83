#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "wavegate/device/reference/device.h"

namespace wavegate::device {

/// A reference device with little of one thing, or of all: as much as the kernels of the tests need by themselves, so
/// that what a lowering adds to them does not always fit. It then does it in another way, or refuses it by name.
struct SmallDevice {
  std::string_view name;
  reference::Options options;
};

inline constexpr std::array kSmallDevices = {
    SmallDevice{"few_launch_words", {.immediate_words = 8}}, SmallDevice{"few_buffers", {.storage_buffers = 4}},
    SmallDevice{"little_workgroup_memory", {.workgroup_memory = 256}},
    SmallDevice{"few_loop_iterations", {.kernel_loop_iterations = 256}},
    SmallDevice{"little_of_everything",
                {.storage_buffers = 4, .immediate_words = 8, .workgroup_memory = 256, .kernel_loop_iterations = 256}}};

/// None: no small device has this name.
inline std::shared_ptr<Device> small_device(std::string_view name) {
  for (const SmallDevice& each : kSmallDevices)
    if (each.name == name) return reference::make_device(each.options);
  return nullptr;
}

}  // namespace wavegate::device
