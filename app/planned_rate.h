#pragma once
// The learning rate that a run has still before it: by its schedule, in proportion to the rate that holds now.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "launcher/store/run_record.h"

namespace loom {

// (step, rate) from the run's step to its end, evenly spaced. `now`: the rate of its newest step. Empty where nothing
// is ahead or the run does not say by which schedule.
std::vector<std::pair<double, double>> plannedRate(const RunRecord& run, double now);

}  // namespace loom
