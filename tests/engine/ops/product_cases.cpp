#include "tests/engine/ops/case_families.h"

namespace loom::cases {

std::vector<OpCase> productCases() {
  const auto transposed = [](bool a, bool b) { return Attributes{{"transpose_a", a}, {"transpose_b", b}}; };
  return {
      {"matmul_plain", "matmul", {values({3, 5}), values({5, 4})}, {}},
      {"matmul_bias", "matmul", {values({7, 5}), values({5, 3}), values({3})}, {}},
      {"matmul_linear", "matmul", {values({7, 13}), values({11, 13}), values({11})}, transposed(false, true)},
      {"matmul_one_column", "matmul", {values({7, 5}), values({1, 5}), values({1})}, transposed(false, true)},
      {"matmul_a_transposed", "matmul", {values({5, 3}), values({5, 4}), values({4})}, transposed(true, false)},
      {"matmul_both_transposed", "matmul", {values({5, 3}), values({4, 5})}, transposed(true, true)},
      {"matmul_batched", "matmul", {values({2, 3, 5}), values({2, 5, 4})}, {}},
      {"matmul_batched_a_transposed", "matmul", {values({2, 5, 3}), values({2, 5, 4})}, transposed(true, false)},
      {"matmul_batched_b_transposed",
       "matmul",
       {values({2, 3, 5}), values({2, 4, 5}), values({4})},
       transposed(false, true)},
      {"matmul_batched_both_transposed", "matmul", {values({3, 5, 2}), values({3, 4, 5})}, transposed(true, true)},
      {"matmul_batched_twice", "matmul", {values({2, 3, 2, 5}), values({2, 3, 5, 4})}, {}},
      {"matmul_shared", "matmul", {values({2, 3, 5}), values({5, 4}), values({4})}, {}},
      {"matmul_shared_linear", "matmul", {values({2, 3, 5}), values({7, 5}), values({7})}, transposed(false, true)},
      {"matmul_shared_a_transposed", "matmul", {values({2, 5, 3}), values({5, 4})}, transposed(true, false)},
      {"matmul_shared_both_transposed",
       "matmul",
       {values({2, 2, 5, 3}), values({4, 5}), values({4})},
       transposed(true, true)},
      {"inverse", "inverse", {values({3, 4, 4})}, {}},
      {"inverse_of_one", "inverse", {values({5, 1, 1}, 0.5, 2)}, {}},
      {"inverse_images", "inverse", {values({2, 3, 7, 7})}, {}},
      {"inverse_wide", "inverse", {values({17, 17})}, {}},
      {"bias_gradient_channels", "bias_gradient", {values({3, 4, 2, 5})}, {{"axis", 1}}},
      {"bias_gradient_last", "bias_gradient", {values({3, 4, 5})}, {{"axis", -1}}},
  };
}

}  // namespace loom::cases
