#include "tests/engine/ops/case_families.h"

namespace loom::cases {

std::vector<OpCase> normalizationCases() {
  const auto batch = [](std::int64_t axis) { return Attributes{{"epsilon", 1e-3}, {"momentum", 0.8}, {"axis", axis}}; };
  const auto local = [](std::int64_t size, double alpha, double beta, double k) {
    return Attributes{{"size", size}, {"alpha", alpha}, {"beta", beta}, {"k", k}};
  };
  return {
      {"batch_normalization_images",
       "batch_normalization",
       {values({3, 4, 3, 5}), values({4}, 0.5, 2), values({4}), state({4}), state({4}, 0.5, 2)},
       batch(1)},
      {"batch_normalization_vectors",
       "batch_normalization",
       {values({7, 5}), values({5}), values({5}), state({5}), state({5}, 0.5, 2)},
       batch(1)},
      {"batch_normalization_plain",
       "batch_normalization",
       {values({5, 3, 4}), absent(), absent(), state({3}), state({3}, 0.5, 2)},
       batch(1)},
      {"batch_normalization_gamma_only",
       "batch_normalization",
       {values({5, 3, 2, 2}), values({3}), absent(), state({3}), state({3}, 0.5, 2)},
       batch(1)},
      {"batch_normalization_last_axis",
       "batch_normalization",
       {values({3, 4, 5}, 2, 5), values({5}), values({5}), state({5}), state({5}, 0.5, 2)},
       batch(-1)},
      {"batch_normalization_17",
       "batch_normalization",
       {values({2, 17, 3, 3}, -3, 5), values({17}), values({17}), state({17}), state({17}, 0.5, 2)},
       batch(1)},
      {"batch_normalization_inference_images",
       "batch_normalization_inference",
       {values({3, 4, 3, 5}), values({4}), values({4}), state({4}), state({4}, 0.5, 2)},
       batch(1)},
      {"batch_normalization_inference_plain",
       "batch_normalization_inference",
       {values({3, 4}), absent(), absent(), state({4}), state({4}, 0.5, 2)},
       batch(1)},
      {"batch_normalization_inference_last_axis",
       "batch_normalization_inference",
       {values({3, 2, 4}), values({4}), absent(), state({4}), state({4}, 0.5, 2)},
       batch(-1)},
      {"layer_normalization_last",
       "layer_normalization",
       {values({3, 4, 7}), values({7}), values({7})},
       {{"epsilon", 1e-3}, {"axes", 1}}},
      {"layer_normalization_two_axes",
       "layer_normalization",
       {values({3, 4, 7}, 1, 4), values({4, 7}), values({4, 7})},
       {{"epsilon", 1e-3}, {"axes", 2}}},
      {"layer_normalization_plain", "layer_normalization", {values({5, 6})}, {{"epsilon", 1e-3}, {"axes", 1}}},
      {"layer_normalization_beta_only",
       "layer_normalization",
       {values({2, 3, 17}), absent(), values({17})},
       {{"epsilon", 1e-3}, {"axes", 1}}},
      {"local_response_5", "local_response_normalization", {values({2, 7, 3, 2})}, local(5, 0.5, 0.75, 1)},
      {"local_response_even", "local_response_normalization", {values({2, 6, 2, 3})}, local(4, 0.8, 0.6, 2)},
      {"local_response_wider_than_channels",
       "local_response_normalization",
       {values({3, 3, 2, 2})},
       local(7, 1.5, 0.5, 1)},
  };
}

}  // namespace loom::cases
