#pragma once
// One GPU: its streams, the libraries' handles, and what was decided once for calls that come again.
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/cuda/calls.h"
#include "engine/cuda/device.h"
#include "engine/cuda/functions.h"
#include "engine/cuda/module/failure.h"

namespace loom::cuda::module {

// Descriptors of products of one form, and the algorithms that cuBLASLt's heuristics put forward, best first.
struct PlannedMatmul {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  std::vector<cublasLtMatmulAlgo_t> algorithms;

  PlannedMatmul() = default;
  PlannedMatmul(const PlannedMatmul&) = delete;
  PlannedMatmul& operator=(const PlannedMatmul&) = delete;
  ~PlannedMatmul();
};

struct Gpu {
  explicit Gpu(int index);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu();
  void enter() const;  // the device is a property of the calling thread
  cudaStream_t stream(int number) const { return streams[number]; }

  void end() noexcept;

  int index;
  cudaStream_t streams[kStreams] = {};
  cublasLtHandle_t blas = nullptr;
  cudnnHandle_t dnn = nullptr;
  std::unordered_map<std::string, const KernelRow*> kernels;
  std::map<std::string, PlannedMatmul> matmuls;  // by all that decides
};

// See LoomCudaFunctions for all of them.
void multiply(Gpu& gpu, cudaStream_t stream, const MatmulCall& call, int engine);
int productEngines(Gpu& gpu, const MatmulCall& call, int most, LoomProductEngine* found);
double timeProduct(Gpu& gpu, const MatmulCall& call, int engine);
int planGraph(Gpu* gpu, const char* properties, const LoomDnnGraph& graph, std::size_t workspaceLimit, int first,
              int most, LoomDnnPlan* made);
void releasePlan(void* plan);
double timePlan(Gpu& gpu, void* plan, const LoomDnnGraph& graph);
void runPlan(Gpu& gpu, cudaStream_t stream, void* plan, const std::int64_t* ids, void* const* addresses, int count,
             void* workspace);

}  // namespace loom::cuda::module
