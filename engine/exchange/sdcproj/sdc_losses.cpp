// Losses and errors. Their target is a property of the layer in Console and an Input of the drawing here.
#include <fmt/format.h>

#include <cmath>

#include "engine/catalogue/text.h"
#include "engine/exchange/sdcproj/sdc_layer.h"

namespace loom::sdc {
namespace {

void readTarget(Translation& t, bool label) {
  t.target.variable = t.text("T.Dataset", "y");
  t.target.label = label;
  t.target.source = generatorFields(t, "T.");
}

void loss(Translation& t, const char* layer, bool label) {
  t.add(layer);
  readTarget(t, label);
}

void softmaxCrossEntropy(Translation& t) {
  loss(t, "SoftmaxCrossEntropy", true);
  if (const Json axis = t.number("Axis", "0"); axis != 0) t.remark("scores stand along the last axis here");
}

void categoricalCrossEntropy(Translation& t) {
  loss(t, "CategoricalCrossEntropy", true);
  if (const Json axis = t.number("Axis", "0"); axis != 0) t.remark("probabilities stand along the last axis here");
}

void epsilonInsensitive(Translation& t) {
  loss(t, "EpsilonInsensitiveLoss", false);
  t.set("epsilon", t.number("Epsilon", "0.1"));
}

// Both are probabilities, and the input's weigh.
void divergence(Translation& t) {
  loss(t, "KLDivergence", false);
  t.set("from", "probabilities");
  t.set("direction", "input");
  t.know("BaseAxis");
}

void binaryCrossEntropy(Translation& t) {
  loss(t, "BinaryCrossEntropy", false);
  t.set("from", "probabilities");
}

void huber(Translation& t) {
  loss(t, "HuberLoss", false);
  t.set("delta", t.number("Delta", "1.0"));
  t.set("weight", 2.0);
  t.converted("Console's is d² for small differences, ours d² / 2: its weight is 2");
}

void topNError(Translation& t) {
  const Json n = t.number("N", "1");
  loss(t, n == 1 ? "Error" : "TopNError", true);
  if (n != 1) t.set("k", n);
  t.know("Axis");
}

void binaryError(Translation& t) {
  loss(t, "BinaryError", false);
  t.set("from", "probabilities");
}

}  // namespace

// None: null, the dataset. Constant, Normal N(0, m²) and Uniform in [−m, m), with m = GeneratorMultiplier.
Json generatorFields(Translation& t, const std::string& prefix) {
  const std::string generatorKey = prefix + "Generator", factorKey = prefix + "GeneratorMultiplier";
  const std::string generator = t.text(generatorKey.c_str(), "None");
  if (generator == "None") return {};
  const double factor = numberOf(t.text(factorKey.c_str(), "1.0")).value_or(1);
  if (generator == "Constant") return {{"source", "constant"}, {"value", factor}};
  if (generator == "Normal") return {{"source", "normal"}, {"deviation", std::abs(factor)}};
  if (generator == "Uniform") return {{"source", "uniform"}, {"low", -std::abs(factor)}, {"high", std::abs(factor)}};
  t.fault(fmt::format("{} {} makes numbers that are not made here: choose a source", generatorKey, clipped(generator)));
  return {};
}

const std::map<std::string, Rule>& lossRules() {
  static const std::map<std::string, Rule> rules = {
      {"SquaredError", [](Translation& t) { loss(t, "MeanSquaredError", false); }},
      {"AbsoluteError", [](Translation& t) { loss(t, "AbsoluteError", false); }},
      {"EpsilonInsensitiveLoss", epsilonInsensitive},
      {"KLMultinomial", divergence},
      {"HuberLoss", huber},
      {"SoftmaxCrossEntropy", softmaxCrossEntropy},
      {"CategoricalCrossEntropy", categoricalCrossEntropy},
      {"BinaryCrossEntropy", binaryCrossEntropy},
      {"SigmoidCrossEntropy", [](Translation& t) { loss(t, "BinaryCrossEntropy", false); }},
      {"TopNError", topNError},
      {"BinaryError", binaryError},
  };
  return rules;
}

}  // namespace loom::sdc
