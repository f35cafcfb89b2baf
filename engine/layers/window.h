#pragma once
// Kernels that slide over the spatial axes of a C x D1 x ... sample: convolution, deconvolution and pooling share how
// stride, padding and dilation are said, checked and counted. One, two or three spatial axes.
#include <vector>

#include "engine/layers/layer.h"

namespace loom {

enum class Dilation { none, field };

// kernel, stride, padding, pads and (where wanted) dilation. A null stride means that of the kernel.
std::vector<Field> windowFields(Json kernel, Json stride, const char* padding, Dilation dilation);

struct Window {
  std::vector<std::int64_t> kernel, stride, dilation;  // by spatial axis
  std::vector<std::int64_t> before, after;             // padding by spatial axis
  // As the ops' attribute: before..., after...
  std::vector<std::int64_t> padding() const;
  std::int64_t span(std::size_t axis) const { return dilation[axis] * (kernel[axis] - 1) + 1; }
};

// From the input's spatial extents. "same": ceil(in / stride) outputs, the odd pixel of padding goes after (as
// TensorFlow and ONNX's SAME_UPPER). Throws LayerError when the sample is no C x D1 x ... or a list has the wrong
// length.
Window slidingWindow(const Values& values, const Shape& sample, Dilation dilation);
// Extents after sliding: floor((in + before + after - span) / stride) + 1. Throws LayerError when the kernel does not
// fit.
std::vector<std::int64_t> slidOver(const Window& window, const Shape& sample);

// The other way round, for Deconvolution: the window whose sliding over the answered extents gives those of the sample.
// "same": in * stride; "valid": (in - 1) * stride + span; "explicit": that less the pads, plus output_padding.
struct SpreadWindow {
  Window window;
  std::vector<std::int64_t> extents;
};
SpreadWindow spreadingWindow(const Values& values, const Shape& sample);

}  // namespace loom
