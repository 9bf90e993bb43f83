#include "wavegate/graph/graph.h"

namespace wavegate::graph {
const kir::Interface& interface_of(const Kernel& kernel) {
  return std::visit([](const auto& k) -> const kir::Interface& { return k->interface; }, kernel);
}
}  // namespace wavegate::graph
