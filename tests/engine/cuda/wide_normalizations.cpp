// Normalisations and poolings with packs of channels, several chunks of rows, tiles of channels, rows beyond registers.
#include "tests/engine/cuda/wide_cases.h"
#include "tests/engine/ops/case_families.h"

namespace loom::cases {
namespace {

OpCase batchNormalization(std::string name, Shape x, std::int64_t axis) {
  const Shape channels{axis < 0 ? x[-1] : x[static_cast<std::size_t>(axis)]};
  return {std::move(name),
          "batch_normalization",
          {values(std::move(x), -1, 3), values(channels, 0.5, 2), values(channels), state(channels),
           state(channels, 0.5, 2)},
          {{"epsilon", 1e-3}, {"momentum", 0.8}, {"axis", axis}}};
}

OpCase layerNormalization(std::string name, std::int64_t rows, std::int64_t length) {
  return {std::move(name),
          "layer_normalization",
          {values({rows, length}, -1, 3), values({length}, 0.5, 2), values({length})},
          {{"epsilon", 1e-3}, {"axes", std::int64_t{1}}}};
}

OpCase pooling(std::string name, const char* op, Shape x, Integers kernel, Integers strides, Integers padding) {
  return {std::move(name),
          op,
          {values(std::move(x))},
          {{"kernel", std::move(kernel)}, {"strides", std::move(strides)}, {"padding", std::move(padding)}}};
}

}  // namespace

std::vector<OpCase> wideNormalizations() {
  return {
      batchNormalization("wide_batch_normalization", {40, 8, 12, 12}, 1),
      batchNormalization("wide_batch_normalization_tiles", {9, 600}, 1),
      batchNormalization("wide_batch_normalization_odd_tiles", {7, 37, 3, 3}, 1),
      batchNormalization("wide_batch_normalization_many_chunks", {70000, 1}, 1),
      batchNormalization("wide_batch_normalization_last_axis", {9, 5, 24}, -1),
      layerNormalization("wide_layer_normalization_packs", 21, 48),
      layerNormalization("wide_layer_normalization_many_rows", 2100, 24),
      layerNormalization("wide_layer_normalization_block", 3, 1504),
      layerNormalization("wide_layer_normalization_odd_block", 3, 1501),
      layerNormalization("wide_layer_normalization_beyond_registers", 2, 9000),
      {"wide_local_response",
       "local_response_normalization",
       {values({2, 16, 9, 9})},
       {{"size", std::int64_t{5}}, {"alpha", 0.5}, {"beta", 0.75}, {"k", 1.0}}},
      pooling("wide_average_pooling", "average_pooling", {2, 16, 9, 9}, {3, 3}, {2, 2}, {1, 1, 1, 1}),
      pooling("wide_average_pooling_global", "average_pooling", {2, 32, 7, 7}, {7, 7}, {1, 1}, {0, 0, 0, 0}),
      pooling("wide_average_pooling_gaps", "average_pooling", {1, 8, 11, 11}, {2, 2}, {3, 4}, {0, 0, 0, 0}),
  };
}

}  // namespace loom::cases
