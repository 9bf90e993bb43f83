#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/kir/passes/pass.h"

namespace wavegate::kir {

/// Lets a kernel that guard() made load what it needs while its latch is on the way, which a device with long latencies
/// is glad of: the test moves behind the computations and loads that follow it, and into a branch that is all the rest.
/// A load that moves has an address that the launch alone decides, so that it lies where it did; it may now read what
/// is not written yet, and nothing uses that. So this is not for a device that checks reads.
///
/// The kernel begins with the load of a latch, a test, and a return; any other is left as it is. The
/// statistics count the instructions that the test passed. Preserves: interface, memories, the order of effects.
Result<PassStats> sink_guard(Kernel& kernel);

}  // namespace wavegate::kir
