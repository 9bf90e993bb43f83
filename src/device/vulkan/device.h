#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/device.h"
#include "wavegate/device/vulkan/features.h"
#include "wavegate/device/vulkan/handles.h"
#include "wavegate/target/profile.h"

/// Devices of Vulkan 1.2 and later. vulkan.h is not needed to include this.
namespace wavegate::device::vulkan {

/// Where pipelines and probed float behaviour are kept from run to run. A damaged or foreign file there is ignored
/// and replaced.
struct Cache {
  std::string directory;  ///< empty: $XDG_CACHE_HOME/wavegate, else ~/.cache/wavegate
  bool enabled = true;
};

struct Options {
  /// Part of the device's name, in any case. "" or "vulkan": the best one, which is the first discrete GPU, else an
  /// integrated one, else a virtual one, else a CPU.
  std::string name;
  /// Loads VK_LAYER_KHRONOS_validation; its messages go to stderr and are counted. So does WAVEGATE_VALIDATION=1.
  bool validation = false;
  /// With `validation`: also checks that barriers suffice. It sees whole bindings, not the declared uses inside them,
  /// so that commands on disjoint parts of one binding are reported although they are right.
  bool synchronisation_validation = false;
  Cache cache;
};

/// A device that belongs to the application. Wavegate never destroys it and uses its queue only inside submit(),
/// wait(), read(), allocate() and adopt() itself (which runs a few kernels to find out what floats do, unless the
/// cache knows); the application does not use the queue at the same time.
struct AdoptedDevice {
  VkInstance instance = nullptr;  ///< of at least Vulkan 1.2, and so is the device
  VkPhysicalDevice physical_device = nullptr;
  VkDevice device = nullptr;
  VkQueue queue = nullptr;  ///< of a family that can compute
  uint32_t queue_family = 0;
  /// What the application enabled at creation; nothing else is used. Without `conditional_rendering`, graphs with
  /// conditionals are unsupported.
  EnabledFeatures enabled;
  Cache cache;
};

/// The profiles of all usable devices, best first. Opens each one. `skipped` receives, if given, an error for each
/// device that cannot be used, which names it; an error only if none can.
Result<std::vector<target::Profile>> list_devices(const Cache& cache = {}, std::vector<Error>* skipped = nullptr);

/// Opens a device of its own.
Result<std::unique_ptr<Device>> open(const Options& options = {});

/// Uses the application's device, which outlives the result.
Result<std::unique_ptr<Device>> adopt(const AdoptedDevice& adopted);

/// The application's buffer as memory for Executable::bind. It was made on this device, with the usages
/// STORAGE_BUFFER, TRANSFER_SRC and TRANSFER_DST (INDIRECT_BUFFER where the graph says indirect), and has memory; it
/// outlives the executables that it is bound to. Two handles of one VkBuffer are the same memory to Wavegate; two
/// VkBuffers that share memory are not, and must not be bound to one executable.
Result<std::shared_ptr<Buffer>> borrow(Device& device, VkBuffer buffer, uint64_t bytes);

/// Records the executable's next run into the application's command buffer, outside a render pass and conditional
/// rendering: first the writes pending now, then the graph, then the copies of the outputs for the host. Neither
/// submits nor waits, and counts nothing. `unsupported`, by name: a graph with a loop, which needs the host while it
/// runs.
///
/// - Begins and ends with a full memory barrier (all commands and the host), so the application orders nothing against
///   its own commands on the same queue.
/// - The recorded commands may be submitted again; each time they also repeat the writes that were pending here
///   (initial contents and the zeroes of the other buffers among them). To leave those out, encode again.
/// - What is returned keeps alive what the recorded commands refer to besides the executable: staged writes,
/// descriptors,
///   external memory. The application drops it when the command buffer has been executed for the last time and waited
///   for, in any order with others of its kind but before the device.
/// - The executable outlives the execution of the command buffer. It may be bound, written and encoded anew
///   meanwhile; that does not change what was recorded.
/// - Once the application has waited for its submission, read() returns the outputs, without a further wait. Before,
///   what it returns is undefined.
/// - Executions of one executable do not overlap.
Result<std::shared_ptr<void>> encode(Executable& executable, VkCommandBuffer commands);

/// Where a buffer of a graph lies.
struct BufferPlace {
  VkBuffer buffer{};
  uint64_t offset = 0;  ///< in bytes, of the graph's buffer inside `buffer`
  uint64_t bytes = 0;   ///< the graph's buffer has this many
};

/// Where the executable keeps a buffer of its graph, so that commands of the application can read or write values and
/// scalars on the device, before or after what encode() records. A scalar of a program is a word of the buffer that its
/// plan names (lowering::Plan). Usable as storage, by copies and fills, and for indirect arguments; an external buffer
/// only as its maker said. Valid as long as the executable lives; that of an external buffer, which must be bound,
/// until other memory is bound.
Result<BufferPlace> buffer_of(Executable& executable, graph::BufferId buffer);

/// The 64-bit device pointer of a buffer of this device. `unsupported` without buffer_device_address.
Result<uint64_t> device_address(Device& device, const Buffer& buffer);

/// Messages of the validation layer so far: warnings and errors. Zero without validation.
uint64_t validation_messages(const Device& device);

}  // namespace wavegate::device::vulkan
