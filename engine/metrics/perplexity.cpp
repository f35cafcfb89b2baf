#include <cmath>

#include "engine/metrics/accuracy_parts.h"
#include "engine/metrics/sums.h"

namespace loom {
namespace perplexity_metric {

double perplexity(double mean) {
  return std::exp(mean);
}

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Perplexity";
  entry.summary = "Among how many equally likely symbols a language model hesitates.";
  entry.help =
      "perplexity = exp(Σ −log p[label] / number of labels), p = softmax(x), over all labels of the dataset: the "
      "exponent "
      "is the mean over labels, and not a mean of each batch's number. 1 is certainty; with K symbols, guessing gives "
      "K. Wire the same logits as to SoftmaxCrossEntropy. Nothing flows back from it.";
  addClassPorts(entry, "Perplexity");
  entry.inputs[0].help = "Logits: K, or T×K for a sequence.";
  entry.outputs[0].help = "One number, at least 1.";
  return entry;
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Shape& scores = arguments.builder.shape(arguments.inputs[0]);
  const double labels = static_cast<double>(scores.elements() / scores[-1]);
  return finishMean(arguments,
                    arguments.builder.add("softmax_cross_entropy", {arguments.inputs[0], arguments.inputs[1]}), labels,
                    kOfMean<perplexity>);
}

}  // namespace perplexity_metric

const LayerDefinition& definePerplexityLayer() {
  using namespace perplexity_metric;
  static const LayerDefinition definition{entry(), classMetricShapes, lower, LayerRole::metric};
  return definition;
}

}  // namespace loom
