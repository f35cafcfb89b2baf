#pragma once
// What losses have in common: a target, a weight in the sum of losses, and how they enter the program's results.
#include "engine/layers/layer.h"

namespace loom {

Port targetPort(PortType type, std::string help);
Field lossWeightField();
// The field `class_weights`: `help` says how many there are.
Field classWeightsField(std::string help);

// Input and target of one shape. Throws LayerError naming both.
void needEqualTarget(const ShapeArguments& arguments);
// Scores K (or T x K) and labels 1 (or T). Throws LayerError naming both.
void needClassTarget(const ShapeArguments& arguments);

// As many weights as classes, or none. Throws LayerError naming both.
void needClassWeights(const ShapeArguments& arguments, std::int64_t classes);
// Labels as K numbers each, 1 at the class, in the shape of the scores; and of each label the weight of its class, in
// that shape with 1 for K.
TensorId logSoftmaxOf(const LowerArguments& arguments, TensorId x);  // over the last axis
TensorId oneHotLike(const LowerArguments& arguments, TensorId scores, TensorId labels);
TensorId weightsOfLabels(const LowerArguments& arguments, TensorId oneHot);

// Multiplies with the field `weight`, makes the result known as kind "loss" and answers it.
std::vector<TensorId> finishLoss(const LowerArguments& arguments, TensorId loss);
// The same for a metric that is a mean over samples, without a weight; of another see engine/metrics/sums.h.
std::vector<TensorId> finishMetric(const LowerArguments& arguments, TensorId metric);

}  // namespace loom
