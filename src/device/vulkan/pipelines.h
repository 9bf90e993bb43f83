#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/vulkan/context.h"
#include "wavegate/device/vulkan/owned.h"

namespace wavegate::device::vulkan {

/// What the launch of a kernel looks like to Vulkan: storage buffers 0 .. bindings-1 of set 0, then push constants.
struct LaunchShape {
  uint32_t bindings = 0;
  uint32_t words = 0;
  friend auto operator<=>(const LaunchShape&, const LaunchShape&) = default;
};

struct Layout {
  OwnedSetLayout set;
  OwnedPipelineLayout pipeline;
};

/// A kernel ready to run. Lives as long as its device.
struct Pipeline {
  OwnedPipeline pipeline;
  const Layout* layout = nullptr;
  LaunchShape shape;
};

/// The pipelines of a device: one for equal modules, built with a pipeline cache that lasts from run to run.
class PipelineStore {
 public:
  /// Reads the pipeline cache file, if it is whole and this driver's.
  static Result<std::unique_ptr<PipelineStore>> create(Context& context);
  ~PipelineStore();

  /// The pipeline of a module; `name` is the kernel's, for errors.
  Result<const Pipeline*> get(std::span<const uint32_t> words, const std::string& entry_point, LaunchShape shape,
                              const std::string& name);

  /// Writes the cache file if pipelines were built since the last time.
  void save();

 private:
  struct Entry {
    std::vector<uint32_t> words;
    std::string entry_point;
    Pipeline pipeline;
  };

  explicit PipelineStore(Context& context) : context_(context) {}
  Result<const Layout*> layout(LaunchShape shape);

  Context& context_;
  OwnedPipelineCache cache_;
  std::map<LaunchShape, Layout> layouts_;
  std::unordered_multimap<uint64_t, std::unique_ptr<Entry>> entries_;
  bool changed_ = false;
};

/// Whether the bytes are a pipeline cache of this device and driver (VkPipelineCacheHeaderVersionOne).
bool is_cache_of(std::span<const std::byte> bytes, const VkPhysicalDeviceProperties& properties);

/// Refuses what no driver should be given: not SPIR-V, instructions that overrun the module, no such entry point.
Result<void> check_module(std::span<const uint32_t> words, const std::string& entry_point, const std::string& name);

}  // namespace wavegate::device::vulkan
