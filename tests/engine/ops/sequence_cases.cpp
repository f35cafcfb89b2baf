#include "tests/engine/ops/case_families.h"

namespace loom::cases {

std::vector<OpCase> sequenceCases() {
  const Attributes forwards{{"reverse", false}}, reversed{{"reverse", true}};
  const auto heads = [](std::int64_t count, bool causal) { return Attributes{{"heads", count}, {"causal", causal}}; };
  return {
      {"embedding_sequence", "embedding", {labels({3, 4}, 6), values({6, 5})}, {}},
      {"embedding_column", "embedding", {labels({4, 1}, 3), values({3, 2})}, {}},
      {"lstm_plain", "lstm", {values({2, 4, 3}), values({20, 3}), values({20, 5}), values({20})}, forwards},
      {"lstm_reverse", "lstm", {values({2, 4, 3}), values({8, 3}), values({8, 2}), values({8})}, reversed},
      {"lstm_without_bias", "lstm", {values({3, 2, 2}), values({12, 2}), values({12, 3})}, forwards},
      {"lstm_initial",
       "lstm",
       {values({2, 3, 2}), values({12, 2}), values({12, 3}), values({12}), values({2, 3}), values({2, 3})},
       forwards},
      {"lstm_initial_reverse",
       "lstm",
       {values({2, 3, 2}), values({12, 2}), values({12, 3}), values({12}), values({2, 3}), values({2, 3})},
       reversed},
      {"lstm_one_step",
       "lstm",
       {values({3, 1, 4}), values({8, 4}), values({8, 2}), values({8}), absent(), values({3, 2})},
       forwards},
      {"gru_plain", "gru", {values({2, 4, 3}), values({15, 3}), values({15, 5}), values({15}), values({15})}, forwards},
      {"gru_reverse", "gru", {values({2, 4, 3}), values({6, 3}), values({6, 2}), values({6}), values({6})}, reversed},
      {"gru_without_bias", "gru", {values({3, 3, 2}), values({9, 2}), values({9, 3})}, forwards},
      {"gru_hidden_bias", "gru", {values({3, 2, 2}), values({9, 2}), values({9, 3}), absent(), values({9})}, forwards},
      {"attention_one_head", "attention", {values({2, 5, 4}), values({2, 5, 4}), values({2, 5, 4})}, heads(1, false)},
      {"attention_heads", "attention", {values({2, 5, 6}), values({2, 5, 6}), values({2, 5, 6})}, heads(3, false)},
      {"attention_causal",
       "attention",
       {values({2, 5, 6}, -2, 2), values({2, 5, 6}, -2, 2), values({2, 5, 6})},
       heads(2, true)},
      {"attention_cross", "attention", {values({2, 3, 4}), values({2, 7, 4}), values({2, 7, 4})}, heads(2, false)},
  };
}

}  // namespace loom::cases
