#pragma once

#include <array>
#include <cstdint>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"

namespace wavegate::kir {

/// Whether the invocations of a workgroup know of each other: by a barrier, workgroup memory, or subgroups (operations,
/// lane, size). A claim of uniformity, a fence or an atomic ties none. A tied kernel keeps the size of its workgroups;
/// one that is not runs in workgroups of any size.
bool is_tied(const Kernel& kernel);

/// The kernel that does the work of a whole grid (in workgroups) as one workgroup of {width, 1, 1} invocations,
/// dispatched with a grid of 1. It has the same interface but for the workgroup size, and ends with its only return.
///
/// A kernel that is not tied runs its invocations `width` at a time, in order of workgroup and local index; each keeps
/// the ids it had. Its claims of uniformity, which then hold no longer, are dropped. A tied kernel runs one workgroup
/// after the other, with a barrier in between where they share workgroup memory; claims over the device become claims
/// over the workgroup.
///
/// `unsupported`, with the reason: a tied kernel whose workgroup has not `width` invocations, or with
/// subgroup operations and not {width, 1, 1}; more than 2^32 invocations in all; returns that nest too deep (see
/// structure_returns); more invocations than a workgroup may have. `invalid-input`: a width of zero.
/// A kernel whose invocations wait for those of later workgroups (which no dispatch promises to end) does not end.
Result<Kernel> in_one_workgroup(const Kernel& kernel, const std::array<uint32_t, 3>& grid, uint32_t width);

}  // namespace wavegate::kir
