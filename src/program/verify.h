#pragma once

#include "wavegate/base/result.h"
#include "wavegate/program/program.h"
#include "wavegate/target/profile.h"

namespace wavegate::program {

/// Replaces every Call by what its operation is made of, for a device of this profile. The result has the same
/// buffers and scalars with the same handles, followed by temporaries.
Result<Program> expand(const Program& program, const target::Profile& profile);

/// Checks an expanded program, before any device is touched: handles, kinds and types; every dispatch against its
/// kernel's interface and with an exact grid; ranges of copies and fills; predicates that are uint32; bounds; no
/// write to a launch parameter; and that no value is read before it has an initial value or a proven full write.
/// Names of buffers and scalars are unique. Messages name the command and the value.
Result<void> verify(const Program& program);

}  // namespace wavegate::program
