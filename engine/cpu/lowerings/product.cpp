#include "engine/cpu/lowerings/product.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/cpu/kernels/gemm_amx.h"
#include "engine/cpu/kernels/gemm_rows.h"
#include "engine/cpu/kernels/isa.h"
#include "engine/cpu/kernels/strassen.h"

namespace loom::cpu {
namespace {
constexpr std::int64_t kPackGrain = 1 << 15;  // floats of one packing task
// Floats of a part that are worth a room that nothing else uses: at most what stays in a level-2 cache.
constexpr std::int64_t kLeastByPart = 1 << 13, kMostByPart = 1 << 18;
constexpr std::int64_t kLeastHalved = std::int64_t{1} << 28;  // multiply-adds
}  // namespace

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

double multiplyAddsOf(const Product& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
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

// From what was measured on Zen 3 and Zen 4 (tests/bench/cpu_speed.md); where 512 bits are computed at once it was not.
// Only where gradients are computed: a prediction for one sample does not hang on what else is in the batch.
bool mayHalve(const Plan& plan, bool isFaster) {
  return isTaken(plan.ways().halves, isFaster && peaksAt256Bits() && plan.learns());
}

Ref<float> halvedB(Plan& plan, TensorId weight, const StoredRef& b, std::int64_t rowStride, std::int64_t columnStride,
                   std::int64_t rows, std::int64_t k, std::int64_t n) {
  const std::int64_t floats = halvedFloats(allSteps(k), n);
  const auto pack = [=](const Ref<float>& packed, std::int64_t first, std::int64_t last) {
    packHalved(packed.get(), viewOf(b.get(), rowStride, columnStride), k, n, first, last, allSteps(k));
  };
  if (plan.keepsPacked(weight, floats, rows)) {
    return plan.packedWeight(fmt::format("halves {} {} {} {} {}", weight, rowStride, columnStride, k, n), floats,
                             [&](const Ref<float>& packed) {
                               for (std::int64_t panel = 0; panel < panelsOf(n / 2); ++panel)
                                 plan.prologue(weight, [=] { pack(packed, panel, panel + 1); });
                             });
  }
  return plan.packInStep(weight, floats, kHalvedName, [=](const Ref<float>& packed) {
    return [=](const Worker& worker) {
      const auto [first, last] = worker.share(panelsOf(n / 2));
      pack(packed, first, last);
    };
  });
}

bool isHalved(const Plan& plan, const Product& p) {
  const std::int64_t least = isa() == Isa::avx512 ? 256 : 384;
  const bool isFaster = std::min({p.m, p.n, p.k}) >= least && p.m * p.n * p.k >= kLeastHalved;
  return !p.bf16 && !p.a.bf16 && !p.b.bf16 && (p.rowA == 1 || p.columnA == 1) && canHalve(p.m, p.n, p.k) &&
         mayHalve(plan, isFaster);
}

namespace {

// Rows before columns, so that the sums of A's quarters are made once, but for rows that are too few to read B for.
GemmShare halvedShare(const Worker& worker, std::int64_t m, std::int64_t n) {
  constexpr std::int64_t kLeastRows = 96;
  const int parts = worker.count / worker.pieces, part = worker.index / worker.pieces;
  int columns = 1;
  while (columns < parts && (parts % columns != 0 || m / (parts / columns) < kLeastRows)) ++columns;
  const int piece = part / columns * worker.pieces + worker.index % worker.pieces;
  const auto [firstRow, lastRow] = Worker{piece, parts / columns * worker.pieces}.share(m, 6);
  const auto [firstPanel, lastPanel] = Worker{part % columns, columns}.share(panelsOf(n));
  return {firstRow, lastRow, firstPanel, lastPanel};
}

// What each worker multiplies, or its part of it.
GemmProblem problemOf(const Product& p, const Plan::Target& target, const float* packed, const Worker& worker) {
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .a = viewOf(p.a.get(), p.rowA, p.columnA),
          .packed = packed,
          .c = target.to.get(),
          .ldc = p.ldc > 0 ? p.ldc : p.n,
          .bias = p.bias.get(),
          .activation = p.activation,
          .accumulate = target.adds(worker),
          .half = target.half.get()};
}

// Packed B where a worker's panels stand, as if the first panel of all stood at of().
struct PackedParts {
  Ref<float> whole;
  Rooms rooms;  // instead: each part its own panels
  std::int64_t panelFloats = 0, panels = 0;

  float* of(const Worker& worker) const {
    if (!rooms) return whole.get();
    const int parts = worker.count / worker.pieces, part = worker.index / worker.pieces;
    return rooms.of(part) - panels * part / parts * panelFloats;
  }
};

// Where each part of C is all rows of some columns, a part packs its panels for itself.
template <class ShareOf>
PackedParts packedParts(Plan& plan, const Product& p, const ShareOf& shareOfPart) {
  const std::int64_t size = packedSize(p.k, p.n, p.bf16), panels = panelsOf(p.n);
  const int threads = plan.threads();
  const bool byColumns = threads > 1 && shareOfPart(Worker{0, threads}).lastRow == p.m &&
                         shareOfPart(Worker{0, threads}).lastPanel < panels;
  const std::int64_t panelFloats = size / panels, ofPart = (panels + threads - 1) / threads * panelFloats;
  if (!byColumns || ofPart < kLeastByPart || ofPart > kMostByPart || plan.keepsPacked(p.weight, size, p.m))
    return {packedB(plan, p.weight, p.b, p.rowB, p.columnB, p.m, p.k, p.n, p.bf16), {}};
  const PackedParts parts{{}, plan.scratchOfThreads(ofPart), panelFloats, panels};
  plan.packStage(p.weight, {}, [=](const Worker& worker) {
    const GemmShare share = shareOfPart(worker);
    packB(parts.of(worker), viewOf(p.b.get(), p.rowB, p.columnB), p.k, p.n, share.firstPanel, share.lastPanel, p.bf16);
  });
  return parts;
}

// B, which is new in every step, is packed a block of K at a time, just before it is multiplied with: it stays in the
// cache, and the room that it takes is small.
void emitHalvedInBlocks(Plan& plan, const Product& p, const Plan::Target& target) {
  const std::int64_t blocks = halvedBlocks(p.k);
  std::int64_t room = 0;
  for (std::int64_t block = 0; block < blocks; ++block)
    room = std::max(room, halvedFloats(halvedBlock(p.k, block), p.n));
  const auto packed = plan.scratch(room);
  const auto scratch = plan.scratchOfThreads(halvedScratch());
  plan.stage(p.name, kHalvedName, {}, [=](const Worker& worker) {
    const HalvedSteps steps = halvedBlock(p.k, worker.phase / 2);
    if (worker.phase % 2 == 0) {
      const auto [first, last] = worker.share(panelsOf(p.n / 2));
      packHalved(packed.get(), viewOf(p.b.get(), p.rowB, p.columnB), p.k, p.n, first, last, steps);
      return;
    }
    const GemmProblem problem = problemOf(p, target, packed.get(), worker);
    multiplyHalved(problem, halvedShare(worker, p.m / 2, p.n / 2), steps, scratch.of(worker.thread));
  });
  plan.phases(2 * blocks);
  plan.pieces(p.m / 2 / plan.threads(), kHalvedRows, multiplyAddsOf(p) / static_cast<double>(blocks));
}

void emitHalved(Plan& plan, const Product& p, const Plan::Target& target) {
  const bool isParameter = p.weight != kNoTensor && plan.tensor(p.weight).role == TensorRole::parameter;
  if (p.rowA == 1 && !isParameter) return emitHalvedInBlocks(plan, p, target);
  const auto packed = halvedB(plan, p.weight, p.b, p.rowB, p.columnB, p.m, p.k, p.n);
  const auto scratch = plan.scratchOfThreads(halvedScratch());
  plan.stage(p.name, kHalvedName, {}, [=](const Worker& worker) {
    const GemmProblem problem = problemOf(p, target, packed.get(), worker);
    multiplyHalved(problem, halvedShare(worker, p.m / 2, p.n / 2), allSteps(p.k), scratch.of(worker.thread));
  });
  plan.pieces(p.m / 2 / plan.threads(), kHalvedRows, multiplyAddsOf(p));
}

}  // namespace

void emitProduct(Plan& plan, const Product& p, const Plan::Target& target) {
  if (!target.half && isHalved(plan, p)) return emitHalved(plan, p, target);
  const std::int64_t tileRows = p.bf16 && multipliesInTiles() ? 32 : 6;
  // A gradient of weights by rows, as an optimizer's step shares it.
  const bool byRows = target.direct && p.m >= p.n;
  const auto shareOfPart = [=](const Worker& worker) { return shareOf(worker, p.m, p.n, tileRows, byRows); };
  const PackedParts packed = packedParts(plan, p, shareOfPart);
  const auto scratch = plan.scratchOfThreads(gemmScratch());
  plan.stage(p.name, productImplementation(p.bf16), {}, [=](const Worker& worker) {
    multiply(problemOf(p, target, packed.of(worker), worker), shareOfPart(worker), scratch.of(worker.thread), p.bf16);
  });
  plan.pieces(p.m / plan.threads(), kRowBlock, multiplyAddsOf(p));
}

}  // namespace loom::cpu
