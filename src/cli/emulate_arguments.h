#pragma once

#include "wavegate/amdgpu/wave/emulate.h"
#include "wavegate/base/result.h"
#include "wavegate/cli/emulate_job.h"

namespace wavegate::cli {

/// Gives a launch's kernel what the user gave, the buffers' addresses included. Each argument must be given once, and
/// be what the code object says of it: a buffer for a pointer, a number of its type and size for what is passed by
/// value.
Result<void> set_arguments(const amdgpu::wave::Module& module, const EmulationJob& job, EmulatedLaunch& launch);

}  // namespace wavegate::cli
