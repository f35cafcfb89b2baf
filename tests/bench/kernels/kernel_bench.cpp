// Our kernels beside oneDNN's and beside what this processor can do: one thread, the least processor time of many
// calls, so that it holds on a machine that others use, too. `kernel_bench [WORD]` measures the rows whose name holds
// WORD.
//
// A row of products: m x n x k, where the workload's step has it, billions of floating-point operations a second (ours;
// of those without what B's packing costs, which a weight pays once a step; oneDNN's), and our share of the peak of
// multiply-adds; then the same product in halves (kernels/strassen.h). A row of what is bound by memory or by
// arithmetic: nanoseconds an element, and cycles a vector of 16 at the clock that the peak implies.
#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/philox.h"
#include "engine/cpu/dnnl_layer.h"
#include "engine/cpu/kernels/attention.h"
#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/elementwise.h"
#include "engine/cpu/kernels/gelu.h"
#include "engine/cpu/kernels/gemm_bf16.h"
#include "engine/cpu/kernels/layer_norm.h"
#include "engine/cpu/kernels/lstm_frames.h"
#include "engine/cpu/kernels/noise.h"
#include "engine/cpu/kernels/pooling.h"
#include "engine/cpu/kernels/recurrent.h"
#include "engine/cpu/kernels/softmax.h"
#include "engine/cpu/kernels/strassen.h"
#include "tests/bench/kernels/peak.h"

using namespace loom;
using namespace loom::cpu;

namespace {

// The least of as many calls as fit into a third of a second, but five at least.
double leastSeconds(const std::function<void()>& call) {
  call();
  double least = 1e30, total = 0;
  for (int calls = 0; calls < 5 || total < 0.33; ++calls) {
    const double before = threadSeconds();
    call();
    const double took = threadSeconds() - before;
    least = std::min(least, took);
    total += took;
  }
  return least;
}

std::vector<float> numbers(std::int64_t count, const char* name) {
  const Philox random(1, name);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(random.normal(i));
  return values;
}
std::vector<std::uint16_t> halvesOf(const std::vector<float>& numbers) {
  std::vector<std::uint16_t> halves(numbers.size());
  roundToBf16(numbers.data(), halves.data(), static_cast<std::int64_t>(numbers.size()));
  return halves;
}
Stored storedOf(std::vector<float>& wide, std::vector<std::uint16_t>& half, bool bf16) {
  return bf16 ? Stored{reinterpret_cast<std::byte*>(half.data()), true} : inF32(wide.data());
}

struct ProductRow {
  const char* where;
  std::int64_t m, n, k;
  bool transposedA, transposedB;  // how they stand in memory
  bool weight;                    // B is packed once a step
  bool halfC;                     // in bf16: the result, too (an activation)
};
const ProductRow kProducts[] = {
    {"mlp forward 1", 128, 512, 784, false, true, true, true},
    {"mlp forward 2", 128, 512, 512, false, true, true, true},
    {"mlp forward 3", 128, 10, 512, false, true, true, false},
    {"mlp weights 1", 512, 784, 128, true, false, false, false},
    {"mlp weights 2", 512, 512, 128, true, false, false, false},
    {"mlp inputs 2", 128, 512, 512, false, false, true, true},
    {"lstm input side 1", 3200, 2048, 80, false, true, true, true},
    {"lstm input side 2", 3200, 2048, 512, false, true, true, true},
    {"lstm frame", 32, 512, 512, false, true, true, false},
    {"lstm frame back", 32, 512, 2048, false, false, true, false},
    {"lstm weights", 2048, 512, 3200, true, false, false, false},
    {"lstm inputs", 3200, 512, 2048, false, false, true, true},
    {"gpt-mini 384 to 384", 2048, 384, 384, false, true, true, true},
    {"gpt-mini 384 to 1536", 2048, 1536, 384, false, true, true, true},
    {"gpt-mini 1536 to 384", 2048, 384, 1536, false, true, true, true},
    {"gpt-mini weights 384 384", 384, 384, 2048, true, false, false, false},
    {"gpt-mini weights 1536 384", 1536, 384, 2048, true, false, false, false},
    {"gpt-mini weights 384 1536", 384, 1536, 2048, true, false, false, false},
    {"resnet50 128 to 512", 25088, 512, 128, false, true, true, true},
    {"resnet50 512 to 128", 25088, 128, 512, false, true, true, true},
    {"resnet50 256 to 1024", 6272, 1024, 256, false, true, true, true},
    {"resnet50 1024 to 256", 6272, 256, 1024, false, true, true, true},
    {"resnet50 512 to 2048", 1568, 2048, 512, false, true, true, true},
    {"resnet50 2048 to 512", 1568, 512, 2048, false, true, true, true},
    {"resnet50 weights 512 128", 512, 128, 25088, true, false, false, false},
    {"resnet50 weights 128 512", 128, 512, 25088, true, false, false, false},
    {"resnet50 weights 1024 256", 1024, 256, 6272, true, false, false, false},
    {"resnet50 weights 256 1024", 256, 1024, 6272, true, false, false, false},
    {"resnet50 weights 2048 512", 2048, 512, 1568, true, false, false, false},
    {"resnet50 weights 512 2048", 512, 2048, 1568, true, false, false, false},
};

// oneDNN's time for the same product; A and B where they stand, a weight in the layout that it likes best.
double dnnlSeconds(const ProductRow& row, bool bf16, void* a, void* b, void* c) {
  using namespace dnnl;
  using Type = memory::data_type;
  const engine& cpu = dnnlEngine();
  static stream on(cpu);
  const Type type = bf16 ? Type::bf16 : Type::f32;
  const memory::desc left({row.m, row.k}, type, row.transposedA ? memory::dims{1, row.m} : memory::dims{row.k, 1}),
      right({row.k, row.n}, type, row.transposedB ? memory::dims{1, row.k} : memory::dims{row.n, 1}),
      liked({row.k, row.n}, type, memory::format_tag::any),
      result({row.m, row.n}, row.halfC ? type : Type::f32, memory::dims{row.n, 1});
  try {
#if DNNL_VERSION_MAJOR >= 3
    const matmul::primitive_desc made(cpu, left, row.weight ? liked : right, result);
#else
    const matmul::primitive_desc made(matmul::desc(left, row.weight ? liked : right, result), cpu);
#endif
    memory memoryA(left, cpu, a), memoryB(right, cpu, b), memoryC(result, cpu, c);
    memory weights = made.weights_desc() == right ? memoryB : memory(made.weights_desc(), cpu);
    if (made.weights_desc() != right) reorder(memoryB, weights).execute(on, memoryB, weights);
    const matmul product(made);
    return leastSeconds([&] {
      product.execute(on, {{DNNL_ARG_SRC, memoryA}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, memoryC}});
    });
  } catch (const dnnl::error&) {
    return 0;
  }
}

void printProduct(const ProductRow& row, const std::string& how, double took, double pack, double other, double best) {
  const double giga = 2e-9 * static_cast<double>(row.m * row.n * row.k);
  fmt::print("{:26} {:6} {:5}x{:4}x{:4} {:9.1f} {:9.1f} {:9.1f} {:7.0f} %\n", row.where, how, row.m, row.n, row.k,
             giga / (took + pack), giga / took, other > 0 ? giga / other : 0, 100 * giga / took / best);
  std::fflush(stdout);
}

// By kernels/strassen.h, counted as the plain product: it may pass the peak by a seventh.
void measureHalved(const ProductRow& row) {
  if (!canHalve(row.m, row.n, row.k)) return;
  const auto a = numbers(row.m * row.k, "a"), b = numbers(row.k * row.n, "b");
  std::vector<float> c(static_cast<std::size_t>(row.m * row.n)), scratch(static_cast<std::size_t>(halvedScratch())),
      packed(static_cast<std::size_t>(halvedFloats(allSteps(row.k), row.n)));
  const MatrixView viewB{b.data(), row.transposedB ? 1 : row.n, row.transposedB ? row.k : 1};
  const GemmProblem problem{.m = row.m,
                            .n = row.n,
                            .k = row.k,
                            .a = {a.data(), row.transposedA ? 1 : row.k, row.transposedA ? row.m : 1},
                            .packed = packed.data(),
                            .c = c.data(),
                            .ldc = row.n};
  const std::int64_t panels = panelsOf(row.n) / 2;
  const double pack = leastSeconds([&] { packHalved(packed.data(), viewB, row.k, row.n, 0, panels, allSteps(row.k)); });
  const double took = leastSeconds([&] {
    multiplyHalved(problem, {0, row.m / 2, 0, panels}, allSteps(row.k), scratch.data());
  });
  printProduct(row, "halves", took, pack, 0, peakGigaflops(false));
}

void measureProduct(const ProductRow& row, bool bf16) {
  auto a = numbers(row.m * row.k, "a"), b = numbers(row.k * row.n, "b");
  auto halfA = halvesOf(a), halfB = halvesOf(b);
  std::vector<float> c(static_cast<std::size_t>(row.m * row.n)), scratch(static_cast<std::size_t>(gemmScratch()));
  std::vector<float> packed(
      static_cast<std::size_t>(bf16 ? packedFloatsBf16(row.k, row.n) : packedFloats(row.k, row.n)));
  MatrixView viewA{a.data(), row.transposedA ? 1 : row.k, row.transposedA ? row.m : 1},
      viewB{b.data(), row.transposedB ? 1 : row.n, row.transposedB ? row.k : 1};
  if (bf16) viewA = {nullptr, viewA.rowStride, viewA.columnStride, halfA.data()};
  if (bf16 && !row.weight) viewB = {nullptr, viewB.rowStride, viewB.columnStride, halfB.data()};
  GemmProblem problem{
      .m = row.m, .n = row.n, .k = row.k, .a = viewA, .packed = packed.data(), .c = c.data(), .ldc = row.n};
  if (bf16 && row.halfC) problem.c = nullptr, problem.half = reinterpret_cast<std::uint16_t*>(c.data());
  const double pack = leastSeconds(
      [&] { (bf16 ? packPanelsBf16 : packPanels)(packed.data(), viewB, row.k, row.n, 0, panelsOf(row.n)); });
  const double took =
      leastSeconds([&] { (bf16 ? gemmBf16 : gemm)(problem, 0, row.m, 0, panelsOf(row.n), scratch.data()); });
  const double other = bf16 ? dnnlSeconds(row, true, halfA.data(), halfB.data(), c.data())
                            : dnnlSeconds(row, false, a.data(), b.data(), c.data());
  printProduct(row, bf16 ? "bf16" : "f32", took, pack, other, peakGigaflops(bf16));
  if (!bf16) measureHalved(row);
}

// What goes over elements: `bytes` read and written of each.
void measureElements(const std::string& name, bool bf16, std::int64_t count, double bytes,
                     const std::function<void()>& call) {
  const double took = leastSeconds(call), each = took / static_cast<double>(count);
  fmt::print("{:26} {:4} {:10} elements {:7.3f} ns each, {:6.2f} cycles a vector, {:6.1f} GB/s\n", name,
             bf16 ? "bf16" : "f32", count, each * 1e9, each * 16 * clockGigahertz() * 1e9, bytes / each * 1e-9);
  std::fflush(stdout);
}

void measureAttention(bool bf16, std::int64_t tokens) {
  const std::int64_t width = 64, heads = 6, stride = width * heads, count = tokens * stride;
  const AttentionHead head{tokens, tokens, width, stride, true, 0.125f, bf16};
  auto q = numbers(count, "q"), k = numbers(count, "k"), v = numbers(count, "v"), dy = numbers(count, "dy"), y = q;
  auto dq = q, dk = q, dv = q;
  auto q16 = halvesOf(q), k16 = halvesOf(k), v16 = halvesOf(v), dy16 = halvesOf(dy), y16 = q16, dq16 = q16, dk16 = q16,
       dv16 = q16;
  std::vector<float> statistics(static_cast<std::size_t>(tokens)),
      scratch(static_cast<std::size_t>(attentionScratch(head)));
  const auto at = [&](std::vector<float>& wide, std::vector<std::uint16_t>& half) {
    return storedOf(wide, half, bf16);
  };
  // Half of the scores are seen; 2 products forward, 5 backward.
  const double giga = 2e-9 * static_cast<double>(tokens * tokens * width) / 2, best = peakGigaflops(bf16);
  const double forward = leastSeconds([&] {
    attentionForward(head, at(q, q16), at(k, k16), at(v, v16), at(y, y16), statistics.data(), scratch.data());
  });
  const double backward = leastSeconds([&] {
    attentionBackward(head, at(q, q16), at(k, k16), at(v, v16), at(y, y16), statistics.data(), at(dy, dy16),
                      at(dq, dq16), at(dk, dk16), at(dv, dv16), scratch.data());
  });
  fmt::print("{:26} {:4} forward {:7.1f} us, {:3.0f} % of the peak; backward {:7.1f} us, {:3.0f} %\n",
             fmt::format("attention {} tokens", tokens), bf16 ? "bf16" : "f32", forward * 1e6,
             100 * 2 * giga / forward / best, backward * 1e6, 100 * 5 * giga / backward / best);
  std::fflush(stdout);
}

void measureLstmCell(bool bf16) {
  const std::int64_t hidden = 512, batch = 32;
  auto state = numbers(batch * 5 * hidden, "state"), y = numbers(batch * hidden, "y"), c = y, dh = y, dc = y;
  auto da = numbers(batch * 4 * hidden, "da"), products = da;
  auto state16 = halvesOf(state), y16 = halvesOf(y), da16 = halvesOf(da);
  const Stored s = storedOf(state, state16, bf16), out = storedOf(y, y16, bf16), slopes = storedOf(da, da16, bf16);
  measureElements("lstm cell", bf16, batch * hidden, 0, [&] {
    for (std::int64_t n = 0; n < batch; ++n)
      lstmCell(s.from(n * 5 * hidden), bf16 ? products.data() + n * 4 * hidden : nullptr, inF32(c.data() + n * hidden),
               bf16 ? c.data() + n * hidden : nullptr, out.from(n * hidden), hidden, 0, hidden);
  });
  measureElements("lstm cell gradient", bf16, batch * hidden, 0, [&] {
    for (std::int64_t n = 0; n < batch; ++n)
      lstmCellGradient(s.from(n * 5 * hidden), s.from(n * 5 * hidden + 4 * hidden), out.from(n * hidden),
                       dh.data() + n * hidden, dc.data() + n * hidden, slopes.from(n * 4 * hidden), hidden, 0, hidden);
  });
}

// The same of a whole frame whose products are columns, which is added here, too.
void measureLstmFrame() {
  const FramePart part{32, 512, 0, 512};
  const std::int64_t count = part.batch * part.hidden, floats = Sixteens{part.batch}.floats(part.hidden);
  const auto aligned = [](std::vector<float>& numbers) {
    return reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(numbers.data()) + 63) / 64 * 64);
  };
  auto states = numbers(5 * count + 16, "state"), ys = numbers(count + 16, "y"), das = numbers(4 * count + 16, "da");
  float *const state = aligned(states), *const y = aligned(ys), *const da = aligned(das);
  const auto columns = numbers(4 * count, "columns"), dh = numbers(floats, "dh");
  auto c = dh, h = dh, dc = dh, sixteens = numbers(4 * floats, "da");
  measureElements("lstm frame cells", false, count, 0,
                  [&] { lstmFrame(part, columns.data(), state, c.data(), h.data(), y); });
  measureElements("lstm frame cells gradient", false, count, 0, [&] {
    lstmFrameGradient(part, state, {state + 4 * part.hidden, 5 * part.hidden}, {y, part.hidden}, dh.data(), dc.data(),
                      da, sixteens.data());
  });
}

void measureRows() {
  const std::int64_t rows = 512, width = 1536, count = rows * width;
  auto x = numbers(count, "x"), dy = numbers(count, "dy"), y = x, gamma = numbers(width, "g"),
       sums = numbers(2 * width, "s");
  auto x16 = halvesOf(x), dy16 = halvesOf(dy), y16 = x16;
  for (const bool bf16 : {false, true}) {
    const Stored at = storedOf(x, x16, bf16), slope = storedOf(dy, dy16, bf16), to = storedOf(y, y16, bf16);
    const double each = bf16 ? 2 : 4;
    measureElements("gelu", bf16, count, 2 * each, [&] { gelu(at, to, count); });
    measureElements("gelu gradient", bf16, count, 3 * each, [&] { geluGradient(at, slope, to, count); });
    measureElements("sum", bf16, count, 3 * each, [&] { addStored(at, slope, {}, false, to, count); });
    measureElements("relu gradient", bf16, count, 3 * each, [&] { addStored(at, {}, slope, false, to, count); });
    measureElements("sum of rows", bf16, count, each, [&] { sumRows(at, rows, width, width, sums.data()); });
    measureElements("dropout", bf16, count, 2 * each,
                    [&] { dropoutSample(noiseKey(1, 2), 3, 1 << 22, 4.0f / 3, at, to, count); });
    // Elements of the image, 64 channels; the gradient with the ReLU's.
    PoolingGeometry g;
    g.batch = 12, g.channels = 64, g.input = {1, 32, 32}, g.output = {1, 16, 16}, g.kernel = g.strides = {1, 2, 2};
    measureElements("max pooling", bf16, count, 1.25 * each, [&] { maxPooling(g, at, to, 0, g.batch); });
    measureElements("max pooling gradient", bf16, count, 2.5 * each,
                    [&] { maxPoolingGradient(g, at, slope, slope, to, true, 0, g.batch); });
  }
  float mean = 0, inverse = 0;
  measureElements("layer norm", false, count, 8, [&] {
    for (std::int64_t r = 0; r < count / 384; ++r)
      layerNormRow(x.data() + r * 384, gamma.data(), gamma.data(), 1e-5f, 384, y.data() + r * 384, &mean, &inverse);
  });
  measureElements("layer norm gradient", false, count, 12, [&] {
    for (std::int64_t r = 0; r < count / 384; ++r)
      layerNormGradientRow(x.data() + r * 384, dy.data() + r * 384, gamma.data(), mean, inverse, 384,
                           y.data() + r * 384, sums.data(), sums.data() + width);
  });
  measureElements("log-sum-exp", false, count, 4, [&] {
    for (std::int64_t r = 0; r < count / 256; ++r) sums[0] = logSumExp(x.data() + r * 256, 256);
  });
}

}  // namespace

int main(int count, char** arguments) {
  omp_set_num_threads(1);  // oneDNN's
  const std::string_view only = count > 1 ? arguments[1] : "";
  const auto wanted = [&](std::string_view name) { return name.find(only) != std::string_view::npos; };
  fmt::print("peak of one thread: f32 {:.1f}, bf16 {:.1f} GF/s\n", peakGigaflops(false), peakGigaflops(true));
  fmt::print("{:26} {:6} {:>15} {:>9} {:>9} {:>9} {:>9}\n", "", "", "m x n x k", "and pack", "ours", "oneDNN",
             "of peak");
  for (const bool bf16 : {false, true})
    for (const ProductRow& row : kProducts)
      if (wanted(row.where)) measureProduct(row, bf16);
  for (const bool bf16 : {false, true}) {
    if (wanted("attention"))
      for (const std::int64_t tokens : {128, 512}) measureAttention(bf16, tokens);
    if (wanted("lstm cell")) measureLstmCell(bf16);
    if (wanted("lstm frame cells") && !bf16) measureLstmFrame();
  }
  if (wanted("rows")) measureRows();
}
