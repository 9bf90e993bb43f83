#pragma once

/// What only the Vulkan backend can do: adopt an application's device, borrow its buffers, and encode into its
/// command buffer. Names Vulkan handles without including vulkan.h.

#include "wavegate/device/vulkan/device.h"  // IWYU pragma: export
