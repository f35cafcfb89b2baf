#pragma once
// The stages of a program's step that take longest, each beside its floor on a GPU: the bytes that it must move at the
// data sheet's bandwidth, or its operations at the peak of their type.
#include <string>

#include "engine/planner/gpu_model.h"
#include "engine/program/backend.h"
#include "tests/gpu/cuda/stage_times.h"

namespace loom::cuda {

// A line for each of the `most` longest, and of their sums and all. `fill`: the step's inputs.
std::string stageProfile(const Program& program, const std::shared_ptr<StageTimes>& times, const GpuModel& gpu,
                         DataType precision, int most, const std::function<void(Executable&)>& fill);

}  // namespace loom::cuda
