#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/target/profile.h"

namespace wavegate::emit::wgsl {

/// Whether WGSL and the device can say and run the kernel, but for what kir::split_i64 and make_flow_uniform answer
/// for: types, operations, workgroup size, memory, bindings, launch words and WGSL's own limits. The first thing
/// missing is `unsupported`, with its name. Precondition: a verified kernel.
Result<void> check_requirements(const kir::Kernel& kernel, const target::Profile& profile);

/// Whether the workgroup memory that the module declares fits the device: that of the kernel, and a word for
/// workgroupUniformLoad if there is one. Precondition: the kernel is as make_flow_uniform() leaves it.
Result<void> check_workgroup_memory(const kir::Kernel& kernel, const target::Profile& profile);

}  // namespace wavegate::emit::wgsl
