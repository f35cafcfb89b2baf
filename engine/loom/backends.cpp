#include <thread>

#include "engine/base/error.h"
#include "engine/comm/nccl.h"
#include "engine/comm/open_mpi.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/device.h"
#include "engine/cuda/module_device.h"
#include "engine/loom/near_cores.h"
#include "engine/loom/verbs.h"
#include "engine/program/backend.h"

namespace loom {

std::unique_ptr<Backend> makeBackend(const std::string& device, int threads, bool timesEngines) {
  if (device == "reference") return makeReferenceBackend();
  if (device == "cpu" || device == "auto") return makeCpuBackend(threads);
  if (device == "cuda" && cudaKnowsEveryOp()) {
    auto gpu =
        cuda::openCudaDevice(launchOfEnvironment().localRank,
                             {.times = timesEngines, .file = cuda::keptEngines(), .warn = [](const std::string& text) {
                                std::fprintf(stderr, "loom: warning: %s\n", text.c_str());
                              }});
    // What feeds it stands beside it, as the memory does that this thread and those of its making touch first.
    bindTo(coresNear(gpu->facts().pci, allowedCores()).cores);
    return makeCudaBackend(std::move(gpu));
  }
  if (device == "cuda")
    throwError(ErrorCode::device, "this loom has no CUDA module; --device cpu trains on the processor");
  throwError(ErrorCode::badArgument, "unknown device '{}'; auto, cpu, cuda and reference are known", device);
}

ConnectStreams makeConnection(const std::string& device, std::function<void(const std::string&)> tell) {
  if (device != "cuda") return nullptr;
  return [tell = std::move(tell)](Communicator& ranks) -> std::shared_ptr<StreamRanks> {
    try {
      return openNcclStreams(ranks, launchOfEnvironment().localRank);
    } catch (const Error& error) {  // the same on every rank
      tell(error.what());
      return nullptr;
    }
  };
}

std::string versionText() {
  return "loom " GRADLOOM_VERSION;
}

}  // namespace loom
