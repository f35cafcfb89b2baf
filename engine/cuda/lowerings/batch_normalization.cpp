// Batch normalisation at its least number of passes over x: moments; normalise (+ add) (+ ReLU). Backward: two sums;
// apply. Statistics of channels pass through memory in f32, from chunks of rows to all of them.
#include "engine/cuda/kernels/batch_normalization.h"

#include "engine/base/error.h"
#include "engine/cuda/lowerings/channels.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/ops/normalisation.h"
#include "engine/program/collectives.h"

namespace loom::cuda {
namespace {

// A step is enqueued as a whole, so ranks cannot meet in the middle of one.
void needOwnStatistics(const Plan& plan, const Operation& operation) {
  const Collectives* collectives = plan.collectives();
  if (collectives == nullptr || collectives->ranks() == 1 || !operation.attributes.boolean("synchronised", false))
    return;
  throwError(ErrorCode::badProject,
             "batch statistics cannot be synchronised over {} ranks on a GPU: take those of each shard "
             "(\"batch_statistics\": \"per_shard\"), or train on CPUs",
             collectives->ranks());
}

// Two numbers of each channel from each chunk of rows.
Operand pairsOfChunks(Plan& plan, const ChannelRows& rows) {
  return plan.scratch(static_cast<std::size_t>(2 * rows.chunks * rows.channels) * sizeof(float));
}

// Where nobody asked for the output, it is written to be read by this operation alone.
Operand writeOrScratch(Plan& plan, TensorId id, const ChannelRows& rows) {
  return id == kNoTensor ? plan.scratch(static_cast<std::size_t>(rows.channels) * sizeof(float)) : plan.write(id);
}

struct Normalised {
  ChannelView view;
  Operand x, addend, gamma, beta, y;
};

Normalised operandsOf(Plan& plan, const Operation& operation) {
  const FusedOutput& fused = plan.fused();
  const TensorId x = operation.inputs[0], y = fused.output;
  const DataType type = plan.tensor(y).type;
  Normalised all{.view = channelView(plan, x, operation.attributes.integer("axis", 1), type)};
  const Layout& layout = all.view.layout;
  all.x = plan.read(x, layout, type);
  all.addend = plan.read(fused.addend, layout, type);
  all.gamma = plan.read(operation.inputs[1]);
  all.beta = plan.read(operation.inputs[2]);
  all.y = plan.write(y, layout);
  if (fused.addend != kNoTensor) plan.mayOverwrite(y, fused.addend);
  plan.mayOverwrite(y, x);
  return all;
}

// `mean` and either `inverse` or `variance`.
void normalise(Plan& plan, const Normalised& all, const Operand& mean, const Operand& inverse, const Operand& variance,
               float epsilon) {
  const bool relu = plan.fused().relu;
  plan.kernel(named("normalise", all.y.type), overChannels(all.view.rows, all.y.type),
              {all.x, all.addend, all.gamma, all.beta, mean, inverse, variance}, {all.y}, [=] {
                return NormaliseArguments{.view = all.view.rows,
                                          .x = all.x.address(),
                                          .addend = all.addend.address(),
                                          .y = all.y.address(),
                                          .gamma = all.gamma.address<const float>(),
                                          .beta = all.beta.address<const float>(),
                                          .mean = mean.address<const float>(),
                                          .inverse = inverse.address<const float>(),
                                          .variance = variance.address<const float>(),
                                          .epsilon = epsilon,
                                          .relu = relu};
              });
}

void lowerBatchNormalization(Plan& plan, const Operation& operation) {
  needOwnStatistics(plan, operation);
  const Normalised all = operandsOf(plan, operation);
  const ChannelRows rows = all.view.rows;
  const DataType type = all.y.type;
  const Operand moments = pairsOfChunks(plan, rows);
  plan.kernel(named("batch_moments", type), overChannels(rows, type), {all.x}, {moments}, [=] {
    return BatchMomentsArguments{.view = rows, .x = all.x.address(), .moments = moments.address<float>()};
  });
  const Operand runningMean = plan.read(operation.inputs[3]), runningVariance = plan.read(operation.inputs[4]),
                mean = writeOrScratch(plan, operation.outputs[1], rows),
                inverse = writeOrScratch(plan, operation.outputs[2], rows);
  const double epsilon = operation.attributes.real("epsilon", ops::kNormalisationEpsilon),
               momentum = operation.attributes.real("momentum", ops::kStatisticsMomentum);
  plan.kernel("batch_statistics", overPairs(rows), {moments, runningMean, runningVariance},
              {mean, inverse, runningMean, runningVariance}, [=] {
                return BatchStatisticsArguments{.view = rows,
                                                .moments = moments.address<const float>(),
                                                .mean = mean.address<float>(),
                                                .inverse = inverse.address<float>(),
                                                .runningMean = runningMean.address<float>(),
                                                .runningVariance = runningVariance.address<float>(),
                                                .epsilon = epsilon,
                                                .momentum = momentum};
              });
  normalise(plan, all, mean, inverse, {}, 0);
}

void lowerBatchNormalizationInference(Plan& plan, const Operation& operation) {
  const Normalised all = operandsOf(plan, operation);
  const Operand mean = plan.read(operation.inputs[3]), variance = plan.read(operation.inputs[4]);
  normalise(plan, all, mean, {}, variance,
            static_cast<float>(operation.attributes.real("epsilon", ops::kNormalisationEpsilon)));
}

void lowerBatchNormalizationAgain(Plan& plan, const Operation& operation) {
  const Normalised all = operandsOf(plan, operation);
  const Operand mean = plan.read(operation.inputs[3]), inverse = plan.read(operation.inputs[4]);
  normalise(plan, all, mean, inverse, {}, 0);
}

void lowerBatchNormalizationGradient(Plan& plan, const Operation& operation) {
  needOwnStatistics(plan, operation);
  const FusedOutput& fused = plan.fused();
  const TensorId x = operation.inputs[0], dx = operation.outputs[0],
                 dy = fused.mask == kNoTensor ? operation.inputs[1] : fused.maskedFrom;
  const DataType type = plan.tensor(plan.wanted(dx) ? dx : x).type;
  const ChannelView view = channelView(plan, x, operation.attributes.integer("axis", 1), type);
  const ChannelRows rows = view.rows;
  const Operand from = plan.read(x, view.layout, type), gradient = plan.read(dy, view.layout, type),
                mask = plan.read(fused.mask, view.layout, type), gamma = plan.read(operation.inputs[2]),
                mean = plan.read(operation.inputs[3]), inverse = plan.read(operation.inputs[4]);
  const Operand sums = pairsOfChunks(plan, rows);
  plan.kernel(named("batch_gradient_sums", type), overChannels(rows, type), {from, gradient, mask, mean}, {sums}, [=] {
    return BatchGradientSumsArguments{.view = rows,
                                      .x = from.address(),
                                      .dy = gradient.address(),
                                      .mask = mask.address(),
                                      .mean = mean.address<const float>(),
                                      .sums = sums.address<float>()};
  });
  const auto optional = [&](TensorId id) { return plan.wanted(id) ? plan.write(id) : Operand{}; };
  const Operand dgamma = optional(operation.outputs[1]), dbeta = optional(operation.outputs[2]),
                factors = plan.scratch(static_cast<std::size_t>(3 * rows.channels) * sizeof(float));
  plan.kernel("batch_gradient_factors", overPairs(rows), {sums, gamma, inverse}, {dgamma, dbeta, factors}, [=] {
    return BatchGradientFactorsArguments{.view = rows,
                                         .sums = sums.address<const float>(),
                                         .gamma = gamma.address<const float>(),
                                         .inverse = inverse.address<const float>(),
                                         .dgamma = dgamma.address<float>(),
                                         .dbeta = dbeta.address<float>(),
                                         .factors = factors.address<float>()};
  });
  if (!plan.wanted(dx)) return;
  const Operand to = plan.write(dx, view.layout);
  plan.mayOverwrite(dx, dy);
  plan.mayOverwrite(dx, x);
  plan.kernel(named("batch_gradient", type), overChannels(rows, type), {from, gradient, mask, mean, factors}, {to},
              [=] {
                return BatchGradientArguments{.view = rows,
                                              .x = from.address(),
                                              .dy = gradient.address(),
                                              .mask = mask.address(),
                                              .dx = to.address(),
                                              .mean = mean.address<const float>(),
                                              .factors = factors.address<const float>()};
              });
}

}  // namespace

LoweringRows batchNormalizationRows() {
  static const LoweringRow rows[] = {
      {"batch_normalization", lowerBatchNormalization, {.addend = true, .relu = true}, {{0}, true}},
      {"batch_normalization_again", lowerBatchNormalizationAgain, {.addend = true, .relu = true}, {{0}, true}},
      {"batch_normalization_gradient", lowerBatchNormalizationGradient, {.masked = 1}, {{0, 1}, true}},
      {"batch_normalization_inference", lowerBatchNormalizationInference, {.addend = true, .relu = true}, {{0}, true}},
  };
  return rows;
}

}  // namespace loom::cuda
