#pragma once
// The networks on which a processor is measured once, so that a step of any other can be predicted
// (engine/planner/processor_times.h): small ones of the kinds that people train, and none of the workloads. Their
// images have channels in multiples of 16, as nearly all networks have: kernels of 24 take longer for each operation.
#include <vector>

#include "engine/loom/bench/workloads.h"

namespace loom {

std::vector<Workload> processorProbes();

}  // namespace loom
