#pragma once
// What the rules' entries share: the fields that each has.
#include "engine/optimizers/optimizer.h"

namespace loom {

// `usual`: outside of it the rule hardly learns, or hardly stays finite; a warning says so.
inline Field learningRateField(double defaultValue, Range usual = {1e-6, 10}) {
  return {.key = "learning_rate",
          .label = "Learning rate",
          .help = "How far a step goes. The schedule multiplies it.",
          .type = FieldType::real,
          .defaultValue = defaultValue,
          .hard = Range{0, 1000},
          .comfortable = usual,
          .important = true};
}

// `how` tells where the rule puts it.
inline Field weightDecayField(double defaultValue, std::string how) {
  return {
      .key = "weight_decay",
      .label = "Weight decay",
      .help = std::move(how) + " Biases and normalisation parameters are left out unless the update says otherwise.",
      .type = FieldType::real,
      .defaultValue = defaultValue,
      .hard = Range{0, 1},
      .comfortable = Range{0, 0.1}};
}

// A share of what was before: momentum, the betas, a decay of averages.
inline Field shareField(std::string key, std::string label, std::string help, double defaultValue) {
  return {.key = std::move(key),
          .label = std::move(label),
          .help = std::move(help),
          .type = FieldType::real,
          .defaultValue = defaultValue,
          .hard = Range{0, 1},
          .comfortable = Range{0, 0.9999}};
}

inline Field epsilonField(double defaultValue) {
  return {.key = "epsilon",
          .label = "Epsilon",
          .help = "Keeps the division finite. It is added to the square root, outside of it.",
          .type = FieldType::real,
          .defaultValue = defaultValue,
          .hard = Range{0, 1},
          .comfortable = Range{1e-12, 1e-3}};
}

// Parameters that a rule with a trust ratio per tensor updates without one.
inline Field unscaledField() {
  return {.key = "unscaled",
          .label = "No trust ratio",
          .help =
              "What is updated at the plain learning rate: the kinds bias and normalisation, or patterns of names. "
              "Their norms say "
              "little, and a ratio from them costs accuracy (ResNet-50 at 64K: 71.9 instead of 76.2 %).",
          .type = FieldType::texts,
          .defaultValue = Json::array({"bias", "normalisation"})};
}

// Of rules with products: who steps a matrix.
inline Field oneRankEachField() {
  return {.key = "one_rank_each",
          .label = "One rank a matrix",
          .help =
              "Of several ranks each steps some of the matrices, the largest first, and gives them to the others: the "
              "same bits, for an all-gather of these weights more a step. It saves time where the rule's products "
              "take longer than that; loom plan says its bytes. What is kept for a matrix stands on its rank alone.",
          .type = FieldType::boolean,
          .defaultValue = false};
}

// Of rules that keep statistics of matrices: which of these are Adam's all the same.
inline Field leftToAdamField() {
  return {
      .key = "left_to_adam",
      .label = "Left to Adam",
      .help =
          "What Adam steps besides vectors: embedding, the last weight before the loss (last), or patterns of names.",
      .type = FieldType::texts,
      .defaultValue = Json::array({"embedding"})};
}

inline std::vector<std::string> unscaledOf(const Values& values) {
  return values.texts("unscaled");
}

inline constexpr const char* kCoupledDecay =
    "Added to the gradient as weight_decay · w before the rule, as PyTorch and Caffe do (L2 regularisation).";

}  // namespace loom
