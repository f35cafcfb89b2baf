#pragma once
// Programs on a GPU. What a program becomes is decided here, the same with any device behind it.
#include <memory>

#include "engine/program/backend.h"

namespace loom {

namespace cuda {
class Device;
}

std::unique_ptr<Backend> makeCudaBackend(std::shared_ptr<cuda::Device> device);

// Whether every op of the table has a lowering: else no program is put before a GPU.
bool cudaKnowsEveryOp();

}  // namespace loom
