#pragma once
// Ways to compute attention and its gradient: by products with the scores in memory between them, of heads of any
// width; by tiles, with the scores in registers alone, of heads of up to 128 channels, 64 in f32
// (kernels/attention_tiles.cuh); and forward by cuDNN, in bf16 and f16 without a mask.
#include "engine/cuda/lowerings/parts.h"

namespace loom::cuda {

struct Heads {
  std::int64_t batch, queries, keys, channels, heads;
  bool causal;
  std::int64_t width() const { return channels / heads; }
  float scale() const;
  // Of a query and a key that sees it, over all heads and samples.
  double pairs() const;
};

// What is wanted of them; else empty.
struct AttentionGradients {
  Operand dq, dk, dv;
};

void emitAttentionByProducts(Plan& plan, const Operation& operation, const Heads& heads, const Operand& y,
                             const Operand& statistics);
void emitAttentionGradientByProducts(Plan& plan, const Operation& operation, const Heads& heads,
                                     const AttentionGradients& gradients);

// Of the forward part, where no query is hidden from a key: as a graph of cuDNN, or where the device has no engine for
// it, null.
DnnGraph attentionGraph(const Heads& heads, DataType type);
std::shared_ptr<const DnnPlan> attentionPlan(Plan& plan, const Heads& heads);
void emitAttentionByCudnn(Plan& plan, const Operation& operation, const Heads& heads,
                          std::shared_ptr<const DnnPlan> dnnPlan, const Operand& y, const Operand& statistics);

// Results that kernels write in the type of factors: room for them, converted behind where another is wanted.
Operand inFactors(Plan& plan, const Operand& whole);
void deliverFactors(Plan& plan, const Operand& from, const Operand& to);

bool canComputeByTiles(const Plan& plan, const Heads& heads);
void emitAttentionByTiles(Plan& plan, const Operation& operation, const Heads& heads, const Operand& y,
                          const Operand& statistics);
void emitAttentionGradientByTiles(Plan& plan, const Operation& operation, const Heads& heads,
                                  const AttentionGradients& gradients);

}  // namespace loom::cuda
