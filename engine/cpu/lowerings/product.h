#pragma once
// One matrix product as stages: B packed ahead of the step where that stays (Plan::keepsPacked), in a stage of its own
// otherwise.
#include <string>

#include "engine/cpu/kernels/gemm.h"
#include "engine/cpu/plan.h"

namespace loom::cpu {

// C (m x n) = activation(A B + bias). Strides are in elements, so that a transposed matrix needs no copy.
struct Product {
  std::string name;
  std::int64_t m = 0, n = 0, k = 0;
  StoredRef a;
  std::int64_t rowA = 0, columnA = 1;
  StoredRef b;
  std::int64_t rowB = 0, columnB = 1;
  TensorId weight = kNoTensor;  // whose memory b is; packed once a change where it is a parameter
  Ref<float> bias = {};
  Activation activation = Activation::none;
  std::int64_t ldc = 0;  // 0 = n
  bool bf16 = false;     // of factors rounded to it
};

double multiplyAddsOf(const Product& product);
// With Target::half, K is at most kLongestToHalf.
void emitProduct(Plan& plan, const Product& product, const Plan::Target& target);

// b (k x n) in panels for m rows of A: from the prologue on where `weight` is kept so, else in this operation.
Ref<float> packedB(Plan& plan, TensorId weight, const StoredRef& b, std::int64_t rowStride, std::int64_t columnStride,
                   std::int64_t m, std::int64_t k, std::int64_t n, bool bf16 = false);

// Whether a product in f32 that can be halved is computed by kernels/strassen.h: where the caller says that it is
// faster, or as CpuWays says. And packedB() for that.
constexpr const char* kHalvedName = "own:strassen";
bool mayHalve(const Plan& plan, bool isFaster);
bool isHalved(const Plan& plan, const Product& product);
Ref<float> halvedB(Plan& plan, TensorId weight, const StoredRef& b, std::int64_t rowStride, std::int64_t columnStride,
                   std::int64_t rows, std::int64_t k, std::int64_t n);

inline MatrixView viewOf(Stored at, std::int64_t rowStride, std::int64_t columnStride) {
  if (at.bf16) return {nullptr, rowStride, columnStride, reinterpret_cast<const std::uint16_t*>(at.at)};
  return {reinterpret_cast<const float*>(at.at), rowStride, columnStride};
}
// kernels/gemm.h or gemm_bf16.h.
std::int64_t packedSize(std::int64_t k, std::int64_t n, bool bf16);
void packB(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first, std::int64_t last,
           bool bf16);
void multiply(const GemmProblem& problem, const GemmShare& share, float* scratch, bool bf16);
// What a stage says of itself; empty: what stages say of themselves.
std::string productImplementation(bool bf16);

}  // namespace loom::cpu
