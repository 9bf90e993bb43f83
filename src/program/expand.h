#pragma once

#include "wavegate/base/result.h"
#include "wavegate/program/program.h"
#include "wavegate/target/profile.h"

namespace wavegate::program {

/// Replaces every Call by what its operation is made of, for a device of this profile. The result has the same
/// buffers, scalars and loops with the same handles, followed by temporaries.
Result<Program> expand(const Program& program, const target::Profile& profile);

}  // namespace wavegate::program
