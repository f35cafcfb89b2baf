// Products through cuBLASLt: its heuristics are asked once for each form.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "engine/cuda/call_keys.h"
#include "engine/cuda/module/gpu.h"
#include "engine/cuda/module/timing.h"

namespace loom::cuda::module {
namespace {

using Epilogue = MatmulCall::Epilogue;

constexpr int kMostAlgorithms = 8;

cudaDataType_t typeOf(DataType type) {
  switch (type) {
    case DataType::f32:
      return CUDA_R_32F;
    case DataType::bf16:
      return CUDA_R_16BF;
    case DataType::f16:
      return CUDA_R_16F;
    default:
      throw Failure("a product of " + std::string(toString(type)) + ": GPUs multiply f32, bf16 and f16");
  }
}

std::string describe(const MatmulCall& p) {
  return "a product of " + std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) +
         (p.batch > 1 ? ", " + std::to_string(p.batch) + " times" : "") + " in " + std::string(toString(p.factors)) +
         " to " + std::string(toString(p.result));
}

template <class Value>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, Value value) {
  check(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof(value)), "cublasLtMatmulDescSetAttribute");
}
template <class Value>
void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, Value value) {
  check(cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof(value)), "cublasLtMatrixLayoutSetAttribute");
}

cublasLtMatrixLayout_t layoutOf(DataType type, std::int64_t rows, std::int64_t columns, std::int64_t leading,
                                std::int64_t batch, std::int64_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublasLtMatrixLayoutCreate(&layout, typeOf(type), static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), leading),
        "cublasLtMatrixLayoutCreate");
  try {
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
    set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  } catch (...) {
    cublasLtMatrixLayoutDestroy(layout);
    throw;
  }
  return layout;
}

void describeOperation(PlannedMatmul& made, const MatmulCall& p) {
  check(
      cublasLtMatmulDescCreate(&made.operation, p.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
      "cublasLtMatmulDescCreate");
  set(made.operation, CUBLASLT_MATMUL_DESC_TRANSA, p.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(made.operation, CUBLASLT_MATMUL_DESC_TRANSB, p.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N);
  const cublasLtEpilogue_t epilogue = p.epilogue == Epilogue::bias       ? CUBLASLT_EPILOGUE_BIAS
                                      : p.epilogue == Epilogue::relu     ? CUBLASLT_EPILOGUE_RELU
                                      : p.epilogue == Epilogue::biasRelu ? CUBLASLT_EPILOGUE_RELU_BIAS
                                                                         : CUBLASLT_EPILOGUE_DEFAULT;
  set(made.operation, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  if (hasBias(p)) set(made.operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, typeOf(p.result));
  made.a = layoutOf(p.factors, p.transposeA ? p.k : p.m, p.transposeA ? p.m : p.k, p.lda, p.batch, p.strideA);
  made.b = layoutOf(p.factors, p.transposeB ? p.n : p.k, p.transposeB ? p.k : p.n, p.ldb, p.batch, p.strideB);
  made.c = layoutOf(p.result, p.m, p.n, p.ldc, p.batch, p.strideC);
}

void choose(Gpu& gpu, PlannedMatmul& made, const MatmulCall& p) {
  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  int count = 0;
  cublasLtMatmulHeuristicResult_t found[kMostAlgorithms] = {};
  cublasStatus_t answer = CUBLAS_STATUS_SUCCESS;
  try {
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(p.workspaceBytes));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignmentOf(p.a));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignmentOf(p.b));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignmentOf(p.addend != nullptr ? p.addend : p.c));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignmentOf(p.c));
    // Parts of a sum are added up in f32, never in 16 bits; or there are none.
    for (const auto scheme : {CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, CUBLASLT_REDUCTION_SCHEME_NONE}) {
      prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, static_cast<std::uint32_t>(scheme));
      answer = cublasLtMatmulAlgoGetHeuristic(gpu.blas, made.operation, made.a, made.b, made.c, made.c, preference,
                                              kMostAlgorithms, found, &count);
      if (answer == CUBLAS_STATUS_SUCCESS && count > 0) break;
    }
    check(answer, "cublasLtMatmulAlgoGetHeuristic for " + describe(p));
  } catch (...) {
    cublasLtMatmulPreferenceDestroy(preference);
    throw;
  }
  cublasLtMatmulPreferenceDestroy(preference);
  for (int k = 0; k < count; ++k)
    if (found[k].state == CUBLAS_STATUS_SUCCESS && found[k].workspaceSize <= p.workspaceBytes)
      made.algorithms.push_back(found[k].algo);
  if (made.algorithms.empty())
    throw Failure("cublasLtMatmulAlgoGetHeuristic for " + describe(p) + ": it knows no algorithm");
}

const PlannedMatmul& planned(Gpu& gpu, const MatmulCall& call) {
  const std::string key = keyOf(call);
  if (const auto found = gpu.matmuls.find(key); found != gpu.matmuls.end()) return found->second;
  PlannedMatmul& made = gpu.matmuls[key];
  try {
    describeOperation(made, call);
    if (hasBias(call)) set(made.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(call.bias));
    choose(gpu, made, call);
  } catch (...) {
    gpu.matmuls.erase(key);
    throw;
  }
  return made;
}

}  // namespace

PlannedMatmul::~PlannedMatmul() {
  for (const cublasLtMatrixLayout_t layout : {a, b, c})
    if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
  if (operation != nullptr) cublasLtMatmulDescDestroy(operation);
}

namespace {

// By the algorithm at this place, into memory that need not be the call's.
void multiplyInto(Gpu& gpu, cudaStream_t stream, const PlannedMatmul& plan, const MatmulCall& call, int engine,
                  void* c) {
  if (engine < 0 || engine >= static_cast<int>(plan.algorithms.size()))
    throw Failure(describe(call) + ": there is no algorithm " + std::to_string(engine));
  if (hasBias(call)) set(plan.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(call.bias));
  check(cublasLtMatmul(gpu.blas, plan.operation, &call.alpha, call.a, plan.a, call.b, plan.b, &call.beta,
                       call.addend != nullptr ? call.addend : c, plan.c, c, plan.c,
                       &plan.algorithms[static_cast<std::size_t>(engine)], call.workspace, call.workspaceBytes, stream),
        "cublasLtMatmul for " + describe(call));
}

template <class Value>
Value read(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute) {
  Value value{};
  std::size_t written = 0;
  check(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof(value), &written),
        "cublasLtMatmulAlgoConfigGetAttribute");
  return value;
}

}  // namespace

void multiply(Gpu& gpu, cudaStream_t stream, const MatmulCall& call, int engine) {
  multiplyInto(gpu, stream, planned(gpu, call), call, engine, call.c);
}

int productEngines(Gpu& gpu, const MatmulCall& call, int most, LoomProductEngine* found) {
  const PlannedMatmul& plan = planned(gpu, call);
  const int count = std::min(most, static_cast<int>(plan.algorithms.size()));
  for (int k = 0; k < count; ++k) {
    const cublasLtMatmulAlgo_t& one = plan.algorithms[static_cast<std::size_t>(k)];
    std::snprintf(found[k].name, sizeof(found[k].name), "algorithm %d, tile %u, stages %u, split %d",
                  read<int>(one, CUBLASLT_ALGO_CONFIG_ID), read<unsigned>(one, CUBLASLT_ALGO_CONFIG_TILE_ID),
                  read<unsigned>(one, CUBLASLT_ALGO_CONFIG_STAGES_ID), read<int>(one, CUBLASLT_ALGO_CONFIG_SPLITK_NUM));
  }
  return count;
}

double timeProduct(Gpu& gpu, const MatmulCall& call, int engine) {
  const PlannedMatmul& plan = planned(gpu, call);
  const std::int64_t elements = (call.batch - 1) * call.strideC + (call.n - 1) * call.ldc + call.m;
  const cudaStream_t stream = gpu.stream(static_cast<int>(Stream::compute));
  const TrialMemory result(static_cast<std::size_t>(elements) * bytesOf(call.result), stream);
  return secondsOf(stream, [&] { multiplyInto(gpu, stream, plan, call, engine, result.get()); });
}

}  // namespace loom::cuda::module
