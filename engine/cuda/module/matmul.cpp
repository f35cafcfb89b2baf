// Products through cuBLASLt: its heuristics are asked once for each form.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/cuda/module/gpu.h"

namespace loom::cuda::module {
namespace {

using Epilogue = MatmulCall::Epilogue;

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

std::uint32_t alignmentOf(const void* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return static_cast<std::uint32_t>(std::min<std::uintptr_t>(address & (~address + 1), 256));
}

bool hasBias(const MatmulCall& call) {
  return call.epilogue == Epilogue::bias || call.epilogue == Epilogue::biasRelu;
}

std::string describe(const MatmulCall& p) {
  return "a product of " + std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) +
         (p.batch > 1 ? ", " + std::to_string(p.batch) + " times" : "") + " in " + std::string(toString(p.factors)) +
         " to " + std::string(toString(p.result));
}

// All that the choice of an algorithm depends on.
std::string keyOf(const MatmulCall& p) {
  std::string key;
  for (const std::int64_t part : {p.m,
                                  p.n,
                                  p.k,
                                  p.lda,
                                  p.ldb,
                                  p.ldc,
                                  p.batch,
                                  p.strideA,
                                  p.strideB,
                                  p.strideC,
                                  static_cast<std::int64_t>(p.transposeA),
                                  static_cast<std::int64_t>(p.transposeB),
                                  static_cast<std::int64_t>(p.factors),
                                  static_cast<std::int64_t>(p.result),
                                  static_cast<std::int64_t>(p.tf32),
                                  static_cast<std::int64_t>(p.epilogue),
                                  static_cast<std::int64_t>(p.beta != 0),
                                  static_cast<std::int64_t>(alignmentOf(p.a)),
                                  static_cast<std::int64_t>(alignmentOf(p.b)),
                                  static_cast<std::int64_t>(alignmentOf(p.c)),
                                  static_cast<std::int64_t>(p.workspaceBytes)})
    key += std::to_string(part) + ' ';
  return key;
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
  int found = 0;
  cublasLtMatmulHeuristicResult_t best{};
  try {
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(p.workspaceBytes));
    // Parts of a sum are added up in f32, never in 16 bits.
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignmentOf(p.a));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignmentOf(p.b));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignmentOf(p.c));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignmentOf(p.c));
    check(cublasLtMatmulAlgoGetHeuristic(gpu.blas, made.operation, made.a, made.b, made.c, made.c, preference, 1, &best,
                                         &found),
          "cublasLtMatmulAlgoGetHeuristic for " + describe(p));
  } catch (...) {
    cublasLtMatmulPreferenceDestroy(preference);
    throw;
  }
  cublasLtMatmulPreferenceDestroy(preference);
  if (found == 0) throw Failure("cublasLtMatmulAlgoGetHeuristic for " + describe(p) + ": it knows no algorithm");
  check(best.state, "cublasLtMatmulAlgoGetHeuristic for " + describe(p));
  made.algorithm = best.algo;
}

PlannedMatmul& planned(Gpu& gpu, const MatmulCall& call) {
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

void multiply(Gpu& gpu, cudaStream_t stream, const MatmulCall& call) {
  PlannedMatmul& plan = planned(gpu, call);
  if (hasBias(call)) set(plan.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(call.bias));
  check(cublasLtMatmul(gpu.blas, plan.operation, &call.alpha, call.a, plan.a, call.b, plan.b, &call.beta, call.c,
                       plan.c, call.c, plan.c, &plan.algorithm, call.workspace, call.workspaceBytes, stream),
        "cublasLtMatmul for " + describe(call));
}

}  // namespace loom::cuda::module
