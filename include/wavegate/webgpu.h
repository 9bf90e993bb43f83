#pragma once

/// What only the WebGPU backend can do: adopt an application's device, borrow its buffers, and encode into its command
/// encoder. Takes WebGPU's handles as numbers without including webgpu.h.

#include "wavegate/device/webgpu/device.h"  // IWYU pragma: export
