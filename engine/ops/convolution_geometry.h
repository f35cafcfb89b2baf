#pragma once
// The extents of a convolution, read from shapes and attributes once: 1 or 2 spatial axes are padded in front to 3 with
// extent 1. Attributes (all with defaults): strides 1, padding 0 (before each axis, then after each), dilation 1,
// groups 1.
#include <array>
#include <cstdint>

#include "engine/program/attributes.h"
#include "engine/program/op.h"

namespace loom {

struct ConvolutionGeometry {
  using Three = std::array<std::int64_t, 3>;  // depth, height, width
  int spatialAxes = 2;
  std::int64_t batch = 0, inputChannels = 0, outputChannels = 0, groups = 1;
  Three input{1, 1, 1}, kernel{1, 1, 1}, output{1, 1, 1};
  Three strides{1, 1, 1}, dilation{1, 1, 1}, before{0, 0, 0}, after{0, 0, 0};

  std::int64_t inputsPerGroup() const { return inputChannels / groups; }
  std::int64_t outputsPerGroup() const { return outputChannels / groups; }
  Shape inputShape() const;
  Shape weightShape() const;
  Shape outputShape() const;
  double multiplyAdds() const;
};

// x: N x I x spatial, w: O x I/groups x kernel. Throws Error(badProject) with both numbers where they do not fit.
ConvolutionGeometry convolutionGeometry(const Shape& x, const Shape& w, const Attributes& attributes);

// Of the ops convolution, convolution_input_gradient and convolution_weight_gradient from their inputs.
ConvolutionGeometry geometryOfConvolution(std::span<const TensorSpec> inputs, const Attributes& attributes);
ConvolutionGeometry geometryOfInputGradient(std::span<const TensorSpec> inputs, const Attributes& attributes);
ConvolutionGeometry geometryOfWeightGradient(std::span<const TensorSpec> inputs, const Attributes& attributes);

// `count` integers of the attribute `key`; `otherwise` for each when it is absent. Throws when there are more or fewer,
// or one is below `least`.
std::vector<std::int64_t> spatialAttribute(const Attributes& attributes, const char* key, std::size_t count,
                                           std::int64_t otherwise, std::int64_t least);

}  // namespace loom
