// attention and attention_gradient.
#include "engine/cuda/lowerings/attention.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/ways.h"

namespace loom::cuda {

float Heads::scale() const {
  return 1 / std::sqrt(static_cast<float>(width()));
}

double Heads::pairs() const {
  const auto all = static_cast<double>(queries) * static_cast<double>(causal ? queries + 1 : 2 * keys) / 2;
  return static_cast<double>(batch * heads) * all;
}

namespace {

Heads headsOf(const Plan& plan, const Operation& operation) {
  const Shape &q = plan.shape(operation.inputs[0]), &k = plan.shape(operation.inputs[1]);
  return {
      q[0], q[1], k[1], q[2], operation.attributes.integer("heads", 1), operation.attributes.boolean("causal", false)};
}

void take(Plan& plan, const Operation& operation, const Heads& h, const std::vector<Way>& ways) {
  emitFastest(plan,
              fmt::format("{} {} {},{},{},{} in {} heads{}", operation.op->name,
                          plan.roundsToTf32(plan.factors()) ? "tf32" : toString(plan.factors()), h.batch, h.queries,
                          h.keys, h.channels, h.heads, h.causal ? ", causal" : ""),
              ways);
}

// The first is taken where the device does not time them: tiles, which need no room for scores; but products where
// tensor cores may round f32, for tiles of f32 never do.
void addProducts(const Plan& plan, std::vector<Way>& ways, std::function<void(Plan&)> emit) {
  ways.insert(plan.roundsToTf32(plan.factors()) ? ways.begin() : ways.end(), {"products", std::move(emit)});
}

void lowerAttention(Plan& plan, const Operation& operation) {
  const Heads h = headsOf(plan, operation);
  const Operand y = plan.write(operation.outputs[0]), statistics = plan.write(operation.outputs[1]);
  std::vector<Way> ways;
  if (canComputeByTiles(plan, h))
    ways.push_back({"tiles", [&](Plan& to) { emitAttentionByTiles(to, operation, h, y, statistics); }});
  if (const auto graph = plan.device().timing() != nullptr ? attentionPlan(plan, h) : nullptr)
    ways.push_back({"cudnn " + graph->name,
                    [&, graph](Plan& to) { emitAttentionByCudnn(to, operation, h, graph, y, statistics); }});
  addProducts(plan, ways, [&](Plan& to) { emitAttentionByProducts(to, operation, h, y, statistics); });
  take(plan, operation, h, ways);
}

void lowerAttentionGradient(Plan& plan, const Operation& operation) {
  const Heads h = headsOf(plan, operation);
  const auto wanted = [&](std::size_t output) {
    const TensorId id = operation.outputs[output];
    return plan.wanted(id) ? plan.write(id) : Operand{};
  };
  const AttentionGradients gradients{wanted(0), wanted(1), wanted(2)};
  std::vector<Way> ways;
  if (canComputeByTiles(plan, h))
    ways.push_back({"tiles", [&](Plan& to) { emitAttentionGradientByTiles(to, operation, h, gradients); }});
  addProducts(plan, ways, [&](Plan& to) { emitAttentionGradientByProducts(to, operation, h, gradients); });
  take(plan, operation, h, ways);
}

}  // namespace

LoweringRows attentionRows() {
  static const LoweringRow rows[] = {
      {"attention", lowerAttention, {}, {{0, 1, 2}, true}, nullptr, StageKind::attention},
      {"attention_gradient", lowerAttentionGradient, {}, {{0, 1, 2, 3, 5}, 3}, nullptr, StageKind::attention},
  };
  return rows;
}

}  // namespace loom::cuda
