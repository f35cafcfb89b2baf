#include "engine/ops/pooling_geometry.h"

#include "engine/base/error.h"
#include "engine/ops/convolution_geometry.h"

namespace loom {

Shape PoolingGeometry::outputShape() const {
  std::vector<std::int64_t> extents{batch, channels};
  extents.insert(extents.end(), output.end() - spatialAxes, output.end());
  return Shape(std::move(extents));
}

PoolingGeometry poolingGeometry(const Shape& x, const Attributes& attributes) {
  if (x.rank() < 3 || x.rank() > 5)
    throwError(ErrorCode::badProject, "pooling takes N, channels and 1 to 3 spatial axes, but {} has {} axes",
               x.toString(), x.rank());
  PoolingGeometry g;
  g.spatialAxes = static_cast<int>(x.rank()) - 2;
  g.batch = x[0];
  g.channels = x[1];
  const auto axes = static_cast<std::size_t>(g.spatialAxes);
  const auto kernel = spatialAttribute(attributes, "kernel", axes, 1, 1),
             padding = spatialAttribute(attributes, "padding", 2 * axes, 0, 0);
  const auto strides = attributes.has("strides") ? spatialAttribute(attributes, "strides", axes, 1, 1) : kernel;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t axis = 3 - axes + i;
    g.input[axis] = x.extents()[2 + i];
    g.kernel[axis] = kernel[i];
    g.strides[axis] = strides[i];
    g.before[axis] = padding[i];
    g.after[axis] = padding[axes + i];
    const std::int64_t padded = g.input[axis] + g.before[axis] + g.after[axis];
    if (g.kernel[axis] > padded)
      throwError(ErrorCode::badProject,
                 "the window is {} on spatial axis {}, but the input is only {} there ({} with padding)", kernel[i], i,
                 g.input[axis], padded);
    if (const std::int64_t most = std::max(g.before[axis], g.after[axis]); most >= g.kernel[axis])
      throwError(ErrorCode::badProject,
                 "the padding {} on spatial axis {} must be smaller than the window, which is {}", most, i, kernel[i]);
    g.output[axis] = (padded - g.kernel[axis]) / g.strides[axis] + 1;
  }
  return g;
}

Shape poolingInputShape(const Shape& dy, const Attributes& attributes) {
  if (dy.rank() < 3)
    throwError(ErrorCode::badProject, "the gradient {} of a pooling has no spatial axis", dy.toString());
  std::vector<std::int64_t> extents{dy[0], dy[1]};
  const auto spatial = spatialAttribute(attributes, "input_shape", dy.rank() - 2, 1, 1);
  extents.insert(extents.end(), spatial.begin(), spatial.end());
  return Shape(std::move(extents));
}

}  // namespace loom
