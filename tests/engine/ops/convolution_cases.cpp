#include "tests/engine/ops/case_families.h"

namespace loom::cases {

std::vector<OpCase> convolutionCases() {
  const auto spatial = [](Integers strides, Integers padding, Integers dilation, std::int64_t groups) {
    return Attributes{{"strides", strides}, {"padding", padding}, {"dilation", dilation}, {"groups", groups}};
  };
  const auto widening = [&](Integers strides, Integers padding, Integers dilation, std::int64_t groups, Integers shape) {
    return spatial(strides, padding, dilation, groups).set("input_shape", shape);
  };
  return {
      {"convolution_plain", "convolution", {values({2, 3, 5, 7}), values({4, 3, 3, 3}), values({4})}, {}},
      {"convolution_same", "convolution", {values({2, 3, 5, 7}), values({4, 3, 3, 3}), values({4})}, spatial({1, 1}, {1, 1, 1, 1}, {1, 1}, 1)},
      {"convolution_without_bias", "convolution", {values({1, 2, 4, 4}), values({3, 2, 1, 1})}, {}},
      {"convolution_strides", "convolution", {values({2, 2, 9, 8}), values({3, 2, 3, 2}), values({3})}, spatial({2, 3}, {1, 0, 1, 1}, {1, 1}, 1)},
      {"convolution_asymmetric_padding", "convolution", {values({2, 2, 6, 5}), values({3, 2, 3, 3})}, spatial({2, 2}, {0, 2, 1, 0}, {1, 1}, 1)},
      {"convolution_unread_edge", "convolution", {values({1, 2, 7, 8}), values({2, 2, 2, 2})}, spatial({3, 3}, {0, 0, 0, 0}, {1, 1}, 1)},
      {"convolution_dilation", "convolution", {values({2, 2, 9, 11}), values({3, 2, 3, 3}), values({3})}, spatial({1, 2}, {2, 1, 0, 3}, {2, 3}, 1)},
      {"convolution_groups", "convolution", {values({2, 6, 5, 5}), values({9, 2, 3, 3}), values({9})}, spatial({1, 1}, {1, 1, 1, 1}, {1, 1}, 3)},
      {"convolution_depthwise", "convolution", {values({2, 5, 6, 5}), values({5, 1, 3, 3})}, spatial({2, 1}, {1, 1, 1, 1}, {1, 1}, 5)},
      {"convolution_wide_kernel", "convolution", {values({1, 2, 3, 3}), values({2, 2, 5, 5})}, spatial({1, 1}, {2, 2, 2, 2}, {1, 1}, 1)},
      {"convolution_1d", "convolution", {values({3, 4, 11}), values({6, 2, 4}), values({6})}, spatial({2}, {1, 2}, {2}, 2)},
      {"convolution_3d", "convolution", {values({1, 2, 4, 3, 5}), values({3, 2, 2, 3, 2}), values({3})}, spatial({1, 2, 2}, {1, 1, 0, 0, 1, 1}, {1, 1, 2}, 1)},
      {"convolution_channels_17", "convolution", {values({2, 17, 4, 4}), values({19, 17, 3, 3}), values({19})}, spatial({1, 1}, {1, 1, 1, 1}, {1, 1}, 1)},

      {"deconvolution_plain", "convolution_input_gradient", {values({2, 4, 3, 5}), values({4, 3, 3, 3}), values({3})}, widening({1, 1}, {0, 0, 0, 0}, {1, 1}, 1, {5, 7})},
      {"deconvolution_strides", "convolution_input_gradient", {values({2, 3, 4, 3}), values({3, 2, 3, 2}), values({2})}, widening({2, 3}, {1, 0, 1, 1}, {1, 1}, 1, {8, 8})},
      {"deconvolution_groups", "convolution_input_gradient", {values({1, 4, 3, 3}), values({4, 3, 2, 2})}, widening({2, 2}, {0, 0, 0, 0}, {1, 1}, 2, {6, 6})},
      {"deconvolution_1d_dilation", "convolution_input_gradient", {values({2, 3, 5}), values({3, 2, 3}), values({2})}, widening({1}, {1, 0}, {2}, 1, {8})},

      {"max_pooling_plain", "max_pooling", {values({2, 3, 6, 4})}, {{"kernel", Integers{2, 2}}, {"strides", Integers{2, 2}}, {"padding", Integers{0, 0, 0, 0}}}},
      {"max_pooling_overlap", "max_pooling", {values({2, 2, 7, 8})}, {{"kernel", Integers{3, 3}}, {"strides", Integers{2, 2}}, {"padding", Integers{1, 0, 1, 1}}}},
      {"max_pooling_negative_padded", "max_pooling", {values({1, 2, 5, 5}, -3, -1)}, {{"kernel", Integers{3, 3}}, {"strides", Integers{1, 2}}, {"padding", Integers{2, 2, 2, 2}}}},
      {"max_pooling_1d", "max_pooling", {values({2, 3, 9})}, {{"kernel", Integers{4}}, {"strides", Integers{3}}, {"padding", Integers{0, 2}}}},
      {"max_pooling_3d", "max_pooling", {values({1, 2, 4, 5, 3})}, {{"kernel", Integers{2, 2, 3}}, {"strides", Integers{2, 1, 1}}, {"padding", Integers{0, 0, 1, 0, 1, 1}}}},
      {"average_pooling_plain", "average_pooling", {values({2, 3, 6, 4})}, {{"kernel", Integers{2, 2}}, {"strides", Integers{2, 2}}, {"padding", Integers{0, 0, 0, 0}}, {"include_padding", false}}},
      {"average_pooling_excluding", "average_pooling", {values({2, 2, 7, 8})}, {{"kernel", Integers{3, 3}}, {"strides", Integers{2, 2}}, {"padding", Integers{1, 0, 1, 1}}, {"include_padding", false}}},
      {"average_pooling_including", "average_pooling", {values({2, 2, 7, 8})}, {{"kernel", Integers{3, 2}}, {"strides", Integers{2, 3}}, {"padding", Integers{1, 1, 2, 0}}, {"include_padding", true}}},
      {"average_pooling_global", "average_pooling", {values({3, 5, 4, 7})}, {{"kernel", Integers{4, 7}}, {"strides", Integers{1, 1}}, {"padding", Integers{0, 0, 0, 0}}, {"include_padding", false}}},
      {"average_pooling_1d", "average_pooling", {values({2, 3, 9})}, {{"kernel", Integers{4}}, {"strides", Integers{2}}, {"padding", Integers{1, 1}}, {"include_padding", false}}},
      {"average_pooling_gradient_alone", "average_pooling_gradient", {values({2, 2, 4, 4})}, {{"kernel", Integers{3, 3}}, {"strides", Integers{2, 2}}, {"padding", Integers{1, 0, 1, 1}}, {"include_padding", false}, {"input_shape", Integers{7, 8}}}},
  };
}

}  // namespace loom::cases
