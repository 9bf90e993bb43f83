#pragma once

#include <string>
#include <utility>
#include <vector>

#include "wavegate/target/costs.h"

namespace wavegate::lowering {

/// What conditions the iterations of chunks is decided by costs: a way's name, and costs by which it is the cheapest.
/// Blocks need a device that has conditional rendering.
inline std::vector<std::pair<std::string, target::Costs>> chunk_guards(const target::Costs& usual) {
  target::Costs blocks = usual;
  blocks.conditional_begin = 1;
  blocks.conditional_on = blocks.conditional_off = 0;
  target::Costs gated = usual;
  gated.dispatch = gated.conditional_begin = 1e6;
  target::Costs chained = gated;
  gated.indirect = 1000, gated.indirect_empty = 100, gated.scalar_step = 1;
  chained.indirect = 1, chained.indirect_empty = 0, chained.scalar_step = 1000;
  return {{"chunked, in blocks", blocks}, {"chunked, gated", gated}, {"chunked, chained", chained}};
}

}  // namespace wavegate::lowering
