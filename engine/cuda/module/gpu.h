#pragma once
// One GPU: its streams, the libraries' handles, and what was decided once for calls that come again.
#include <map>
#include <string>
#include <unordered_map>

#include "engine/cuda/calls.h"
#include "engine/cuda/device.h"
#include "engine/cuda/functions.h"
#include "engine/cuda/module/failure.h"

namespace loom::cuda::module {

// Descriptors of products of one form, and the algorithm that cuBLASLt's heuristics put first.
struct PlannedMatmul {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulAlgo_t algorithm{};

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

void multiply(Gpu& gpu, cudaStream_t stream, const MatmulCall& call);
// See LoomCudaFunctions::plan.
void planGraph(Gpu* gpu, const char* properties, const LoomDnnGraph& graph, std::size_t workspaceLimit,
               LoomDnnPlan& made);
void releasePlan(void* plan);
void runPlan(Gpu& gpu, cudaStream_t stream, void* plan, const std::int64_t* ids, void* const* addresses, int count,
             void* workspace);

}  // namespace loom::cuda::module
