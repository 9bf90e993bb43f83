#pragma once

#include "wavegate/base/result.h"
#include "wavegate/lowering/plan.h"
#include "wavegate/program/program.h"
#include "wavegate/target/profile.h"

namespace wavegate::lowering {

/// Lowers a program for a device: expands and verifies it, specialises its kernels, lays out the arena, and turns
/// control flow into commands by the `gate` strategy.
///
/// `gate`, the baseline: a region's predicate is read once into a latch; before each of its commands a gate kernel
/// reads the latch and writes the grid, or a grid with x = 0, that the command's indirect dispatch takes. A loop
/// becomes `max` copies of its body, of which the first `min` are as conditioned as what encloses the loop. Copies
/// and fills under a predicate become kernels, since no API gates them. Inner regions latch the conjunction of
/// their predicate and the enclosing latch, once. A loop without max is `unsupported` by this strategy.
Result<Plan> lower(const program::Program& program, const target::Profile& profile);

}  // namespace wavegate::lowering
