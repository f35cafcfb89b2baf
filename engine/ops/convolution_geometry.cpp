#include "engine/ops/convolution_geometry.h"

#include "engine/base/error.h"
#include "engine/ops/support.h"

namespace loom {
namespace {

Shape joined(std::int64_t first, std::int64_t second, const ConvolutionGeometry::Three& three, int axes) {
  std::vector<std::int64_t> extents{first, second};
  extents.insert(extents.end(), three.end() - axes, three.end());
  return Shape(std::move(extents));
}

void needChannels(const Shape& x, const Shape& w, const ConvolutionGeometry& g) {
  if (g.groups < 1) throwError(ErrorCode::badProject, "a convolution has at least 1 group, not {}", g.groups);
  if (g.inputChannels % g.groups != 0 || g.outputChannels % g.groups != 0)
    throwError(ErrorCode::badProject,
               "{} groups divide neither evenly: {} input channels and {} output channels must both be multiples",
               g.groups, g.inputChannels, g.outputChannels);
  if (w[1] != g.inputsPerGroup())
    throwError(ErrorCode::badProject, "the weight {} takes {} channels a group, but the input {} has {} in {} groups",
               w.toString(), w[1], x.toString(), g.inputsPerGroup(), g.groups);
}

}  // namespace

Shape ConvolutionGeometry::inputShape() const {
  return joined(batch, inputChannels, input, spatialAxes);
}
Shape ConvolutionGeometry::weightShape() const {
  return joined(outputChannels, inputsPerGroup(), kernel, spatialAxes);
}
Shape ConvolutionGeometry::outputShape() const {
  return joined(batch, outputChannels, output, spatialAxes);
}

double ConvolutionGeometry::multiplyAdds() const {
  double product =
      static_cast<double>(batch) * static_cast<double>(outputChannels) * static_cast<double>(inputsPerGroup());
  for (std::size_t axis = 0; axis < 3; ++axis)
    product *= static_cast<double>(output[axis]) * static_cast<double>(kernel[axis]);
  return product;
}

std::vector<std::int64_t> spatialAttribute(const Attributes& attributes, const char* key, std::size_t count,
                                           std::int64_t otherwise, std::int64_t least) {
  if (!attributes.has(key)) return std::vector<std::int64_t>(count, otherwise);
  const std::vector<std::int64_t>& values = attributes.integers(key);
  if (values.size() != count)
    throwError(ErrorCode::badProject, "'{}' has {} numbers, but {} are needed here", key, values.size(), count);
  for (std::int64_t value : values)
    if (value < least) throwError(ErrorCode::badProject, "'{}' holds {}, but must be at least {}", key, value, least);
  return values;
}

ConvolutionGeometry convolutionGeometry(const Shape& x, const Shape& w, const Attributes& attributes) {
  if (x.rank() < 3 || x.rank() > 5)
    throwError(ErrorCode::badProject,
               "a convolution's input has N, channels and 1 to 3 spatial axes, but {} has {} axes", x.toString(),
               x.rank());
  if (w.rank() != x.rank())
    throwError(ErrorCode::badProject, "the weight {} has {} axes, but the input {} needs {}", w.toString(), w.rank(),
               x.toString(), x.rank());
  ConvolutionGeometry g;
  g.spatialAxes = static_cast<int>(x.rank()) - 2;
  g.batch = x[0];
  g.inputChannels = x[1];
  g.outputChannels = w[0];
  g.groups = attributes.integer("groups", 1);
  needChannels(x, w, g);

  const auto axes = static_cast<std::size_t>(g.spatialAxes);
  const auto strides = spatialAttribute(attributes, "strides", axes, 1, 1),
             dilation = spatialAttribute(attributes, "dilation", axes, 1, 1);
  const auto padding = spatialAttribute(attributes, "padding", 2 * axes, 0, 0);
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t axis = 3 - axes + i;
    g.input[axis] = x.extents()[2 + i];
    g.kernel[axis] = w.extents()[2 + i];
    g.strides[axis] = strides[i];
    g.dilation[axis] = dilation[i];
    g.before[axis] = padding[i];
    g.after[axis] = padding[axes + i];
    if (g.kernel[axis] < 1)
      throwError(ErrorCode::badProject, "the kernel of {} has no extent on spatial axis {}", w.toString(), i);
    const std::int64_t reach = g.dilation[axis] * (g.kernel[axis] - 1) + 1,
                       padded = g.input[axis] + g.before[axis] + g.after[axis];
    if (reach > padded)
      throwError(ErrorCode::badProject,
                 "the kernel reaches over {} on spatial axis {}, but the input is only {} there ({} with padding)",
                 reach, i, g.input[axis], padded);
    g.output[axis] = (padded - reach) / g.strides[axis] + 1;
  }
  return g;
}

ConvolutionGeometry geometryOfConvolution(std::span<const TensorSpec> inputs, const Attributes& attributes) {
  return convolutionGeometry(inputs[0].shape, inputs[1].shape, attributes);
}

ConvolutionGeometry geometryOfInputGradient(std::span<const TensorSpec> inputs, const Attributes& attributes) {
  const Shape &dy = inputs[0].shape, &w = inputs[1].shape;
  if (dy.rank() < 3 || w.rank() != dy.rank())
    throwError(ErrorCode::badProject, "the gradient {} and the weight {} must have the same 3 to 5 axes", dy.toString(),
               w.toString());
  std::vector<std::int64_t> x{dy[0], w[1] * attributes.integer("groups", 1)};
  const auto spatial = spatialAttribute(attributes, "input_shape", dy.rank() - 2, 1, 1);
  x.insert(x.end(), spatial.begin(), spatial.end());
  const ConvolutionGeometry g = convolutionGeometry(Shape(std::move(x)), w, attributes);
  ops::needShape("the gradient of a convolution to " + g.inputShape().toString(), inputs[0], g.outputShape());
  return g;
}

ConvolutionGeometry geometryOfWeightGradient(std::span<const TensorSpec> inputs, const Attributes& attributes) {
  const ConvolutionGeometry g =
      convolutionGeometry(inputs[0].shape, Shape(attributes.integers("weight_shape")), attributes);
  ops::needShape("the gradient of the convolution's output", inputs[1], g.outputShape());
  return g;
}

}  // namespace loom
