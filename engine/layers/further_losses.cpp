// Losses that are composed: of a difference, of probabilities.
#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/loss_parts.h"
#include "engine/layers/rows.h"

namespace loom {
namespace further_losses {

// The loss of each value, whose mean is taken.
struct Row {
  TensorId (*each)(const LowerArguments& arguments, TensorId x, TensorId target);
  Entry entry;
};

Entry lossEntry(std::string id, std::vector<std::string> aliases, std::string summary, std::string help,
                std::vector<Field> fields = {}) {
  fields.push_back(lossWeightField());
  return parts::completed({.id = std::move(id),
                           .category = "lossMetric",
                           .aliases = std::move(aliases),
                           .summary = std::move(summary),
                           .help = std::move(help),
                           .inputs = {parts::valuesIn("Predictions, any shape."),
                                      targetPort(PortType::values, "What they should be, in the input's shape.")},
                           .outputs = {{.key = "output", .label = "Loss", .help = "One number."}},
                           .fields = std::move(fields)});
}

TensorId magnitude(const LowerArguments& arguments, TensorId x, TensorId target) {
  return parts::unary(arguments, "absolute", parts::binary(arguments, "subtract", x, target));
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {magnitude,
       lossEntry(
           "AbsoluteError", {"L1Loss", "MAE", "MeanAbsoluteError"},
           "The loss of a regression that outliers do not spoil: the mean of the magnitudes.",
           "loss = mean over all values of |x − t|. Its best constant answer is the median of the targets. The slope "
           "is the same near and far; HuberLoss bends near 0.\n\n(Sony NNC's AbsoluteError is the same without "
           "the mean.)")},
      {[](const LowerArguments& a, TensorId x, TensorId target) {
         return parts::unary(a, "relu", parts::scaled(a, magnitude(a, x, target), 1, -a.values.real("epsilon")));
       },
       lossEntry(
           "EpsilonInsensitiveLoss", {}, "The mean of the magnitudes, where a difference up to epsilon counts nothing.",
           "loss = mean over all values of max(|x − t| − ε, 0): what is near enough is right, as in support vector "
           "regression.\n\nVapnik, The nature of statistical learning theory, 1995.",
           {parts::numberField("epsilon", "Epsilon", "Difference that counts nothing.", 0.1, Range{0, 1e6})})},
      {[](const LowerArguments& a, TensorId x, TensorId target) {
         return parts::unary(a, "relu", parts::scaled(a, parts::binary(a, "multiply", x, target), -1, 1));
       },
       lossEntry("HingeLoss", {"Hinge"}, "The loss of a margin: targets are −1 and 1.",
                 "loss = mean over all values of max(1 − x · t, 0): an answer on the right side by 1 or more costs "
                 "nothing. Support "
                 "vector machines and some GANs train with it.")},
  };
  return all;
}

std::vector<Shape> equalShapes(const ShapeArguments& arguments) {
  needEqualTarget(arguments);
  return {Shape{}};
}

TensorId mean(const LowerArguments& arguments, TensorId x) {
  return arguments.builder.add("reduce", {x}, {{"function", std::string("mean")}});
}

// The sum of all, divided by a number of rows.
TensorId sumOver(const LowerArguments& arguments, TensorId x, std::int64_t rows, double sign) {
  const TensorId sum = arguments.builder.add("reduce", {x}, {{"function", std::string("sum")}});
  return parts::scaled(arguments, sum, sign / static_cast<double>(rows));
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Row& row = parts::rowOf(rows(), arguments.values);
  return finishLoss(arguments, mean(arguments, row.each(arguments, arguments.inputs[0], arguments.inputs[1])));
}

constexpr double kLeastProbability = 1e-7;

// log p of probabilities no nearer to 0 than that.
TensorId logOf(const LowerArguments& arguments, TensorId p) {
  return parts::unary(arguments, "log",
                      parts::binary(arguments, "maximum", p, parts::number(arguments, p, kLeastProbability)));
}

// How many distributions there are: all but the last axis, the batch among them.
std::int64_t distributions(const LowerArguments& arguments) {
  const Shape& shape = arguments.builder.shape(arguments.inputs[0]);
  return shape.elements() / shape[-1];
}

void needDistributions(const ShapeArguments& arguments) {
  needEqualTarget(arguments);
  if (arguments.inputs[0].rank() == 0)
    throw LayerError("the input is a scalar, but probabilities of classes are wanted, such as 10", "");
}

std::vector<Shape> distributionShapes(const ShapeArguments& arguments) {
  needDistributions(arguments);
  return {Shape{}};
}

Entry divergenceEntry() {
  Entry entry = lossEntry(
      "KLDivergence", {"KLDivLoss", "KullbackLeibler"},
      "How far a distribution is from another: what distillation trains with.",
      "With p from the input and the target t, both over the last axis, loss = Σ t · (log t − log p), the mean over "
      "all "
      "distributions (PyTorch: batchmean); it is 0 where both agree. The other direction, Σ p · (log p − log t), is "
      "Sony NNC's "
      "KLMultinomial. Probabilities are kept above 10⁻⁷ inside of logarithms.\n\nKullback and Leibler 1951; Hinton et "
      "al., "
      "Distilling the knowledge in a neural network, arXiv 1503.02531.",
      {parts::choiceField(
           "from", "From", "What the input is.",
           {{"logits", "Logits", "Any numbers; the softmax is inside."},
            {"probabilities", "Probabilities", "After a Softmax."},
            {"log_probabilities", "Logarithms of probabilities", "After a LogSoftmax, as PyTorch wants them."}}),
       parts::choiceField(
           "direction", "Direction", "Which distribution weighs.",
           {{"target", "Target", "Σ t · (log t − log p)."}, {"input", "Input", "Σ p · (log p − log t)."}})});
  entry.relatives = {
      {"KLMultinomial", "is KLDivergence with \"from\": \"probabilities\" and \"direction\": \"input\""}};
  return entry;
}

std::vector<TensorId> lowerDivergence(const LowerArguments& a) {
  const std::string from = a.values.text("from");
  const TensorId x = a.inputs[0], target = a.inputs[1];
  const TensorId logP = from == "logits" ? logSoftmaxOf(a, x) : from == "probabilities" ? logOf(a, x) : x;
  const bool byTarget = a.values.text("direction") == "target";
  const TensorId apart = byTarget ? parts::binary(a, "subtract", logOf(a, target), logP)
                                  : parts::binary(a, "subtract", logP, logOf(a, target));
  const TensorId weight = byTarget ? target : from == "probabilities" ? x : parts::unary(a, "exp", logP);
  return finishLoss(a, sumOver(a, parts::binary(a, "multiply", apart, weight), distributions(a), 1));
}

Entry softTargetEntry() {
  return lossEntry(
      "SoftTargetCrossEntropy", {"SoftCrossEntropy"}, "Cross entropy with a probability for each class as the target.",
      "loss = −Σ t · log softmax(x) over the last axis, the mean over all distributions: for one-hot vectors, mixed "
      "samples "
      "and the answers of another network. For class numbers SoftmaxCrossEntropy computes the same faster.");
}

std::vector<TensorId> lowerSoftTarget(const LowerArguments& a) {
  const TensorId product = parts::binary(a, "multiply", logSoftmaxOf(a, a.inputs[0]), a.inputs[1]);
  return finishLoss(a, sumOver(a, product, distributions(a), -1));
}

Entry categoricalEntry() {
  Entry entry = lossEntry(
      "CategoricalCrossEntropy", {"SparseCategoricalCrossentropy"},
      "Cross entropy of probabilities, after a Softmax of its own.",
      "loss = −log p[label], the mean over all labels; p is kept above 10⁻⁷. The input is probabilities, as in Sony "
      "NNC and Keras; from logits SoftmaxCrossEntropy is exact and faster.",
      {classWeightsField("One weight for each class, in their order, against classes that are rare.")});
  entry.inputs = {parts::valuesIn("A probability for each class: K, or T×K for a sequence."),
                  targetPort(PortType::labels, "The right class, from 0; T labels for a sequence.")};
  return entry;
}

std::vector<Shape> categoricalShapes(const ShapeArguments& arguments) {
  needClassTarget(arguments);
  needClassWeights(arguments, arguments.inputs[0][-1]);
  return {Shape{}};
}

std::vector<TensorId> lowerCategorical(const LowerArguments& a) {
  const TensorId x = a.inputs[0];
  const TensorId right = oneHotLike(a, x, a.inputs[1]);
  TensorId each = parts::binary(a, "multiply", logOf(a, x), right);
  if (!a.values.reals("class_weights").empty()) each = parts::binary(a, "multiply", each, weightsOfLabels(a, right));
  return finishLoss(a, sumOver(a, each, distributions(a), -1));
}

}  // namespace further_losses

#define LOOM_DIFFERENCE_LOSS(ID) \
  LOOM_ROW_LAYER(ID, further_losses::rows, further_losses::equalShapes, further_losses::lower, LayerRole::loss)
LOOM_DIFFERENCE_LOSS(AbsoluteError)
LOOM_DIFFERENCE_LOSS(EpsilonInsensitiveLoss)
LOOM_DIFFERENCE_LOSS(HingeLoss)

const LayerDefinition& defineKLDivergenceLayer() {
  using namespace further_losses;
  static const LayerDefinition definition{divergenceEntry(), distributionShapes, lowerDivergence, LayerRole::loss};
  return definition;
}
const LayerDefinition& defineSoftTargetCrossEntropyLayer() {
  using namespace further_losses;
  static const LayerDefinition definition{softTargetEntry(), distributionShapes, lowerSoftTarget, LayerRole::loss};
  return definition;
}
const LayerDefinition& defineCategoricalCrossEntropyLayer() {
  using namespace further_losses;
  static const LayerDefinition definition{categoricalEntry(), categoricalShapes, lowerCategorical, LayerRole::loss};
  return definition;
}

}  // namespace loom
