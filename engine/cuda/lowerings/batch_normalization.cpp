// Batch normalisation at its least number of passes over x: moments; normalise (+ add) (+ ReLU). Backward: two sums;
// apply. Statistics of channels pass through memory in f32, from chunks of rows to all of them.
#include "engine/cuda/kernels/batch_normalization.h"

#include "engine/cuda/lowerings/channels.h"
#include "engine/cuda/lowerings/exchange.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/ops/normalisation.h"
#include "engine/program/collectives.h"

namespace loom::cuda {
namespace {

// The ranks over whose samples statistics are taken; null: this one's alone.
RankGroup* synchronised(const Plan& plan, const Operation& operation) {
  Collectives* collectives = plan.collectives();
  if (collectives == nullptr || collectives->ranks() == 1 || !operation.attributes.boolean("synchronised", false))
    return nullptr;
  return collectives->group("data");
}

// What each rank tells of its rows, and what all of them told.
struct Told {
  Operand mine, all;
};
Told roomToTell(Plan& plan, const ChannelRows& rows, const RankGroup& ranks) {
  const std::size_t bytes = static_cast<std::size_t>(1 + 2 * rows.channels) * sizeof(double);
  return {plan.scratch(bytes), plan.scratch(bytes * static_cast<std::size_t>(ranks.ranks()))};
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

struct Statistics {
  Operand mean, inverse, runningMean, runningVariance;
  double epsilon, momentum;
};

void takeStatistics(Plan& plan, const ChannelRows& rows, const Operand& moments, const Statistics& to) {
  plan.kernel("batch_statistics", overPairs(rows), {moments, to.runningMean, to.runningVariance},
              {to.mean, to.inverse, to.runningMean, to.runningVariance}, [=] {
                return BatchStatisticsArguments{.view = rows,
                                                .moments = moments.address<const float>(),
                                                .mean = to.mean.address<float>(),
                                                .inverse = to.inverse.address<float>(),
                                                .runningMean = to.runningMean.address<float>(),
                                                .runningVariance = to.runningVariance.address<float>(),
                                                .epsilon = to.epsilon,
                                                .momentum = to.momentum};
              });
}

void takeStatisticsOfRanks(Plan& plan, RankGroup& ranks, const ChannelRows& rows, const Operand& moments,
                           const Statistics& to) {
  const Told told = roomToTell(plan, rows, ranks);
  plan.kernel("rank_moments", overPairs(rows), {moments}, {told.mine}, [=] {
    return RankMomentsArguments{rows, moments.address<const float>(), told.mine.address<double>()};
  });
  exchange(plan, ranks, RankExchange::Kind::allGather, 0, told.mine, told.all);
  plan.kernel("rank_statistics", overElements(rows.channels), {told.all, to.runningMean, to.runningVariance},
              {to.mean, to.inverse, to.runningMean, to.runningVariance}, [=, count = ranks.ranks()] {
                return RankStatisticsArguments{.channels = rows.channels,
                                               .ranks = count,
                                               .all = told.all.address<const double>(),
                                               .mean = to.mean.address<float>(),
                                               .inverse = to.inverse.address<float>(),
                                               .runningMean = to.runningMean.address<float>(),
                                               .runningVariance = to.runningVariance.address<float>(),
                                               .epsilon = to.epsilon,
                                               .momentum = to.momentum};
              });
}

void lowerBatchNormalization(Plan& plan, const Operation& operation) {
  const Normalised all = operandsOf(plan, operation);
  const ChannelRows rows = all.view.rows;
  const DataType type = all.y.type;
  const Operand moments = pairsOfChunks(plan, rows);
  plan.kernel(named("batch_moments", type), overChannels(rows, type), {all.x}, {moments}, [=] {
    return BatchMomentsArguments{.view = rows, .x = all.x.address(), .moments = moments.address<float>()};
  });
  const Statistics to{.mean = writeOrScratch(plan, operation.outputs[1], rows),
                      .inverse = writeOrScratch(plan, operation.outputs[2], rows),
                      .runningMean = plan.read(operation.inputs[3]),
                      .runningVariance = plan.read(operation.inputs[4]),
                      .epsilon = operation.attributes.real("epsilon", ops::kNormalisationEpsilon),
                      .momentum = operation.attributes.real("momentum", ops::kStatisticsMomentum)};
  if (RankGroup* ranks = synchronised(plan, operation))
    takeStatisticsOfRanks(plan, *ranks, rows, moments, to);
  else
    takeStatistics(plan, rows, moments, to);
  normalise(plan, all, to.mean, to.inverse, {}, 0);
}

void lowerBatchNormalizationInference(Plan& plan, const Operation& operation) {
  const Normalised all = operandsOf(plan, operation);
  const Operand mean = plan.read(operation.inputs[3]), variance = plan.read(operation.inputs[4]);
  normalise(plan, all, mean, {}, variance,
            static_cast<float>(operation.attributes.real("epsilon", ops::kNormalisationEpsilon)));
}

struct Factors {
  Operand gamma, inverse, dgamma, dbeta, factors;
};

void takeFactors(Plan& plan, const ChannelRows& rows, const Operand& sums, const Factors& to) {
  plan.kernel("batch_gradient_factors", overPairs(rows), {sums, to.gamma, to.inverse},
              {to.dgamma, to.dbeta, to.factors}, [=] {
                return BatchGradientFactorsArguments{.view = rows,
                                                     .sums = sums.address<const float>(),
                                                     .gamma = to.gamma.address<const float>(),
                                                     .inverse = to.inverse.address<const float>(),
                                                     .dgamma = to.dgamma.address<float>(),
                                                     .dbeta = to.dbeta.address<float>(),
                                                     .factors = to.factors.address<float>()};
              });
}

void takeFactorsOfRanks(Plan& plan, RankGroup& ranks, const ChannelRows& rows, const Operand& sums, const Factors& to) {
  const Told told = roomToTell(plan, rows, ranks);
  plan.kernel("rank_sums", overPairs(rows), {sums, to.inverse}, {to.dgamma, to.dbeta, told.mine}, [=] {
    return RankSumsArguments{.view = rows,
                             .sums = sums.address<const float>(),
                             .inverse = to.inverse.address<const float>(),
                             .dgamma = to.dgamma.address<float>(),
                             .dbeta = to.dbeta.address<float>(),
                             .mine = told.mine.address<double>()};
  });
  exchange(plan, ranks, RankExchange::Kind::allGather, 0, told.mine, told.all);
  plan.kernel("rank_factors", overElements(rows.channels), {told.all, to.gamma, to.inverse}, {to.factors},
              [=, count = ranks.ranks()] {
                return RankFactorsArguments{.channels = rows.channels,
                                            .ranks = count,
                                            .all = told.all.address<const double>(),
                                            .gamma = to.gamma.address<const float>(),
                                            .inverse = to.inverse.address<const float>(),
                                            .factors = to.factors.address<float>()};
              });
}

void lowerBatchNormalizationAgain(Plan& plan, const Operation& operation) {
  const Normalised all = operandsOf(plan, operation);
  const Operand mean = plan.read(operation.inputs[3]), inverse = plan.read(operation.inputs[4]);
  normalise(plan, all, mean, inverse, {}, 0);
}

// The beta of the normalisation whose ReLU left `mask`, where that took nothing but what can be computed from x again;
// nothing where it did not.
struct FromX {
  bool can = false;
  TensorId beta = kNoTensor;
};
FromX maskFromX(const Plan& plan, const Operation& gradient, TensorId mask) {
  if (mask == kNoTensor) return {};
  const std::vector<Operation>& operations = plan.program().operations;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const FusedOutput& fused = plan.fusedOf(i);
    if (fused.skip || fused.output != mask || !fused.relu || fused.addend != kNoTensor) continue;
    const Operation& maker = operations[i];
    const bool first = maker.op->name == std::string_view("batch_normalization");
    if (!first && maker.op->name != std::string_view("batch_normalization_again")) return {};
    const auto &of = maker.inputs, &back = gradient.inputs;
    const bool same = of[0] == back[0] && of[1] == back[2] && (first ? maker.outputs[1] : of[3]) == back[3] &&
                      (first ? maker.outputs[2] : of[4]) == back[4];
    return {same, of[2]};
  }
  return {};
}

void lowerBatchNormalizationGradient(Plan& plan, const Operation& operation) {
  const FusedOutput& fused = plan.fused();
  const TensorId x = operation.inputs[0], dx = operation.outputs[0],
                 dy = fused.mask == kNoTensor ? operation.inputs[1] : fused.maskedFrom;
  const DataType type = plan.tensor(plan.wanted(dx) ? dx : x).type;
  const ChannelView view = channelView(plan, x, operation.attributes.integer("axis", 1), type);
  const ChannelRows rows = view.rows;
  const FromX fromX = maskFromX(plan, operation, fused.mask);
  const Operand from = plan.read(x, view.layout, type), gradient = plan.read(dy, view.layout, type),
                mask = plan.read(fromX.can ? kNoTensor : fused.mask, view.layout, type),
                gamma = plan.read(operation.inputs[2]), beta = plan.read(fromX.can ? fromX.beta : kNoTensor),
                mean = plan.read(operation.inputs[3]), inverse = plan.read(operation.inputs[4]);
  const auto relu = [=] {
    if (!fromX.can) return ReluOfNormalised{.mask = mask.address()};
    return ReluOfNormalised{.fromX = true,
                            .gamma = gamma.address<const float>(),
                            .beta = beta.address<const float>(),
                            .inverse = inverse.address<const float>()};
  };
  std::vector<Operand> reads{from, gradient, mask, mean};
  if (fromX.can) reads.insert(reads.end(), {gamma, beta, inverse});
  const Operand sums = pairsOfChunks(plan, rows);
  plan.kernel(named("batch_gradient_sums", type), overChannels(rows, type), reads, {sums}, [=] {
    return BatchGradientSumsArguments{.view = rows,
                                      .x = from.address(),
                                      .dy = gradient.address(),
                                      .relu = relu(),
                                      .mean = mean.address<const float>(),
                                      .sums = sums.address<float>()};
  });
  const auto optional = [&](TensorId id) { return plan.wanted(id) ? plan.write(id) : Operand{}; };
  const Operand dgamma = optional(operation.outputs[1]), dbeta = optional(operation.outputs[2]),
                factors = plan.scratch(static_cast<std::size_t>(3 * rows.channels) * sizeof(float));
  const Factors all{.gamma = gamma, .inverse = inverse, .dgamma = dgamma, .dbeta = dbeta, .factors = factors};
  if (RankGroup* ranks = synchronised(plan, operation))
    takeFactorsOfRanks(plan, *ranks, rows, sums, all);
  else
    takeFactors(plan, rows, sums, all);
  if (!plan.wanted(dx)) return;
  const Operand to = plan.write(dx, view.layout);
  plan.mayOverwrite(dx, dy);
  plan.mayOverwrite(dx, x);
  reads.push_back(factors);
  plan.kernel(named("batch_gradient", type), overChannels(rows, type), reads, {to}, [=] {
    return BatchGradientArguments{.view = rows,
                                  .x = from.address(),
                                  .dy = gradient.address(),
                                  .relu = relu(),
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
