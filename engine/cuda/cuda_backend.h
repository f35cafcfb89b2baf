#pragma once
// Programs on a GPU. What a program becomes is decided here, the same with any device behind it.
#include <memory>

#include "engine/program/backend.h"
#include "engine/program/step_cost.h"

namespace loom {

namespace cuda {
class Device;
}

std::unique_ptr<Backend> makeCudaBackend(std::shared_ptr<cuda::Device> device);

// What a step of the program asks of the device, from the plan that would run there. Nothing is allocated on it.
StepCost stepCost(Program program, cuda::Device& device, const CompileOptions& options);

// Whether every op of the table has a lowering: else no program is put before a GPU.
bool cudaKnowsEveryOp();

}  // namespace loom
