#pragma once
// What the way between ranks can do, measured with the very calls that training uses.
#include "engine/comm/communicator.h"

namespace loom {

struct NetworkFigures {
  int from = 0, to = 0;  // ranks between which messages went: the first, and the first on another machine, or the last
  bool acrossMachines = false;
  double delay = 0;      // seconds of a message of one byte, one way: half of the median of there and back
  double bandwidth = 0;  // bytes a second, one way
  double allReduce = 0;  // seconds to sum `allReduceBytes` over all ranks, the median
  std::size_t allReduceBytes = 0;
};

// By all ranks together, within about a second on any network worth training on; every rank answers the same. `machine`
// is a name that ranks of one machine share.
NetworkFigures measureNetwork(Communicator& communicator, const std::string& machine);

}  // namespace loom
