#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/loss_parts.h"
#include "engine/ops/classification.h"

namespace loom {
namespace softmax_cross_entropy_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "SoftmaxCrossEntropy";
  entry.category = entry.icon = "lossMetric";
  entry.aliases = {"CrossEntropyLoss", "CrossEntropy", "Loss", "LogLoss", "NLLLoss"};
  entry.summary = "The loss of a classifier: how surprised it is by the right class.";
  entry.help =
      "loss = −Σ over k of q[k] · log softmax(x)[k], the mean over the samples (and places of a sequence). Softmax is "
      "inside: wire the plain scores (logits). A network that knows nothing has a loss of log K, 2.30 for ten "
      "classes.\n\n"
      "Smoothing ε moves a little of the target's weight to all classes, against overconfidence. Two definitions are "
      "in use: PyTorch, Szegedy and timm take q = (1 − ε) · onehot + ε / K; Sony takes 1 − ε for the right class and "
      "ε / (K − 1) for each other. Sony's ε equals PyTorch's ε · K / (K − 1).\n\n"
      "A label that is no class ends the run with its row. Szegedy et al., Rethinking the Inception architecture, "
      "arXiv 1512.00567, section 7.";
  entry.inputs = {
      parts::valuesIn("One score for each class: K, or T×K for a sequence."),
      targetPort(PortType::labels, "The right class, from 0: an Input of type label; T labels for a sequence.")};
  entry.outputs = {{.key = "output", .label = "Loss", .help = "One number."}};
  entry.fields = {{.key = "smoothing",
                   .label = "Smoothing",
                   .help = "Share ε of the target's weight that goes to other classes; 0 = off.",
                   .type = FieldType::real,
                   .defaultValue = 0.0,
                   .hard = Range{0, 0.999},
                   .comfortable = Range{0, 0.3},
                   .important = true},
                  {.key = "definition",
                   .label = "Definition",
                   .help = "How the smoothed weight is spread.",
                   .type = FieldType::choice,
                   .defaultValue = "pytorch",
                   .choices = {{"pytorch", "PyTorch", "ε / K to every class, the right one too."},
                               {"sony", "Sony", "ε / (K − 1) to every other class."}}},
                  {.key = "scale",
                   .label = "Scale of the scores",
                   .help = "The scores are multiplied by it first: 1 / temperature. Less than 1 keeps a network from "
                           "growing sure too fast at high learning rates.",
                   .type = FieldType::real,
                   .defaultValue = 1.0,
                   .hard = Range{1e-6, 1e6},
                   .comfortable = Range{0.01, 100}},
                  classWeightsField("One weight for each class, in their order, against classes that are rare."),
                  lossWeightField()};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  needClassTarget(arguments);
  if (arguments.inputs[0][-1] < 2)
    throw LayerError(
        "the input has 1 score, but at least 2 classes are wanted; for yes and no in one number use BinaryCrossEntropy",
        "");
  needClassWeights(arguments, arguments.inputs[0][-1]);
  return {Shape{}};
}

// The mean over the labels of w · Σ over k of q[k] · −log p[k], with the weight w of the label's class.
TensorId weighed(const LowerArguments& arguments, TensorId scores, const Attributes& attributes) {
  const std::int64_t classes = arguments.builder.shape(scores)[-1];
  const ops::Smoothing q = ops::smoothingOf(attributes, classes);
  const TensorId right = oneHotLike(arguments, scores, arguments.inputs[1]);
  const TensorId wanted = q.other == 0 ? right : parts::scaled(arguments, right, q.label - q.other, q.other);
  const TensorId each = parts::binary(arguments, "multiply", logSoftmaxOf(arguments, scores), wanted);
  const TensorId counted = parts::binary(arguments, "multiply", each, weightsOfLabels(arguments, right));
  const double labels = static_cast<double>(arguments.builder.shape(scores).elements() / classes);
  return parts::scaled(arguments, arguments.builder.add("reduce", {counted}, {{"function", std::string("sum")}}),
                       -1 / labels);
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  TensorId scores = arguments.inputs[0];
  if (const double scale = arguments.values.real("scale"); scale != 1)
    scores = arguments.builder.add("scale", {scores}, {{"factor", scale}, {"offset", 0.0}});
  const Attributes attributes{{"smoothing", arguments.values.real("smoothing")},
                              {"definition", arguments.values.text("definition")}};
  if (!arguments.values.reals("class_weights").empty())
    return finishLoss(arguments, weighed(arguments, scores, attributes));
  return finishLoss(arguments,
                    arguments.builder.add("softmax_cross_entropy", {scores, arguments.inputs[1]}, attributes));
}

}  // namespace softmax_cross_entropy_layer

const LayerDefinition& defineSoftmaxCrossEntropyLayer() {
  using namespace softmax_cross_entropy_layer;
  static const LayerDefinition definition{entry(), shapes, lower, LayerRole::loss};
  return definition;
}

}  // namespace loom
