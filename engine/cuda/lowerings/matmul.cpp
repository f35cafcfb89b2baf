// matmul and bias_gradient.
#include "engine/cuda/lowerings/column_sums.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/product.h"

namespace loom::cuda {
namespace {

void lowerMatmul(Plan& plan, const Operation& operation) {
  const TensorId a = operation.inputs[0], b = operation.inputs[1];
  const TensorId bias = operation.inputs.size() > 2 ? operation.inputs[2] : kNoTensor;
  const TensorId y = plan.fused().output;
  const Shape &shapeA = plan.shape(a), &shapeB = plan.shape(b);
  const auto plainOf = [&](TensorId id) { return plainLayout(plan.shape(id).rank()); };
  Product product{.name = "matmul",
                  .transposeA = operation.attributes.boolean("transpose_a", false),
                  .transposeB = operation.attributes.boolean("transpose_b", false),
                  .relu = plan.fused().relu};
  product.m = shapeA[product.transposeA ? -1 : -2];
  product.k = shapeA[product.transposeA ? -2 : -1];
  product.n = shapeB[product.transposeB ? -2 : -1];
  for (std::size_t axis = 0; axis + 2 < shapeA.rank(); ++axis) product.batch *= shapeA.extents()[axis];
  const bool shared = shapeB.rank() == 2;
  if (shared && !product.transposeA) {  // one tall matrix
    product.m *= product.batch;
    product.batch = 1;
  }
  product.strideA = product.m * product.k;
  product.strideB = shared ? 0 : product.k * product.n;
  product.strideC = product.m * product.n;
  product.a = plan.read(a, plainOf(a), plan.factors());
  product.b = plan.read(b, plainOf(b), plan.factors());
  if (bias != kNoTensor) product.bias = plan.read(bias, plainOf(bias), plan.tensor(y).type);
  const TensorId addend = plan.fused().addend;
  if (addend != kNoTensor) {
    product.addend = plan.read(addend, plainOf(addend), plan.tensor(y).type);
    product.beta = 1;
  }
  product.c = plan.write(y);
  if (addend != kNoTensor) plan.mayOverwrite(y, addend);
  emitProduct(plan, product);
}

void lowerBiasGradient(Plan& plan, const Operation& operation) {
  const TensorId dy = operation.inputs[0];
  const Shape& shape = plan.shape(dy);
  std::int64_t axis = operation.attributes.integer("axis", 1);
  if (axis < 0) axis += static_cast<std::int64_t>(shape.rank());
  const Operand from = plan.read(dy, lastAxis(shape.rank(), static_cast<int>(axis)));
  emitColumnSums(plan, from, shape.elements() / shape[axis], shape[axis], plan.write(operation.outputs[0]));
}

}  // namespace

LoweringRows matmulRows() {
  static const LoweringRow rows[] = {
      {"matmul", lowerMatmul, {.addend = true, .relu = true}, {{0, 1}, true}},
      {"bias_gradient", lowerBiasGradient, {}, {{0}}},
  };
  return rows;
}

}  // namespace loom::cuda
