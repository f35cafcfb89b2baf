#include <thread>

#include "engine/base/error.h"
#include "engine/comm/open_mpi.h"
#include "engine/loom/near_cores.h"
#include "engine/loom/verbs.h"
#include "engine/program/backend.h"
#ifdef GRADLOOM_HAS_CPU
#include "engine/cpu/cpu_backend.h"
#endif
#ifdef GRADLOOM_HAS_CUDA
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/device.h"
#include "engine/cuda/module_device.h"
#endif

namespace loom {

std::unique_ptr<Backend> makeBackend(const std::string& device, int threads) {
  if (device == "reference") return makeReferenceBackend();
#ifdef GRADLOOM_HAS_CPU
  if (device == "cpu" || device == "auto") return makeCpuBackend(threads);
#else
  (void)threads;
  if (device == "cpu" || device == "auto")
    throwError(ErrorCode::device,
               "this loom was built without the CPU backend; --device reference computes everything, slowly");
#endif
#ifdef GRADLOOM_HAS_CUDA
  if (device == "cuda" && cudaKnowsEveryOp()) {
    auto gpu = cuda::openCudaDevice(launchOfEnvironment().localRank);
    // What feeds it stands beside it, as the memory does that this thread and those of its making touch first.
    bindTo(coresNear(gpu->facts().pci, allowedCores()).cores);
    return makeCudaBackend(std::move(gpu));
  }
#endif
  if (device == "cuda")
    throwError(ErrorCode::device, "this loom has no CUDA module; --device cpu trains on the processor");
  throwError(ErrorCode::badArgument, "unknown device '{}'; auto, cpu, cuda and reference are known", device);
}

std::string versionText() {
  return "loom " GRADLOOM_VERSION;
}

}  // namespace loom
