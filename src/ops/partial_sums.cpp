#include "wavegate/ops/partial_sums.h"

namespace wavegate::ops {

using kir::Expr;

void add_partials(kir::Builder& b, Mapping mapping, SlotSum& slots, const kir::MemoryRef& partials, uint32_t count,
                  uint32_t lists) {
  slots.add(kSlots, [&](Expr slot) {
    SlotSum::Terms terms;
    for (uint32_t list = 0; list < lists; ++list) {
      const uint32_t first = list * count;
      if (mapping == Mapping::narrow) {
        auto sum = b.variable(b.f32(0.0f));
        b.for_(slot, b.u32(count), b.u32(kSlots), [&](Expr i) { sum = static_cast<Expr>(sum) + partials[i + first]; });
        terms.push_back(sum);
        continue;
      }
      // All loads at once: their latency is what this costs.
      std::vector<Expr> loaded;
      for (uint32_t k = 0; k < count; k += kSlots)
        loaded.push_back(partials[b.apply(kir::Op::min_u, {slot + k, b.u32(count - 1)}) + first]);
      Expr sum = b.f32(0.0f);
      for (uint32_t k = 0; k < count; k += kSlots)
        sum = sum + b.select(slot + k < count, loaded[k / kSlots], b.f32(0.0f));
      terms.push_back(sum);
    }
    return terms;
  });
}

}  // namespace wavegate::ops
