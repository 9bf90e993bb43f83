#include "wavegate/device/vulkan/vulkan_error.h"

#include <algorithm>
#include <iterator>

#include "wavegate/base/format.h"

namespace wavegate::device::vulkan {
namespace {

struct Row {
  VkResult result;
  std::string_view name;
  std::string_view advice;
};

constexpr Row kRows[] = {
    {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY", "the host is out of memory"},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY",
     "the device is out of memory; make the buffers smaller or free other programs' memory"},
    {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED", "the driver could not start"},
    {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST",
     "the device stopped: a kernel ran too long or accessed memory that is not its own; open the device anew"},
    {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED", "the memory could not be mapped"},
    {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT", "install vulkan-validationlayers"},
    {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT", "the driver lacks an extension"},
    {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT", "the driver lacks a feature"},
    {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER",
     "no usable Vulkan driver; install the GPU's, or mesa-vulkan-drivers"},
    {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS", "too many allocations; free other buffers"},
    {VK_ERROR_FRAGMENTED_POOL, "VK_ERROR_FRAGMENTED_POOL", "the descriptor pool is fragmented"},
    {VK_ERROR_OUT_OF_POOL_MEMORY, "VK_ERROR_OUT_OF_POOL_MEMORY", "the descriptor pool is full"},
    {VK_ERROR_INVALID_SHADER_NV, "VK_ERROR_INVALID_SHADER_NV", "the driver refuses the module"},
};

const Row* find_row(VkResult result) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.result == result; });
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

std::string result_name(VkResult result) {
  const Row* row = find_row(result);
  return row ? std::string(row->name) : format("VkResult {}", static_cast<int>(result));
}

Error vulkan_error(VkResult result, std::string_view attempted) {
  const Row* row = find_row(result);
  const std::string name = result_name(result);
  return device_error(row ? format("{}: {} ({})", attempted, row->advice, name)
                          : format("{}: the driver answered {}", attempted, name));
}

}  // namespace wavegate::device::vulkan
