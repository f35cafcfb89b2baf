// Losses and metrics: each a mean over rows or elements, summed in f32 in a fixed order. What they take stands in f32.
#include "engine/cuda/kernels/losses.h"

#include <algorithm>

#include "engine/cuda/kernels/classification.h"
#include "engine/cuda/lowerings/indices.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/reduction.h"
#include "engine/cuda/lowerings/rows.h"
#include "engine/ops/classification.h"
#include "engine/ops/elementwise_loss.h"

namespace loom::cuda {
namespace {

Operand readFloats(Plan& plan, TensorId id) {
  return plan.read(id, plainLayout(plan.shape(id).rank()), DataType::f32);
}
Operand scratchFloats(Plan& plan, std::int64_t count) {
  Operand made = plan.scratch(static_cast<std::size_t>(count) * sizeof(float));
  made.type = DataType::f32;
  return made;
}
float meanFactor(std::int64_t count) {
  return static_cast<float>(1 / static_cast<double>(count));
}

struct Rows {
  std::int64_t rows, classes;
};
Rows rowsOf(const Plan& plan, TensorId logits) {
  const std::int64_t classes = plan.shape(logits)[-1];
  return {plan.shape(logits).elements() / classes, classes};
}
SmoothedLabel smoothedOf(const Operation& operation, std::int64_t classes) {
  const ops::Smoothing q = ops::smoothingOf(operation.attributes, classes);
  return {static_cast<float>(q.label), static_cast<float>(q.other)};
}

// A LogSum a row, from the forward op for its gradient.
Operand logSumsOf(Plan& plan, TensorId logits, std::int64_t rows) {
  return plan.shared("log sums " + std::to_string(logits), static_cast<std::size_t>(rows) * sizeof(LogSum));
}

void lowerSoftmaxCrossEntropy(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0];
  const auto [rows, classes] = rowsOf(plan, x);
  checkIndices(plan, operation.inputs[1], classes, "label");
  const Operand logits = readFloats(plan, x), labels = plan.read(operation.inputs[1]),
                losses = scratchFloats(plan, rows), logSums = logSumsOf(plan, x, rows);
  CrossEntropyArguments arguments{
      .rows = rows, .classes = classes, .q = smoothedOf(operation, classes), .wholeBlock = takesBlock(classes)};
  plan.kernel("cross_entropy", overRows(rows, classes), {logits, labels}, {losses, logSums}, [=]() mutable {
    arguments.logits = logits.address<const float>();
    arguments.labels = labels.address<const std::int32_t>();
    arguments.losses = losses.address<float>();
    arguments.logSums = logSums.address<LogSum>();
    return arguments;
  });
  appendSum(plan, losses, rows, meanFactor(rows), plan.write(operation.outputs[0]));
}

void lowerSoftmaxCrossEntropyGradient(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], dx = operation.outputs[0];
  const DataType type = plan.tensor(dx).type;
  const auto [rows, classes] = rowsOf(plan, x);
  const bool known = plan.hasShared("log sums " + std::to_string(x));
  if (!known) checkIndices(plan, operation.inputs[1], classes, "label");
  const Operand logits = readFloats(plan, x), labels = plan.read(operation.inputs[1]),
                scale = readFloats(plan, operation.inputs[2]), logSums = known ? logSumsOf(plan, x, rows) : Operand{},
                to = plan.write(dx);
  plan.mayOverwrite(dx, x);
  CrossEntropyGradientArguments arguments{
      .rows = rows, .classes = classes, .q = smoothedOf(operation, classes), .wholeBlock = takesBlock(classes)};
  plan.kernel(named("cross_entropy_gradient", type), overRows(rows, classes), {logits, labels, scale, logSums}, {to},
              [=]() mutable {
                arguments.logits = logits.address<const float>();
                arguments.labels = labels.address<const std::int32_t>();
                arguments.scale = scale.address<const float>();
                arguments.logSums = logSums.address<const LogSum>();
                arguments.dlogits = to.address();
                return arguments;
              });
}

void lowerTopKAccuracy(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0];
  const auto [rows, classes] = rowsOf(plan, x);
  checkIndices(plan, operation.inputs[1], classes, "label");
  const Operand logits = readFloats(plan, x), labels = plan.read(operation.inputs[1]), hits = scratchFloats(plan, rows);
  TopKArguments arguments{
      .rows = rows, .classes = classes, .k = operation.attributes.integer("k", 1), .wholeBlock = takesBlock(classes)};
  plan.kernel("top_k", overRows(rows, classes), {logits, labels}, {hits}, [=]() mutable {
    arguments.logits = logits.address<const float>();
    arguments.labels = labels.address<const std::int32_t>();
    arguments.hits = hits.address<float>();
    return arguments;
  });
  appendSum(plan, hits, rows, meanFactor(rows), plan.write(operation.outputs[0]));
}

LossFunction functionOf(const Operation& operation) {
  const std::string& name = operation.op->name;
  const Attributes& attributes = operation.attributes;
  if (name.starts_with("binary_cross_entropy"))
    return {attributes.boolean("from_logits", false) ? ElementwiseLoss::binaryCrossEntropyFromLogits
                                                     : ElementwiseLoss::binaryCrossEntropy,
            static_cast<float>(ops::kLeastProbability)};
  if (name.starts_with("huber")) return {ElementwiseLoss::huber, static_cast<float>(attributes.real("delta", 1.0))};
  if (name == "binary_accuracy")
    return {ElementwiseLoss::rightAnswer, static_cast<float>(attributes.real("threshold", 0.5))};
  return {};
}

void lowerElementwise(Plan& plan, const Operation& operation) {
  constexpr std::int64_t kPerThread = 16;
  constexpr unsigned kMostSums = 1024;
  const std::int64_t count = plan.shape(operation.inputs[0]).elements();
  const Operand x = readFloats(plan, operation.inputs[0]), target = readFloats(plan, operation.inputs[1]);
  Launch launch = overElements(count, kPerThread);
  launch.grid.x = std::min(launch.grid.x, kMostSums);
  const Operand sums = scratchFloats(plan, launch.grid.x);
  LossArguments arguments{.count = count, .f = functionOf(operation)};
  plan.kernel("loss_sums", launch, {x, target}, {sums}, [=]() mutable {
    arguments.x = x.address<const float>();
    arguments.target = target.address<const float>();
    arguments.sums = sums.address<float>();
    return arguments;
  });
  appendSum(plan, sums, launch.grid.x, meanFactor(count), plan.write(operation.outputs[0]));
}

void lowerElementwiseGradient(Plan& plan, const Operation& operation) {
  const TensorId dx = operation.outputs[0];
  const DataType type = plan.tensor(dx).type;
  const Operand x = readFloats(plan, operation.inputs[0]), target = readFloats(plan, operation.inputs[1]),
                scale = readFloats(plan, operation.inputs[2]), to = plan.write(dx);
  plan.mayOverwrite(dx, operation.inputs[0]);
  LossGradientArguments arguments{.count = plan.shape(dx).elements(), .f = functionOf(operation)};
  plan.kernel(named("loss_gradient", type), overElements(arguments.count), {x, target, scale}, {to}, [=]() mutable {
    arguments.x = x.address<const float>();
    arguments.target = target.address<const float>();
    arguments.scale = scale.address<const float>();
    arguments.dx = to.address();
    return arguments;
  });
}

}  // namespace

LoweringRows lossesRows() {
  static const LoweringRow rows[] = {
      {"binary_accuracy", lowerElementwise},
      {"binary_cross_entropy", lowerElementwise},
      {"binary_cross_entropy_gradient", lowerElementwiseGradient, {}, {{}, true}},
      {"huber", lowerElementwise},
      {"huber_gradient", lowerElementwiseGradient, {}, {{}, true}},
      {"mean_squared_error", lowerElementwise},
      {"mean_squared_error_gradient", lowerElementwiseGradient, {}, {{}, true}},
      {"softmax_cross_entropy", lowerSoftmaxCrossEntropy},
      {"softmax_cross_entropy_gradient", lowerSoftmaxCrossEntropyGradient, {}, {{}, true}},
      {"top_k_accuracy", lowerTopKAccuracy},
  };
  return rows;
}

}  // namespace loom::cuda
