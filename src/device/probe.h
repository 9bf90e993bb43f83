#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/device.h"
#include "wavegate/target/profile.h"

namespace wavegate::device {

/// A profile under which an emitter uses the device's own float operations, emulating none: what float_questions()
/// needs the device to have.
target::FloatBehaviour native_floats();

/// Something to find out about floats by running a small kernel.
struct FloatQuestion {
  bool target::FloatBehaviour::*about = nullptr;
  std::shared_ptr<const graph::Graph> graph;
  graph::BufferId results{};  ///< an output
  uint64_t result_bytes = 0;
  /// From the bits of the results, compared with those of the host, which rounds correctly.
  std::function<bool(std::span<const std::byte>)> answer;
};

/// All that can be asked of a device with this profile.
Result<std::vector<FloatQuestion>> float_questions(const target::Profile& profile);

/// Asks all of it, one after another, and waits for each answer. Precondition: device.profile().floats is
/// native_floats().
Result<target::FloatBehaviour> probe_floats(Device& device);

/// The behaviour as bytes of a cache file, and back; nothing if the bytes are of another version.
std::vector<std::byte> serialise(const target::FloatBehaviour& floats);
std::optional<target::FloatBehaviour> parse_floats(std::span<const std::byte> bytes);

}  // namespace wavegate::device
