// layer_normalization with its gradient. Rows that fit into the registers of a warp have one each, longer
// ones a block; gradients of gamma and beta are sums down the columns, over chunks of rows first.
#include "engine/cuda/kernels/layer_normalization.h"

#include <algorithm>

#include "engine/cuda/lowerings/channels.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/ops/normalisation.h"

namespace loom::cuda {
namespace {

struct NormalizedRows {
  std::int64_t rows = 0, length = 0;

  bool byWarp() const { return length <= 32 * kHeldByWarp; }
  std::string kernel(const char* name, DataType type) const {
    return named(std::string(name) + (byWarp() ? "_warps" : "_blocks"), type);
  }
  Launch launch() const {
    constexpr std::int64_t kMostBlocks = 1 << 20;  // each strides over the rest
    if (byWarp())
      return {.grid = {static_cast<unsigned>(std::clamp<std::int64_t>((rows + 7) / 8, 1, kMostBlocks))},
              .block = {256}};
    unsigned threads = 64;
    while (threads < kMostRowThreads && threads * kHeldByBlock < length) threads *= 2;
    return {.grid = {static_cast<unsigned>(std::clamp<std::int64_t>(rows, 1, kMostBlocks))}, .block = {threads}};
  }
};

NormalizedRows rowsOf(const Plan& plan, const Operation& operation) {
  const Shape& x = plan.shape(operation.inputs[0]);
  std::int64_t length = 1;
  for (std::int64_t i = 1; i <= operation.attributes.integer("axes", 1); ++i) length *= x[-i];
  return {x.elements() / length, length};
}

Operand vectorOf(Plan& plan, TensorId id, std::int64_t count) {
  return id == kNoTensor ? plan.scratch(static_cast<std::size_t>(count) * sizeof(float)) : plan.write(id);
}

void lowerLayerNormalization(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  const NormalizedRows rows = rowsOf(plan, operation);
  const Operand from = plan.read(x, plainLayout(plan.shape(x).rank()), type), gamma = plan.read(operation.inputs[1]),
                beta = plan.read(operation.inputs[2]), to = plan.write(y),
                mean = vectorOf(plan, operation.outputs[1], rows.rows),
                inverse = vectorOf(plan, operation.outputs[2], rows.rows);
  plan.mayOverwrite(y, x);
  const auto epsilon = static_cast<float>(operation.attributes.real("epsilon", ops::kNormalisationEpsilon));
  plan.kernel(rows.kernel("layer_normalization", type), rows.launch(), {from, gamma, beta}, {to, mean, inverse}, [=] {
    return LayerNormalizationArguments{.x = from.address(),
                                       .y = to.address(),
                                       .gamma = gamma.address<const float>(),
                                       .beta = beta.address<const float>(),
                                       .mean = mean.address<float>(),
                                       .inverse = inverse.address<float>(),
                                       .rows = rows.rows,
                                       .length = rows.length,
                                       .epsilon = epsilon};
  });
}

void lowerParameterGradients(Plan& plan, const Operation& operation, const NormalizedRows& rows, DataType type,
                             const Operand& from, const Operand& gradient, const Operand& mean,
                             const Operand& inverse) {
  const auto optional = [&](TensorId id) { return plan.wanted(id) ? plan.write(id) : Operand{}; };
  const Operand dgamma = optional(operation.outputs[1]), dbeta = optional(operation.outputs[2]);
  if (!dgamma && !dbeta) return;
  const ChannelRows view = channelRows(rows.rows, rows.length, type);
  const Operand sums = plan.scratch(static_cast<std::size_t>(2 * view.chunks * view.channels) * sizeof(float));
  plan.kernel(named("layer_gradient_sums", type), overChannels(view, type), {from, gradient, mean, inverse}, {sums},
              [=] {
                return LayerGradientSumsArguments{.view = view,
                                                  .x = from.address(),
                                                  .dy = gradient.address(),
                                                  .mean = mean.address<const float>(),
                                                  .inverse = inverse.address<const float>(),
                                                  .sums = sums.address<float>()};
              });
  plan.kernel("layer_parameter_gradients", overPairs(view), {sums}, {dgamma, dbeta}, [=] {
    return LayerParameterGradientsArguments{.view = view,
                                            .sums = sums.address<const float>(),
                                            .dgamma = dgamma.address<float>(),
                                            .dbeta = dbeta.address<float>()};
  });
}

void lowerLayerNormalizationGradient(Plan& plan, const Operation& operation) {
  const FusedOutput& fused = plan.fused();
  const bool wanted = plan.wanted(operation.outputs[0]);
  const TensorId x = operation.inputs[0], dy = operation.inputs[1], dx = fused.output;
  const DataType type = plan.tensor(wanted ? dx : x).type;
  const NormalizedRows rows = rowsOf(plan, operation);
  const Layout layout = plainLayout(plan.shape(x).rank());
  const Operand from = plan.read(x, layout, type), gradient = plan.read(dy, layout, type),
                gamma = plan.read(operation.inputs[2]), mean = plan.read(operation.inputs[3]),
                inverse = plan.read(operation.inputs[4]);
  lowerParameterGradients(plan, operation, rows, type, from, gradient, mean, inverse);  // before dx takes dy's place
  if (!wanted) return;
  const Operand addend = plan.read(fused.addend, layout, type), to = plan.write(dx);
  plan.mayOverwrite(dx, dy);
  if (fused.addend != kNoTensor) plan.mayOverwrite(dx, fused.addend);
  plan.kernel(rows.kernel("layer_gradient", type), rows.launch(), {from, gradient, addend, gamma, mean, inverse}, {to},
              [=] {
                return LayerGradientArguments{.x = from.address(),
                                              .dy = gradient.address(),
                                              .addend = addend.address(),
                                              .dx = to.address(),
                                              .gamma = gamma.address<const float>(),
                                              .mean = mean.address<const float>(),
                                              .inverse = inverse.address<const float>(),
                                              .rows = rows.rows,
                                              .length = rows.length};
              });
}

}  // namespace

LoweringRows layerNormalizationRows() {
  static const LoweringRow rows[] = {
      {"layer_normalization", lowerLayerNormalization, {}, {{0}, true}},
      {"layer_normalization_gradient", lowerLayerNormalizationGradient, {.addend = true}, {{0, 1}, true}},
  };
  return rows;
}

}  // namespace loom::cuda
