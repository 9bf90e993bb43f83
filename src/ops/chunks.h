#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "wavegate/kir/builder.h"
#include "wavegate/ops/mapping.h"

namespace wavegate::ops {

/// Most partial sums of a reduction: few enough for every workgroup of the next kernel to add them for itself.
inline constexpr uint32_t kMaximumChunks = 4096;

/// Elements in runs of whole blocks, one run and one partial sum a workgroup. Chosen from the number of elements alone.
struct Chunks {
  uint32_t elements_per_chunk = 0;
  uint32_t count = 0;
};
Chunks chunks_of(uint32_t elements, uint32_t elements_per_block, uint32_t maximum = kMaximumChunks);

/// The elements of this workgroup's chunk; both are workgroup-uniform.
struct ChunkRange {
  kir::Expr first, end;
};
ChunkRange chunk_range(kir::Builder& b, kir::Expr elements, kir::Expr elements_per_chunk);

/// Calls `body` for a slot's elements in order: first + slot, and on by steps of kSlots up to end. It is given several
/// elements at once where the mapping is wide, so that it can begin all their loads before it needs one.
void for_slot_elements(kir::Builder& b, Mapping mapping, kir::Expr slot, const ChunkRange& range,
                       const std::function<void(const std::vector<kir::Expr>&)>& body);

/// Calls for_slot_elements for each slot of this invocation.
void for_chunk_elements(kir::Builder& b, Mapping mapping, const ChunkRange& range,
                        const std::function<void(const std::vector<kir::Expr>&)>& body);

}  // namespace wavegate::ops
