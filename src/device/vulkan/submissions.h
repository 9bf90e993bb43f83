#pragma once

#include <vulkan/vulkan.h>

#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/vulkan/context.h"
#include "wavegate/device/vulkan/owned.h"

namespace wavegate::device::vulkan {

/// Submissions to the device's queue, which end in their order. Counts submissions and waits where it makes them.
class Submissions {
 public:
  explicit Submissions(Context& context) : context_(context) {}
  Submissions(const Submissions&) = delete;
  Submissions& operator=(const Submissions&) = delete;
  /// Waits for all of them: nothing may be destroyed under a running command buffer.
  ~Submissions() { outlast(); }

  /// `what` is for errors: `graph "cg": submitting it`.
  Result<void> submit(std::span<const VkCommandBuffer> commands, std::string_view what);

  bool empty() const { return in_flight_.empty(); }

  /// Has the oldest ended? Then it is forgotten. Never waits. After an error the submissions go on, unless empty() says
  /// that they do not. Precondition: there is one.
  Result<bool> oldest_has_ended(std::string_view what);

  /// Waits for all, once. After an error they go on, unless empty() says that they do not.
  Result<void> wait(std::string_view what);

  /// Waits for all however often waiting fails, which it may for want of memory.
  void outlast();

 private:
  void forget_all();

  Context& context_;
  std::deque<OwnedFence> in_flight_;  ///< the oldest first
  std::vector<OwnedFence> spare_;     ///< to be reset and used again
};

}  // namespace wavegate::device::vulkan
