#pragma once
// What the links between ranks can do, measured with the messages that reductions send.
#include "engine/comm/reductions/reduction.h"

namespace loom {

struct MeasuredLinks {
  Links links;      // of a class that no two ranks have: as assumed
  int perHost = 0;  // consecutive ranks that share a host; 0 = all of them, 1 where hosts have different numbers
};

// By all ranks together, in a fraction of a second on any network worth training on; every rank answers the same.
// `machine`: a name that ranks of one machine share.
MeasuredLinks measureLinks(Communicator& communicator, const std::string& machine);
// Consecutive ranks that share a machine, as MeasuredLinks has it.
int ranksPerHost(const std::vector<std::string>& machines);

}  // namespace loom
