#pragma once
// The real device: a GPU behind the module loom_cuda.so, which is opened at run time.
#include <filesystem>
#include <memory>
#include <string>

#include "engine/cuda/device.h"
#include "engine/cuda/engine_choice.h"

namespace loom::cuda {

// Where the module is looked for: GRADLOOM_CUDA_MODULE, beside the program, in ../lib/gradloom.
std::filesystem::path cudaModule();

// The GPU for a host's process `localRank`, counted from 0: of those that this process sees, in turn and in the order
// of their places on the PCI bus (main() asks CUDA for that order). Throws Error(device) that says what is missing and
// what to do where the module, its libraries, the driver or the GPU cannot be had. `engines`: how those of its
// libraries are chosen. GRADLOOM_CUDA_CHECK=1 in the environment waits for each call and captures nothing: slow, and an
// error names kernel and layer. GRADLOOM_ENGINES=ready takes the libraries' favourites untimed, and none that must be
// compiled first: a program then begins within a second or two, and is slower. GRADLOOM_CUDA_SPIN_US: for so long (100
// us by itself) the host asks again and again before it sleeps.
std::shared_ptr<Device> openCudaDevice(int localRank = 0, EngineChoiceOptions engines = {});

// What a device with these properties (cuDNN's JSON; none need be there) would do with a graph; such a plan cannot be
// run. Throws Error(device) as Device::plan does, and as above where the module cannot be opened.
std::shared_ptr<const DnnPlan> planWithoutDevice(const std::string& properties, const DnnGraph& graph,
                                                 std::size_t workspaceLimit);

// "CUDA 13.0, cuDNN 9.19.0, cuBLASLt 13.1.0". Throws as above.
std::string cudaLibraries();

}  // namespace loom::cuda
