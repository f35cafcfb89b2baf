#include "tests/engine/ops/case_families.h"

namespace loom::cases {

std::vector<OpCase> lossCases() {
  const auto smoothing = [](double epsilon, const char* definition) {
    return Attributes{{"smoothing", epsilon}, {"definition", std::string(definition)}};
  };
  return {
      {"cross_entropy_plain",
       "softmax_cross_entropy",
       {values({5, 7}, -3, 3), labels({5}, 7)},
       smoothing(0, "pytorch")},
      {"cross_entropy_column",
       "softmax_cross_entropy",
       {values({5, 3}, -3, 3), labels({5, 1}, 3)},
       smoothing(0, "sony")},
      {"cross_entropy_smooth_pytorch",
       "softmax_cross_entropy",
       {values({5, 7}, -3, 3), labels({5}, 7)},
       smoothing(0.1, "pytorch")},
      {"cross_entropy_smooth_sony",
       "softmax_cross_entropy",
       {values({5, 7}, -3, 3), labels({5}, 7)},
       smoothing(0.1, "sony")},
      {"cross_entropy_sequence",
       "softmax_cross_entropy",
       {values({2, 3, 5}, -3, 3), labels({2, 3}, 5)},
       smoothing(0.2, "pytorch")},
      {"binary_cross_entropy_probabilities",
       "binary_cross_entropy",
       {values({5, 3}, 0.05, 0.95), values({5, 3}, 0, 1)},
       {{"from_logits", false}}},
      {"binary_cross_entropy_logits",
       "binary_cross_entropy",
       {values({5, 3}, -4, 4), values({5, 3}, 0, 1)},
       {{"from_logits", true}}},
      {"mean_squared_error", "mean_squared_error", {values({5, 3}), values({5, 3})}, {}},
      {"mean_squared_error_given", "mean_squared_error", {values({2, 3, 5}), given({2, 3, 5})}, {}},
      {"huber", "huber", {values({5, 7}, -2, 2), values({5, 7}, -2, 2)}, {{"delta", 0.7}}},
      {"top_1_accuracy", "top_k_accuracy", {values({31, 3}), labels({31}, 3)}, {{"k", 1}}},
      {"top_3_accuracy", "top_k_accuracy", {values({31, 7}), labels({31, 1}, 7)}, {{"k", 3}}},
      {"top_2_accuracy_sequence", "top_k_accuracy", {values({5, 4, 6}), labels({5, 4}, 6)}, {{"k", 2}}},
      {"binary_accuracy", "binary_accuracy", {values({31, 2}, 0, 1), given({31, 2}, 0, 1)}, {{"threshold", 0.5}}},
      {"binary_accuracy_logits", "binary_accuracy", {values({31, 2}), given({31, 2}, 0, 1)}, {{"threshold", 0.0}}},
  };
}

}  // namespace loom::cases
