#include "engine/layers/initializers.h"

#include <cmath>

#include "engine/base/error.h"

namespace loom {
namespace {

struct Rule {
  const char* id;
  const char* label;
  const char* help;
  Initializer (*make)(const Fan& fan, double deviation);
};

constexpr Rule kRules[] = {
    {"he_normal", "He normal, fan in",
     "N(0, 2 / fan_in): keeps the variance through ReLU (He et al. 2015, arXiv 1502.01852).",
     [](const Fan& fan, double) -> Initializer {
       return {InitializerKind::normal, std::sqrt(2 / fan.in)};
     }},
    {"he_uniform", "He uniform, fan in",
     "U(−b, b) with b = √(6 / fan_in): as He normal with the same variance (arXiv 1502.01852).",
     [](const Fan& fan, double) -> Initializer {
       return {InitializerKind::uniform, std::sqrt(6 / fan.in)};
     }},
    {"xavier_normal", "Xavier normal",
     "N(0, 2 / (fan_in + fan_out)): for tanh, sigmoid and attention (Glorot and Bengio, AISTATS 2010).",
     [](const Fan& fan, double) -> Initializer {
       return {InitializerKind::normal, std::sqrt(2 / (fan.in + fan.out))};
     }},
    {"xavier_uniform", "Xavier uniform",
     "U(−b, b) with b = √(6 / (fan_in + fan_out)) (Glorot and Bengio, AISTATS 2010).",
     [](const Fan& fan, double) -> Initializer {
       return {InitializerKind::uniform, std::sqrt(6 / (fan.in + fan.out))};
     }},
    {"pytorch_uniform", "PyTorch's default",
     "U(−b, b) with b = 1 / √fan_in for weights and bias: kaiming_uniform with a = √5, as torch.nn.Linear and Conv2d "
     "begin.",
     [](const Fan& fan, double) -> Initializer {
       return {InitializerKind::uniform, 1 / std::sqrt(fan.in)};
     }},
    {"lecun_normal", "LeCun normal",
     "N(0, 1 / fan_in): what SELU needs to normalise itself (Klambauer et al. 2017, arXiv 1706.02515).",
     [](const Fan& fan, double) -> Initializer {
       return {InitializerKind::normal, std::sqrt(1 / fan.in)};
     }},
    {"normal", "Normal", "N(0, deviation²).",
     [](const Fan&, double deviation) -> Initializer {
       return {InitializerKind::normal, deviation};
     }},
    {"zeros", "Zeros", "All 0: for a last layer that shall begin by saying nothing.",
     [](const Fan&, double) -> Initializer {
       return {InitializerKind::zeros, 0};
     }},
    {"ones", "Ones", "All 1.",
     [](const Fan&, double) -> Initializer {
       return {InitializerKind::ones, 0};
     }},
};

}  // namespace

std::vector<Field> initializerFields(const char* defaultRule) {
  std::vector<Choice> choices;
  for (const Rule& rule : kRules) choices.push_back({rule.id, rule.label, rule.help});
  return {
      {.key = "initializer",
       .label = "Weights",
       .help = "The distribution from which the weights begin. It follows from the seed and the layer's name alone.",
       .type = FieldType::choice,
       .defaultValue = defaultRule,
       .choices = std::move(choices)},
      {.key = "deviation",
       .label = "Deviation",
       .help = "Standard deviation of the normal distribution.",
       .type = FieldType::real,
       .defaultValue = 0.01,
       .hard = Range{0, 1000},
       .comfortable = Range{0.0001, 1},
       .onlyWhen = "initializer=normal"}};
}

Initializer weightInitializer(const Values& values, const Fan& fan) {
  const std::string id = values.text("initializer");
  for (const Rule& rule : kRules)
    if (id == rule.id) return rule.make(fan, values.real("deviation"));
  throwError(ErrorCode::badProject, "there is no initializer \"{}\"", id);
}

Initializer biasInitializer(const Values& values, const Fan& fan) {
  if (values.text("initializer") == "pytorch_uniform") return {InitializerKind::uniform, 1 / std::sqrt(fan.in)};
  return {InitializerKind::zeros, 0};
}

}  // namespace loom
