// matmul and bias_gradient.
#include <fmt/core.h>

#include <algorithm>

#include "engine/cpu/kernels/elementwise.h"
#include "engine/cpu/kernels/gemm_bf16.h"
#include "engine/cpu/lowerings/lowerings.h"
#include "engine/cpu/lowerings/product.h"

namespace loom::cpu {

void lowerMatmul(Plan& plan, const Operation& operation) {
  const TensorId a = operation.inputs[0], b = operation.inputs[1];
  const TensorId bias = operation.inputs.size() > 2 ? operation.inputs[2] : kNoTensor;
  const TensorId y = plan.fused().output;
  const bool transposeA = operation.attributes.boolean("transpose_a", false),
             transposeB = operation.attributes.boolean("transpose_b", false);
  const Shape& shapeA = plan.shape(a);
  const Shape& shapeB = plan.shape(b);
  std::int64_t m = shapeA[transposeA ? -1 : -2];
  const std::int64_t k = shapeA[transposeA ? -2 : -1], n = shapeB[transposeB ? -2 : -1];
  std::int64_t matrices = 1;
  for (std::size_t axis = 0; axis + 2 < shapeA.rank(); ++axis) matrices *= shapeA.extents()[axis];
  const bool shared = shapeB.rank() == 2;
  if (shared && !transposeA) {  // one tall matrix
    m *= matrices;
    matrices = 1;
  }
  const auto left = plan.readStored(a, plainLayout(shapeA.rank())),
             right = plan.readStored(b, plainLayout(shapeB.rank()));
  const auto offsets = plan.readOptional(bias);
  const auto target = k <= kLongestToHalf ? plan.writeProduct(y) : plan.writeGradient(y);
  const Activation activation = plan.fused().relu ? Activation::relu : Activation::none;
  const std::int64_t rowA = transposeA ? 1 : k, columnA = transposeA ? m : 1, rowB = transposeB ? 1 : n,
                     columnB = transposeB ? k : 1;
  const bool bf16 = plan.bf16();
  const std::string kernel =
      fmt::format("matmul {}×{}×{}{}{}", m, n, k, bf16 ? " in bf16" : "", plan.fused().relu ? " + relu" : "");
  if (matrices == 1) {
    emitProduct(plan,
                {.name = kernel,
                 .m = m,
                 .n = n,
                 .k = k,
                 .a = left,
                 .rowA = rowA,
                 .columnA = columnA,
                 .b = right,
                 .rowB = rowB,
                 .columnB = columnB,
                 .weight = b,
                 .bias = offsets,
                 .activation = activation,
                 .bf16 = bf16},
                target);
    return;
  }
  const auto scratch = plan.scratchOfThreads(gemmScratch());
  const auto packed = plan.scratchOfThreads(packedSize(k, n, bf16));
  plan.stage(fmt::format("{} × {}", matrices, kernel), productImplementation(bf16), {}, [=](const Worker& worker) {
    const auto [first, last] = worker.share(matrices);
    float* mine = packed.of(worker.thread);
    for (std::int64_t i = first; i < last; ++i) {
      if (i == first || !shared)
        packB(mine, viewOf(right.get().from(shared ? 0 : i * k * n), rowB, columnB), k, n, 0, panelsOf(n), bf16);
      multiply({.m = m,
                .n = n,
                .k = k,
                .a = viewOf(left.get().from(i * m * k), rowA, columnA),
                .packed = mine,
                .c = target.half ? nullptr : target.to.get() + i * m * n,
                .ldc = n,
                .bias = offsets.get(),
                .activation = activation,
                .accumulate = target.adds(worker),
                .half = target.half ? target.half.get() + i * m * n : nullptr},
               {0, m, 0, panelsOf(n)}, scratch.of(worker.thread), bf16);
    }
  });
}

ChannelView channelView(const Plan& plan, TensorId id, std::int64_t axis) {
  const Shape& shape = plan.shape(id);
  if (axis < 0) axis += static_cast<std::int64_t>(shape.rank());
  return {lastAxis(shape.rank(), static_cast<int>(axis)), shape.elements() / shape[axis], shape[axis]};
}

void lowerBiasGradient(Plan& plan, const Operation& operation) {
  const TensorId dy = operation.inputs[0];
  const ChannelView view = channelView(plan, dy, operation.attributes.integer("axis", 1));
  const auto from = plan.readStored(dy, view.layout);
  const auto target = plan.writeGradient(operation.outputs[0]);
  const auto partial = plan.scratchOfThreads(view.channels);
  const std::int64_t channels = view.channels, rows = view.rows;
  plan.stage("bias_gradient", {}, layoutName(plan.shape(dy), view.layout), [=](const Worker& worker) {
    if (worker.phase == 0) {
      const auto [first, last] = worker.share(rows);
      float* mine = partial.of(worker.index);
      std::fill_n(mine, channels, 0.0f);
      sumRows(from.get().from(first * channels), last - first, channels, channels, mine);
      return;
    }
    const auto [first, last] = worker.share(channels, 16);
    for (std::int64_t c = first; c < last; ++c) {
      float total = 0;
      for (int t = 0; t < worker.count; ++t) total += partial.of(t)[c];
      target.to.get()[c] = target.adds(worker) ? target.to.get()[c] + total : total;
    }
  });
  plan.phases(2);
}

}  // namespace loom::cpu
