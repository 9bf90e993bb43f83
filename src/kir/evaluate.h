#pragma once

#include <cstdint>
#include <span>

#include "wavegate/kir/kernel.h"

namespace wavegate::kir {

/// The bits of a pure operation's result, as op.h defines it: the one place that says what arithmetic means, used
/// by constant folding and by the reference device. Values are zero-extended bits of their types. Every float
/// result but the approximate ones is rounded once, to nearest even, with denormals kept and no contraction; a NaN
/// that arithmetic makes is the positive quiet NaN without payload. Of -0 and +0, min_f takes -0 and max_f +0.
///
/// Preconditions: `op` is Effect::pure and none of constant, builtin, parameter, array_length; the types fit.
/// `type` is the result's, `operand_type` that of the last operand (they differ for comparisons and conversions).
uint64_t evaluate(Op op, Type type, Type operand_type, std::span<const uint64_t> operands);

}  // namespace wavegate::kir
