#include <fmt/format.h>

#include <algorithm>

#include "engine/cuda/kernels/attention_tiles.h"
#include "engine/cuda/lowerings/attention.h"

namespace loom::cuda {
namespace {

constexpr std::int64_t kPackBytes = 16;

int tileWidth(const Heads& h) {
  return h.width() <= 32 ? 32 : h.width() <= 64 ? 64 : kWidestHead;
}

AttentionExtents extentsOf(const Heads& h, DataType type) {
  return {.batch = h.batch,
          .queries = h.queries,
          .keys = h.keys,
          .heads = h.heads,
          .width = h.width(),
          .scale = h.scale(),
          .causal = h.causal,
          .packed = h.width() * static_cast<std::int64_t>(bytesOf(type)) % kPackBytes == 0};
}

Launch overTiles(const Heads& h, std::int64_t rows, int parts = 1) {
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  return {.grid = {static_cast<unsigned>(h.batch * h.heads * tiles * parts)}, .block = {kTileThreads}};
}

// One of the kernels that multiply, so many products of queries x keys x width.
template <class MakeArguments>
void emitTiles(Plan& plan, const Heads& h, const char* kernel, const Launch& launch, double products,
               std::vector<Operand> reads, std::vector<Operand> writes, MakeArguments arguments) {
  plan.kernel(named(fmt::format("{}_{}", kernel, tileWidth(h)), plan.factors()), launch, std::move(reads),
              std::move(writes), arguments);
  Stage& made = plan.lastStage();
  made.multiplyAdds = products * h.pairs() * static_cast<double>(h.width());
  made.factors = plan.factors();
}

}  // namespace

Operand inFactors(Plan& plan, const Operand& whole) {
  if (!whole || whole.type == plan.factors()) return whole;
  return scratchOf(plan, static_cast<std::int64_t>(whole.bytes / bytesOf(whole.type)), plan.factors());
}
void deliverFactors(Plan& plan, const Operand& from, const Operand& to) {
  if (to && from.type != to.type) emitConversion(plan, from, to);
}

bool canComputeByTiles(const Plan& plan, const Heads& heads) {
  return heads.width() <= (plan.factors() == DataType::f32 ? kWidestHeadInF32 : kWidestHead);
}

void emitAttentionByTiles(Plan& plan, const Operation& operation, const Heads& h, const Operand& y,
                          const Operand& statistics) {
  const auto read = [&](std::size_t input) {
    return plan.read(operation.inputs[input], plainLayout(3), plan.factors());
  };
  const Operand q = read(0), k = read(1), v = read(2), result = inFactors(plan, y);
  const AttentionExtents of = extentsOf(h, plan.factors());
  emitTiles(plan, h, "attention_forward", overTiles(h, h.queries), 2, {q, k, v}, {result, statistics}, [=] {
    return AttentionForwardArguments{.q = q.address(),
                                     .k = k.address(),
                                     .v = v.address(),
                                     .y = result.address(),
                                     .statistics = statistics.address<float>(),
                                     .of = of};
  });
  deliverFactors(plan, result, y);
}

void emitAttentionGradientByTiles(Plan& plan, const Operation& operation, const Heads& h,
                                  const AttentionGradients& gradients) {
  const auto read = [&](std::size_t input) {
    return plan.read(operation.inputs[input], plainLayout(3), plan.factors());
  };
  const Operand q = read(0), k = read(1), v = read(2), y = read(3), dy = read(5);
  const AttentionExtents of = extentsOf(h, plan.factors());
  const Operand statistics = plan.read(operation.inputs[4]);
  const std::int64_t rows = h.batch * h.heads * h.queries;
  const Operand dots = scratchOf(plan, rows, DataType::f32);
  plan.kernel(named("attention_dots", plan.factors()), overElements(rows * 32), {y, dy}, {dots}, [=] {
    return AttentionDotsArguments{.y = y.address(), .dy = dy.address(), .dots = dots.address<float>(), .of = of};
  });
  const Operand dq = inFactors(plan, gradients.dq), dk = inFactors(plan, gradients.dk),
                dv = inFactors(plan, gradients.dv);
  const auto arguments = [=] {
    return AttentionBackwardArguments{.q = q.address(),
                                      .k = k.address(),
                                      .v = v.address(),
                                      .dy = dy.address(),
                                      .statistics = statistics.address<const float>(),
                                      .dots = dots.address<const float>(),
                                      .dq = dq.address(),
                                      .dk = dk.address(),
                                      .dv = dv.address(),
                                      .of = of};
  };
  const std::vector<Operand> reads{q, k, v, dy, statistics, dots};
  if (dq) emitTiles(plan, h, "attention_to_queries", overTiles(h, h.queries), 3, reads, {dq}, arguments);
  if (dk || dv) {
    const int parts = std::max(tileWidth(h) / kTileColumns, 1);
    emitTiles(plan, h, "attention_to_keys", overTiles(h, h.keys, parts), 2 + 2 * parts, reads, {dk, dv}, arguments);
  }
  deliverFactors(plan, dq, gradients.dq);
  deliverFactors(plan, dk, gradients.dk);
  deliverFactors(plan, dv, gradients.dv);
}

}  // namespace loom::cuda
