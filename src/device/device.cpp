#include "wavegate/device/device.h"

#include "wavegate/base/format.h"

namespace wavegate::device {

Error time_limit_error(const graph::Graph& graph, const graph::Loop& loop, double seconds) {
  return device_error(
      format("loop \"{}\": it is not done after {} seconds, the time limit; raise the limit (--time-limit) "
             "or give the loop a maximum",
             loop.label, seconds),
      format("graph \"{}\"", graph.name));
}

}  // namespace wavegate::device
