#pragma once

#include <optional>

#include "wavegate/base/result.h"
#include "wavegate/graph/graph.h"
#include "wavegate/lowering/kernel_table.h"
#include "wavegate/target/profile.h"

namespace wavegate::lowering {

/// The dispatch of one workgroup with a dispatch of one invocation as its tail, one kernel behind a barrier. Nothing
/// where they do not fit one kernel: a workgroup in more than one dimension, a kernel that cannot be composed (see
/// kir/compose.h), or more buffers, launch words or workgroup memory than the device has.
Result<std::optional<graph::Dispatch>> with_tail(const graph::Dispatch& body, const graph::Dispatch& tail,
                                                 KernelTable& kernels, const target::Profile& profile);

}  // namespace wavegate::lowering
