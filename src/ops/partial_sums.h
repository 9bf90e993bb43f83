#pragma once

#include <cstdint>

#include "wavegate/kir/builder.h"
#include "wavegate/ops/mapping.h"
#include "wavegate/ops/slot_sum.h"

namespace wavegate::ops {

/// Adds `lists` lists of `count` partial sums each, which lie one list after the other. Every workgroup that calls this
/// comes to the same totals. Control flow must be workgroup-uniform.
void add_partials(kir::Builder& b, Mapping mapping, SlotSum& slots, const kir::MemoryRef& partials, uint32_t count,
                  uint32_t lists);

}  // namespace wavegate::ops
