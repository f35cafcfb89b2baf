#include "tests/engine/cuda/wide_cases.h"

#include "tests/engine/ops/case_families.h"

namespace loom::cases {
namespace {

std::vector<OpCase> wideElementwise() {
  return {
      // More packs than a block has threads, and a rest.
      {"wide_unary", "unary", {values({3, 1023, 3}, -3, 3)}, {{"function", "gelu"}}},
      {"wide_scale_by", "scale_by", {values({130, 17}), values({})}, {}},
      {"wide_binary_row", "binary", {values({5, 3, 64}), values({1, 1, 64})}, {{"function", "subtract"}}},
      {"wide_binary_channel", "binary", {values({3, 5, 4, 8}), values({1, 5, 1, 1})}, {{"function", "multiply"}}},
      {"wide_binary_samples", "binary", {values({6, 3, 16}), values({6, 1, 16})}, {{"function", "maximum"}}},
      {"wide_binary_same", "binary", {values({5, 331}), values({5, 331})}, {{"function", "add"}}},
      {"wide_broadcast_rows", "broadcast", {values({3, 1, 16})}, {{"shape", Integers{3, 7, 16}}}},
      {"wide_broadcast_columns", "broadcast", {values({3, 5, 1})}, {{"shape", Integers{3, 5, 24}}}},
      {"wide_dropout",
       "dropout",
       {values({3, 6, 16}), step(), firstSample()},
       {{"probability", 0.3}, {"stream", std::int64_t{77}}, {"seed", std::int64_t{5}}}},
  };
}

std::vector<OpCase> wideShapes() {
  const auto part = [](std::int64_t channels) { return values({2, channels, 4, 4}); };
  return {
      {"wide_sum_all", "reduce", {values({20001})}, {{"function", "sum"}}},
      {"wide_mean_all_in_packs", "reduce", {values({5, 4096})}, {{"function", "mean"}}},
      {"wide_sum_rows", "reduce", {values({3, 20000})}, {{"function", "sum"}, {"axes", Integers{1}}}},
      {"wide_sum_many_rows", "reduce", {values({21, 48})}, {{"function", "sum"}, {"axes", Integers{1}}}},
      {"wide_sum_block_rows", "reduce", {values({3, 1500})}, {{"function", "mean"}, {"axes", Integers{1}}}},
      {"wide_sum_columns", "reduce", {values({5000, 24})}, {{"function", "sum"}, {"axes", Integers{0}}}},
      {"wide_sum_three_columns", "reduce", {values({3000, 3})}, {{"function", "sum"}, {"axes", Integers{0}}}},
      {"wide_sum_tiles", "reduce", {values({9, 600})}, {{"function", "mean"}, {"axes", Integers{0}}}},
      {"wide_sum_middle", "reduce", {values({4, 150, 16})}, {{"function", "sum"}, {"axes", Integers{1}}}},
      {"wide_sum_ends", "reduce", {values({30, 5, 4, 8})}, {{"function", "sum"}, {"axes", Integers{0, 2, 3}}}},
      {"wide_sum_to_row", "sum_to", {values({40, 3, 16})}, {{"shape", Integers{1, 3, 16}}}},
      {"wide_softmax", "softmax", {values({5, 64}, -3, 3)}, {{"axis", -1}}},
      {"wide_softmax_block", "softmax", {values({3, 1500}, -3, 3)}, {{"axis", -1}}},
      {"wide_softmax_channels", "softmax", {values({2, 40, 3, 3}, -3, 3)}, {{"axis", 1}}},
      {"wide_concatenate",
       "concatenate",
       {part(1), part(2), part(3), part(4), part(5), part(1), part(2), part(3), part(4), part(5)},
       {{"axis", 1}}},
      {"wide_slice", "slice", {values({3, 9, 16})}, {{"axis", 1}, {"start", 2}, {"length", 3}, {"step", 2}}},
      {"wide_slice_last", "slice", {values({3, 40})}, {{"axis", -1}, {"start", 8}, {"length", 16}, {"step", 1}}},
  };
}

std::vector<OpCase> wideRows() {
  return {
      {"wide_cross_entropy",
       "softmax_cross_entropy",
       {values({40, 10}, -3, 3), labels({40}, 10)},
       {{"smoothing", 0.1}, {"definition", std::string("pytorch")}}},
      {"wide_cross_entropy_block",
       "softmax_cross_entropy",
       {values({3, 1500}, -3, 3), labels({3}, 1500)},
       {{"smoothing", 0.1}, {"definition", std::string("sony")}}},
      {"wide_top_5", "top_k_accuracy", {values({3, 1500}), labels({3}, 1500)}, {{"k", 5}}},
      {"wide_mean_squared_error", "mean_squared_error", {values({70, 100}), values({70, 100})}, {}},
      // Two digits of eight bits, two tiles, whole packs; then rows that many places read, and one table row alone.
      {"wide_embedding", "embedding", {labels({3, 900}, 300), values({300, 16})}, {}},
      {"wide_embedding_often", "embedding", {labels({400}, 3), values({3, 24})}, {}},
      {"wide_embedding_often_odd", "embedding", {labels({400}, 3), values({3, 35})}, {}},
      {"wide_embedding_rows", "embedding", {labels({20}, 70000), values({70000, 1})}, {}},
      {"wide_embedding_one", "embedding", {labels({5}, 1), values({1, 8})}, {}},
  };
}

std::vector<OpCase> wideProducts() {
  return {
      // Sums in several chunks, of whole packs and of others; more columns than a block takes.
      {"wide_bias_gradient", "bias_gradient", {values({300, 40})}, {{"axis", -1}}},
      {"wide_bias_gradient_odd", "bias_gradient", {values({7, 33, 5, 6})}, {{"axis", 1}}},
      {"wide_bias_gradient_tiles", "bias_gradient", {values({70, 600})}, {{"axis", -1}}},
      {"wide_matmul", "matmul", {values({40, 72}), values({56, 72}), values({56})}, {{"transpose_b", true}}},
      {"wide_convolution", "convolution", {values({2, 16, 5, 4}), values({24, 16, 3, 3}), values({24})}, {}},
      // More keys than a warp has lanes.
      {"wide_attention",
       "attention",
       {values({4, 70, 16}, -2, 2), values({4, 70, 16}, -2, 2), values({4, 70, 16})},
       {{"heads", std::int64_t{2}}, {"causal", true}}},
      {"wide_attention_cross",
       "attention",
       {values({2, 9, 40}), values({2, 65, 40}), values({2, 65, 40})},
       {{"heads", std::int64_t{1}}, {"causal", false}}},
      // By tiles of several widths, whole and odd, and too wide for any; the last with scores that do not all stand at
      // once on a small device.
      {"wide_attention_64",
       "attention",
       {values({2, 70, 48}), values({2, 70, 48}), values({2, 70, 48})},
       {{"heads", std::int64_t{1}}, {"causal", true}}},
      {"wide_attention_128",
       "attention",
       {values({1, 70, 88}), values({1, 130, 88}), values({1, 130, 88})},
       {{"heads", std::int64_t{1}}, {"causal", false}}},
      {"wide_attention_128_odd",
       "attention",
       {values({1, 20, 75}), values({1, 20, 75}), values({1, 20, 75})},
       {{"heads", std::int64_t{1}}, {"causal", true}}},
      {"wide_attention_wider",
       "attention",
       {values({1, 5, 136}), values({1, 5, 136}), values({1, 5, 136})},
       {{"heads", std::int64_t{1}}, {"causal", false}}},
      {"wide_attention_wider_heads",
       "attention",
       {values({4, 65, 258}), values({4, 65, 258}), values({4, 65, 258})},
       {{"heads", std::int64_t{2}}, {"causal", true}}},
      // More units than a block has threads.
      {"wide_lstm", "lstm", {values({9, 3, 8}), values({160, 8}), values({160, 40}), values({160})}, {}},
      {"wide_gru", "gru", {values({9, 3, 8}), values({120, 8}), values({120, 40}), values({120}), values({120})}, {}},
  };
}

}  // namespace

std::vector<OpCase> wideCases() {
  std::vector<OpCase> cases;
  for (const auto& family : {wideElementwise(), wideShapes(), wideRows(), wideProducts(), wideNormalizations()})
    cases.insert(cases.end(), family.begin(), family.end());
  return cases;
}

}  // namespace loom::cases
