#include "wavegate/ops/chunks.h"

namespace wavegate::ops {
namespace {
constexpr uint32_t kElementsAtOnce = 4;
constexpr uint32_t ceiling(uint32_t a, uint32_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}
}  // namespace

using kir::Builder;
using kir::Expr;

Chunks chunks_of(uint32_t elements, uint32_t elements_per_block, uint32_t maximum) {
  const uint32_t blocks = ceiling(elements, elements_per_block);
  const uint32_t blocks_per_chunk = ceiling(blocks, maximum);
  return {blocks_per_chunk * elements_per_block, blocks_per_chunk == 0 ? 0 : ceiling(blocks, blocks_per_chunk)};
}

ChunkRange chunk_range(Builder& b, Expr elements, Expr elements_per_chunk) {
  const Expr first = b.workgroup_id() * elements_per_chunk;
  return {first, b.apply(kir::Op::min_u, {elements, first + elements_per_chunk})};
}

void for_slot_elements(Builder& b, Mapping mapping, Expr slot, const ChunkRange& range,
                       const std::function<void(const std::vector<Expr>&)>& body) {
  Expr rest = range.first;
  if (mapping == Mapping::wide) {
    constexpr uint32_t step = kElementsAtOnce * kSlots;
    rest = range.first + (range.end - range.first) / step * step;
    b.for_(range.first + slot, rest, b.u32(step), [&](Expr i) {
      std::vector<Expr> elements{i};
      for (uint32_t k = 1; k < kElementsAtOnce; ++k) elements.push_back(i + k * kSlots);
      body(elements);
    });
  }
  b.for_(rest + slot, range.end, b.u32(kSlots), [&](Expr i) { body({i}); });
}

void for_chunk_elements(Builder& b, Mapping mapping, const ChunkRange& range,
                        const std::function<void(const std::vector<Expr>&)>& body) {
  if (mapping == Mapping::wide) return for_slot_elements(b, mapping, b.local_id(), range, body);
  b.for_(range.first + b.local_id(), range.end, b.u32(width_of(mapping)), [&](Expr i) { body({i}); });
}

}  // namespace wavegate::ops
