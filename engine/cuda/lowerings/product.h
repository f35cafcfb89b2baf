#pragma once
// Matrix products in row-major terms, for every lowering that multiplies.
#include <string>

#include "engine/cuda/lowerings/parts.h"

namespace loom::cuda {

// c = relu(alpha op(a) op(b) + bias + beta addend), op(a) m x k, op(b) k x n, c m x n, each `batch` times. The types
// are those of the operands: a and b alike, the bias in c's.
struct Product {
  std::string name;  // "matmul"; extents and what is joined are added to it
  std::int64_t m = 0, n = 0, k = 0;
  Operand a, b, c, bias;  // bias: n numbers along the rows
  Operand addend;         // as c; without one, c itself
  bool transposeA = false, transposeB = false;
  std::int64_t lda = 0, ldb = 0, ldc = 0;                         // elements from row to row as stored; 0: no gaps
  std::int64_t batch = 1, strideA = 0, strideB = 0, strideC = 0;  // elements; 0: the same for all
  float alpha = 1, beta = 0;
  bool relu = false;
  StageKind kind = StageKind::product;
};
void emitProduct(Plan& plan, const Product& product);

}  // namespace loom::cuda
