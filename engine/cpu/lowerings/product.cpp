#include "engine/cpu/lowerings/product.h"

#include <algorithm>

#include "engine/cpu/kernels/gemm_amx.h"

namespace loom::cpu {
namespace {
constexpr std::int64_t kPackGrain = 1 << 15;  // floats of one packing task
}

std::int64_t packedSize(std::int64_t k, std::int64_t n, bool bf16) {
  return bf16 ? packedFloatsBf16(k, n) : packedFloats(k, n);
}

void packB(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first, std::int64_t last,
           bool bf16) {
  (bf16 ? packPanelsBf16 : packPanels)(packed, b, k, n, first, last);
}

void multiply(const GemmProblem& problem, const GemmShare& share, float* scratch, bool bf16) {
  (bf16 ? gemmBf16 : gemm)(problem, share.firstRow, share.lastRow, share.firstPanel, share.lastPanel, scratch);
}

std::string productImplementation(bool bf16) {
  return bf16 && multipliesInTiles() ? "own:amx" : "";
}

Ref<float> packedB(Plan& plan, TensorId weight, const StoredRef& b, std::int64_t rowStride, std::int64_t columnStride,
                   std::int64_t m, std::int64_t k, std::int64_t n, bool bf16) {
  const std::int64_t size = packedSize(k, n, bf16);
  if (plan.keepsPacked(weight, size, m)) {
    std::string key = bf16 ? "product in bf16" : "product";
    for (std::int64_t part : {static_cast<std::int64_t>(weight), b.at.offset, rowStride, columnStride, k, n})
      key.append(" ").append(std::to_string(part));
    return plan.packedWeight(key, size, [&](const Ref<float>& packed) {
      const std::int64_t step = std::max<std::int64_t>(1, kPackGrain / (panelWidth() * k));
      for (std::int64_t panel = 0; panel < panelsOf(n); panel += step) {
        const std::int64_t end = std::min(panelsOf(n), panel + step);
        plan.prologue(weight,
                      [=] { packB(packed.get(), viewOf(b.get(), rowStride, columnStride), k, n, panel, end, bf16); });
      }
    });
  }
  return plan.packInStep(weight, size, {}, [=](const Ref<float>& packed) {
    return [=](const Worker& worker) {
      const auto [first, last] = worker.share(panelsOf(n));
      packB(packed.get(), viewOf(b.get(), rowStride, columnStride), k, n, first, last, bf16);
    };
  });
}

void emitProduct(Plan& plan, const Product& p, const Plan::Target& target) {
  const auto packed = packedB(plan, p.weight, p.b, p.rowB, p.columnB, p.m, p.k, p.n, p.bf16);
  const auto scratch = plan.scratch(gemmScratch() * plan.threads());
  const std::int64_t tileRows = p.bf16 && multipliesInTiles() ? 32 : 6;
  plan.stage(p.name, productImplementation(p.bf16), {}, [=](const Worker& worker) {
    multiply({.m = p.m,
              .n = p.n,
              .k = p.k,
              .a = viewOf(p.a.get(), p.rowA, p.columnA),
              .packed = packed.get(),
              .c = target.to.get(),
              .ldc = p.ldc > 0 ? p.ldc : p.n,
              .bias = p.bias.get(),
              .activation = p.activation,
              .accumulate = target.adds(worker),
              .half = target.half.get()},
             shareOf(worker, p.m, p.n, tileRows), scratch.get() + worker.index * gemmScratch(), p.bf16);
  });
}

}  // namespace loom::cpu
