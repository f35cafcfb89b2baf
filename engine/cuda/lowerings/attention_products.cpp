// Products over all heads of as many samples as fit a bounded room for their scores, with a kernel for the softmax
// between them. Heads are brought together before and taken apart behind, where there are several.
#include <algorithm>

#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/lowerings/attention.h"
#include "engine/cuda/lowerings/product.h"

namespace loom::cuda {
namespace {

constexpr std::size_t kScoresShare = 64;  // of the device's memory, one part may hold scores

// Samples whose scores stand at once.
std::int64_t atOnceOf(const Plan& plan, const Heads& h) {
  const auto most = static_cast<std::int64_t>(plan.device().facts().memoryBytes / kScoresShare / sizeof(float));
  return std::clamp<std::int64_t>(most / (h.heads * h.queries * h.keys), 1, h.batch);
}

// N x T x C as N x heads x T x C/heads, in the type of factors; and back.
Operand splitHeads(Plan& plan, const Heads& h, TensorId id) {
  if (h.heads == 1) return plan.read(id, plainLayout(3), plan.factors());
  const Operand from = plan.read(id, plainLayout(3));
  const Operand to = scratchOf(plan, plan.shape(id).elements(), plan.factors());
  const std::int64_t time = plan.shape(id)[1];
  emitConversion(plan, from, to,
                 {.axes = 4,
                  .extents = {h.batch, h.heads, time, h.width()},
                  .strides = {time * h.channels, h.width(), h.channels, 1}});
  return to;
}
// Where a result is written head by head.
Operand resultByHead(Plan& plan, const Heads& h, const Operand& result) {
  return h.heads == 1 ? result
                      : scratchOf(plan, static_cast<std::int64_t>(result.bytes / bytesOf(result.type)), result.type);
}
void joinHeads(Plan& plan, const Heads& h, const Operand& from, std::int64_t time, const Operand& to) {
  if (h.heads == 1) return;
  emitConversion(plan, from, to,
                 {.axes = 4,
                  .extents = {h.batch, time, h.heads, h.width()},
                  .strides = {time * h.channels, h.width(), time * h.width(), 1}});
}

// Of the samples that are computed at once: the heads of all of them are a batch of matrices.
struct Chunk {
  std::int64_t first, samples;
  Operand of(const Operand& whole, std::int64_t perSample) const {
    return part(whole, first * perSample, samples * perSample);
  }
};
template <class Work>
void forEachChunk(const Heads& h, std::int64_t atOnce, const Work& work) {
  for (std::int64_t first = 0; first < h.batch; first += atOnce) work(Chunk{first, std::min(atOnce, h.batch - first)});
}

// The product of `a` (rows x inner, or its transpose) and `b` of each head.
void multiplyHeads(Plan& plan, const char* name, std::int64_t matrices, std::int64_t m, std::int64_t n, std::int64_t k,
                   const Operand& a, bool transposeA, const Operand& b, bool transposeB, const Operand& c) {
  emitProduct(plan, {.name = name,
                     .m = m,
                     .n = n,
                     .k = k,
                     .a = a,
                     .b = b,
                     .c = c,
                     .transposeA = transposeA,
                     .transposeB = transposeB,
                     .batch = matrices,
                     .strideA = m * k,
                     .strideB = k * n,
                     .strideC = m * n,
                     .kind = StageKind::attention});
}

// A warp a row.
Launch overScores(std::int64_t rows) {
  return overElements(rows * 32);
}

// Probabilities take the scores' place where they are of their type.
Operand roomBeside(Plan& plan, const Operand& scores, DataType type) {
  return type == DataType::f32 ? scores
                               : scratchOf(plan, static_cast<std::int64_t>(scores.bytes / sizeof(float)), type);
}

}  // namespace

void emitAttentionByProducts(Plan& plan, const Operation& operation, const Heads& h, const Operand& y,
                             const Operand& statistics) {
  const std::int64_t atOnce = atOnceOf(plan, h);
  const Operand q = splitHeads(plan, h, operation.inputs[0]), k = splitHeads(plan, h, operation.inputs[1]),
                v = splitHeads(plan, h, operation.inputs[2]);
  const Operand byHead = resultByHead(plan, h, y);
  const std::int64_t perSample = h.heads * h.queries * h.keys;
  const Operand allScores = scratchOf(plan, atOnce * perSample, DataType::f32);
  const Operand allProbabilities = roomBeside(plan, allScores, plan.factors());
  forEachChunk(h, atOnce, [&](const Chunk& chunk) {
    const std::int64_t matrices = chunk.samples * h.heads;
    const Operand scores = part(allScores, 0, chunk.samples * perSample),
                  probabilities = part(allProbabilities, 0, chunk.samples * perSample);
    const Operand rows = chunk.of(statistics, h.heads * h.queries);
    multiplyHeads(plan, "attention scores", matrices, h.queries, h.keys, h.width(), chunk.of(q, h.queries * h.channels),
                  false, chunk.of(k, h.keys * h.channels), true, scores);
    AttentionSoftmaxArguments arguments{
        .rows = matrices * h.queries, .queries = h.queries, .keys = h.keys, .scale = h.scale(), .causal = h.causal};
    plan.kernel(named("attention_softmax", plan.factors()), overScores(arguments.rows), {scores}, {probabilities, rows},
                [=]() mutable {
                  arguments.scores = scores.address<const float>();
                  arguments.probabilities = probabilities.address();
                  arguments.statistics = rows.address<float>();
                  return arguments;
                });
    multiplyHeads(plan, "attention", matrices, h.queries, h.width(), h.keys, probabilities, false,
                  chunk.of(v, h.keys * h.channels), false, chunk.of(byHead, h.queries * h.channels));
  });
  joinHeads(plan, h, byHead, h.queries, y);
}

void emitAttentionGradientByProducts(Plan& plan, const Operation& operation, const Heads& h,
                                     const AttentionGradients& gradients) {
  const std::int64_t atOnce = atOnceOf(plan, h);
  const auto split = [&](std::size_t input) { return splitHeads(plan, h, operation.inputs[input]); };
  const Operand q = split(0), k = split(1), v = split(2), y = split(3), dy = split(5);
  const Operand statistics = plan.read(operation.inputs[4]);
  struct Result {
    Operand whole, byHead;
  };
  const auto result = [&](const Operand& whole) {
    return whole ? Result{whole, resultByHead(plan, h, whole)} : Result{};
  };
  const Result dq = result(gradients.dq), dk = result(gradients.dk), dv = result(gradients.dv);
  const std::int64_t perSample = h.heads * h.queries * h.keys, numbers = atOnce * perSample;
  const Operand allScores = scratchOf(plan, numbers, DataType::f32), allDp = scratchOf(plan, numbers, DataType::f32);
  const Operand allP = roomBeside(plan, allScores, plan.factors()), allDs = roomBeside(plan, allDp, plan.factors());
  forEachChunk(h, atOnce, [&](const Chunk& chunk) {
    const std::int64_t matrices = chunk.samples * h.heads;
    const auto room = [&](const Operand& all) { return part(all, 0, chunk.samples * perSample); };
    const Operand scores = room(allScores), dp = room(allDp), p = room(allP), ds = room(allDs);
    const auto byQuery = [&](const Operand& whole) { return chunk.of(whole, h.queries * h.channels); };
    const auto byKey = [&](const Operand& whole) { return chunk.of(whole, h.keys * h.channels); };
    const Operand rows = chunk.of(statistics, h.heads * h.queries), yHere = byQuery(y), dyHere = byQuery(dy);
    multiplyHeads(plan, "attention scores", matrices, h.queries, h.keys, h.width(), byQuery(q), false, byKey(k), true,
                  scores);
    multiplyHeads(plan, "attention_gradient to probabilities", matrices, h.queries, h.keys, h.width(), dyHere, false,
                  byKey(v), true, dp);
    AttentionSlopeArguments arguments{.rows = matrices * h.queries,
                                      .queries = h.queries,
                                      .keys = h.keys,
                                      .width = h.width(),
                                      .scale = h.scale(),
                                      .causal = h.causal};
    plan.kernel(named("attention_slopes", plan.factors()), overScores(arguments.rows),
                {scores, dp, rows, yHere, dyHere}, {p, ds}, [=]() mutable {
                  arguments.scores = scores.address<const float>();
                  arguments.dp = dp.address<const float>();
                  arguments.statistics = rows.address<const float>();
                  arguments.y = yHere.address();
                  arguments.dy = dyHere.address();
                  arguments.probabilities = p.address();
                  arguments.slopes = ds.address();
                  return arguments;
                });
    if (dv.whole)
      multiplyHeads(plan, "attention_gradient to values", matrices, h.keys, h.width(), h.queries, p, true, dyHere,
                    false, byKey(dv.byHead));
    if (dq.whole)
      multiplyHeads(plan, "attention_gradient to queries", matrices, h.queries, h.width(), h.keys, ds, false, byKey(k),
                    false, byQuery(dq.byHead));
    if (dk.whole)
      multiplyHeads(plan, "attention_gradient to keys", matrices, h.keys, h.width(), h.queries, ds, true, byQuery(q),
                    false, byKey(dk.byHead));
  });
  if (dq.whole) joinHeads(plan, h, dq.byHead, h.queries, dq.whole);
  if (dk.whole) joinHeads(plan, h, dk.byHead, h.keys, dk.whole);
  if (dv.whole) joinHeads(plan, h, dv.byHead, h.keys, dv.whole);
}

}  // namespace loom::cuda
