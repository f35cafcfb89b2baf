#include "engine/cpu/lowerings/product.h"

#include <algorithm>

namespace loom::cpu {
namespace {
constexpr std::int64_t kPackGrain = 1 << 15;  // floats of one packing task
}

Ref<float> packedB(Plan& plan, TensorId weight, const Ref<float>& b, std::int64_t rowStride, std::int64_t columnStride,
                   std::int64_t k, std::int64_t n) {
  if (weight != kNoTensor && plan.tensor(weight).role == TensorRole::parameter) {
    std::string key = "product";
    for (std::int64_t part : {static_cast<std::int64_t>(weight), b.offset, rowStride, columnStride, k, n})
      key += " " + std::to_string(part);
    return plan.packedWeight(key, packedFloats(k, n), [&](const Ref<float>& packed) {
      const std::int64_t step = std::max<std::int64_t>(1, kPackGrain / (panelWidth() * k));
      for (std::int64_t panel = 0; panel < panelsOf(n); panel += step) {
        const std::int64_t end = std::min(panelsOf(n), panel + step);
        plan.prologue([=](const Worker&) {
          packPanels(packed.get(), {b.get(), rowStride, columnStride}, k, n, panel, end);
        });
      }
    });
  }
  const Ref<float> packed = plan.scratch(packedFloats(k, n));
  plan.stage("pack", [=](const Worker& worker) {
    const auto [first, last] = worker.share(panelsOf(n));
    packPanels(packed.get(), {b.get(), rowStride, columnStride}, k, n, first, last);
  });
  return packed;
}

void emitProduct(Plan& plan, const Product& p, const Plan::Target& target) {
  const auto packed = packedB(plan, p.weight, p.b, p.rowB, p.columnB, p.k, p.n);
  const auto scratch = plan.scratch(gemmScratch() * plan.threads());
  plan.stage(p.name, [=](const Worker& worker) {
    const GemmShare share = shareOf(worker, p.m, p.n);
    gemm({.m = p.m,
          .n = p.n,
          .k = p.k,
          .a = {p.a.get(), p.rowA, p.columnA},
          .packed = packed.get(),
          .c = target.to.get(),
          .ldc = p.ldc > 0 ? p.ldc : p.n,
          .bias = p.bias.get(),
          .activation = p.activation,
          .accumulate = target.adds(worker)},
         share.firstRow, share.lastRow, share.firstPanel, share.lastPanel,
         scratch.get() + worker.index * gemmScratch());
  });
}

}  // namespace loom::cpu
