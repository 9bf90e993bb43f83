#pragma once

#include <algorithm>
#include <cstdint>

#include "wavegate/kir/builder.h"
#include "wavegate/program/program.h"
#include "wavegate/target/profile.h"

namespace wavegate::ops {

inline constexpr uint32_t kElementwiseWidth = 256;  ///< invocations in a workgroup

/// Workgroups for `blocks` independent blocks of work. Kernels step over the rest of the blocks, so that a device
/// with a small grid limit runs the same work in the same order.
inline program::Grid grid_of_blocks(uint32_t blocks, const target::Profile& profile) {
  return {std::max(1u, std::min(blocks, profile.limits.grid[0])), 1, 1};
}
inline uint32_t blocks_of(uint64_t elements, uint32_t per_block) {
  return static_cast<uint32_t>((elements + per_block - 1) / per_block);
}

/// Calls `body(i)` for every i below count, spread over the dispatch.
template <typename Body>
void for_each_element(kir::Builder& b, kir::Expr count, Body&& body) {
  b.for_(b.global_id(), count, b.grid() * kElementwiseWidth, body);
}

}  // namespace wavegate::ops
