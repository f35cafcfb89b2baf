#pragma once
// The networks on which a processor is measured once, so that a step of any other can be predicted
// (engine/planner/processor_times.h): small ones of the kinds that people train, and none of the workloads.
#include <vector>

#include "engine/loom/bench/workloads.h"

namespace loom {

std::vector<Workload> processorProbes();

}  // namespace loom
