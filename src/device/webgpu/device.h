#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/device.h"
#include "wavegate/target/profile.h"

/// Devices of WebGPU: native ones through a library that is found at run time, and a browser's. webgpu.h is not needed
/// to include this; its handles are plain numbers here.
namespace wavegate::device::webgpu {

/// Where what was found out about floats is kept from run to run, by name. Without: it is found out at each opening.
struct Kept {
  std::function<std::optional<std::vector<std::byte>>(const std::string& name)> read = {};
  std::function<void(const std::string& name, std::span<const std::byte> bytes)> keep = {};
};

struct Options {
  /// Part of the adapter's name, in any case; "" or "webgpu": whichever the implementation deems best.
  std::string name = {};
  /// The implementation checks every command, and adds a dispatch of its own before each indirect one to check its
  /// arguments. Natively it need not, since graphs are checked and their arguments proved: false unless
  /// WAVEGATE_WEBGPU_VALIDATION=1. A browser always does.
  std::optional<bool> validation = {};
  Kept kept = {};
};

/// Opens a device of its own, and waits for it. `device` errors: there is no library, no adapter, none of that name.
/// `unsupported` in a browser, which cannot wait.
Result<std::unique_ptr<Device>> open(const Options& options = {});

/// The same for those who cannot wait: `done` hears of the device, in a browser from its event loop, natively before
/// this returns.
void open_later(const Options& options, std::function<void(Result<std::unique_ptr<Device>>)> done);

/// A device that belongs to the application, as the numbers of its handles. Wavegate uses its queue only inside
/// submit(), wait(), read(), write(), allocate(), and here to find out what floats do, unless that is kept. The
/// application's webgpu.h must be the one that Wavegate loads: that of its process, if it has one, else the library.
struct AdoptedDevice {
  uintptr_t instance = 0;  ///< WGPUInstance; 0 in a browser
  uintptr_t device = 0;    ///< WGPUDevice; in a browser the page's number for a GPUDevice
  Kept kept = {};
};

/// Uses the application's device; adds a reference to it.
Result<std::unique_ptr<Device>> adopt(const AdoptedDevice& adopted);
void adopt_later(const AdoptedDevice& adopted, std::function<void(Result<std::unique_ptr<Device>>)> done);

/// The application's WGPUBuffer as memory for Executable::bind; adds a reference. It was made on this device, with the
/// usages Storage, CopySrc and CopyDst (Indirect where the graph says indirect), and is neither destroyed nor mapped
/// while a run uses it. `invalid-input` if it is smaller or lacks a usage, and of the run that finds it destroyed.
/// Two handles of one buffer are the same memory to Wavegate.
Result<std::shared_ptr<Buffer>> borrow(Device& device, uintptr_t buffer, uint64_t bytes);

/// Records the executable's next run into the application's WGPUCommandEncoder, outside a pass: first the writes
/// pending now, then the graph, then the copies of the outputs for the host. Neither submits nor waits for the GPU, and
/// counts nothing. `unsupported`, by name: a graph with a loop, which needs the host while it runs. `invalid-input`:
/// the encoder is finished. Natively it processes the instance's events until it knows; in a browser the run in flight
/// or the next submit() or encode() tells, and the writes are pending again. Of an encoder of another device or with a
/// pass open WebGPU itself tells when the application finishes it, and only then: what was to be written is lost.
///
/// - What is returned keeps alive what the recorded commands refer to besides the executable. The application drops it
///   once it has submitted the commands, and not before.
/// - The executable outlives the submission. It may be bound, written and encoded anew afterwards.
/// - Once the application has submitted, read() returns the outputs; it waits for that, since WebGPU has no memory that
///   the host may look at without.
Result<std::shared_ptr<void>> encode(Executable& executable, uintptr_t encoder);

/// Calls `done` when the run that submit() started has ended, with what wait() would return, in place of wait(): for
/// those who cannot wait. Once for each submit().
Result<void> when_done(Executable& executable, std::function<void(Result<void>)> done);

/// Where a buffer of a graph lies.
struct BufferPlace {
  uintptr_t buffer = 0;  ///< WGPUBuffer; in a browser the page's number for a GPUBuffer
  uint64_t offset = 0;   ///< in bytes, of the graph's buffer inside `buffer`
  uint64_t bytes = 0;    ///< the graph's buffer has this many
};

/// Where the executable keeps a buffer of its graph, for commands of the application: draw it, or read and write it
/// before or after a run. Usable as storage, by copies, and for indirect arguments where the graph says so. Valid as
/// long as the executable lives; that of an external buffer, which must be bound, until other memory is bound.
Result<BufferPlace> buffer_of(Executable& executable, graph::BufferId buffer);

}  // namespace wavegate::device::webgpu
