#pragma once
// The windows of max and average pooling, read from a shape and attributes once: kernel, strides (the kernel when
// absent) and padding (before each axis, then after each; smaller than the kernel, so that no window lies in padding
// alone).
#include <array>
#include <cstdint>

#include "engine/program/attributes.h"
#include "engine/program/op.h"

namespace loom {

struct PoolingGeometry {
  using Three = std::array<std::int64_t, 3>;  // depth, height, width
  int spatialAxes = 2;
  std::int64_t batch = 0, channels = 0;
  Three input{1, 1, 1}, kernel{1, 1, 1}, output{1, 1, 1}, strides{1, 1, 1}, before{0, 0, 0}, after{0, 0, 0};

  Shape outputShape() const;
};

// x: N x C x 1 to 3 spatial axes. The output rounds down. Throws Error(badProject) with both numbers.
PoolingGeometry poolingGeometry(const Shape& x, const Attributes& attributes);
// N x C x the attribute `input_shape`: x of average_pooling_gradient, from dy.
Shape poolingInputShape(const Shape& dy, const Attributes& attributes);

// Calls open(index in y), then tap(index in x) for every element of the window that is no padding, then close(index in
// y, elements in it, elements with padding).
template <class Open, class Tap, class Close>
void forEachWindow(const PoolingGeometry& g, const Open& open, const Tap& tap, const Close& close) {
  const std::int64_t plane = g.input[0] * g.input[1] * g.input[2], whole = g.kernel[0] * g.kernel[1] * g.kernel[2];
  std::int64_t y = 0;
  for (std::int64_t map = 0; map < g.batch * g.channels; ++map)
    for (std::int64_t od = 0; od < g.output[0]; ++od)
      for (std::int64_t oh = 0; oh < g.output[1]; ++oh)
        for (std::int64_t ow = 0; ow < g.output[2]; ++ow, ++y) {
          open(y);
          std::int64_t inside = 0;
          for (std::int64_t kd = 0; kd < g.kernel[0]; ++kd)
            for (std::int64_t kh = 0; kh < g.kernel[1]; ++kh)
              for (std::int64_t kw = 0; kw < g.kernel[2]; ++kw) {
                const std::int64_t d = od * g.strides[0] - g.before[0] + kd, h = oh * g.strides[1] - g.before[1] + kh,
                                   w = ow * g.strides[2] - g.before[2] + kw;
                if (d < 0 || d >= g.input[0] || h < 0 || h >= g.input[1] || w < 0 || w >= g.input[2]) continue;
                ++inside;
                tap(map * plane + (d * g.input[1] + h) * g.input[2] + w);
              }
          close(y, inside, whole);
        }
}

}  // namespace loom
