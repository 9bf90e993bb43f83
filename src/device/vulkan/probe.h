#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/device.h"
#include "wavegate/target/profile.h"

namespace wavegate::device::vulkan {

/// A profile under which the emitter uses the device's own float operations, emulating none: what probe_floats()
/// needs the device to have.
target::FloatBehaviour native_floats();

/// Finds out what floats do by running a few small kernels and comparing bits with the host, which rounds correctly.
/// Precondition: device.profile().floats is native_floats().
Result<target::FloatBehaviour> probe_floats(Device& device);

/// The behaviour as bytes of a cache file, and back; nothing if the bytes are of another version.
std::vector<std::byte> serialise(const target::FloatBehaviour& floats);
std::optional<target::FloatBehaviour> parse_floats(std::span<const std::byte> bytes);

}  // namespace wavegate::device::vulkan
