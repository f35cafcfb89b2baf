// convolution and its two gradients. With p = o * stride - before + k * dilation for each spatial axis (zero outside):
//   y[n, o, out] = b[o] + sum over i, k of x[n, i, p] w[o, i, k]      i over the inputs of o's group
// All three references are this one sum, written to a different place.
#include "engine/ops/convolution_geometry.h"
#include "engine/ops/support.h"

namespace loom {
namespace convolution_op {

// Calls tap(index in x, index in w, index in y) for every product of the sum.
template <class Tap>
void forEachTap(const ConvolutionGeometry& g, const Tap& tap) {
  const auto at = [](const ConvolutionGeometry::Three& extents, std::int64_t a, std::int64_t b, std::int64_t c) {
    return (a * extents[1] + b) * extents[2] + c;
  };
  const auto volume = [](const ConvolutionGeometry::Three& extents) { return extents[0] * extents[1] * extents[2]; };
  const auto from = [&](std::size_t axis, std::int64_t out, std::int64_t k) {
    return out * g.strides[axis] - g.before[axis] + k * g.dilation[axis];
  };
  const auto outside = [&](std::size_t axis, std::int64_t place) { return place < 0 || place >= g.input[axis]; };
  const std::int64_t columns = g.output[2], taps = g.kernel[2], width = g.input[2], stride = g.strides[2],
                     before = g.before[2], dilation = g.dilation[2];

  for (std::int64_t n = 0; n < g.batch; ++n)
    for (std::int64_t o = 0; o < g.outputChannels; ++o)
      for (std::int64_t i = 0; i < g.inputsPerGroup(); ++i) {
        const std::int64_t channel = o / g.outputsPerGroup() * g.inputsPerGroup() + i;
        const std::int64_t x = (n * g.inputChannels + channel) * volume(g.input);
        const std::int64_t w = (o * g.inputsPerGroup() + i) * volume(g.kernel);
        const std::int64_t y = (n * g.outputChannels + o) * volume(g.output);
        for (std::int64_t od = 0; od < g.output[0]; ++od)
          for (std::int64_t kd = 0; kd < g.kernel[0]; ++kd) {
            const std::int64_t d = from(0, od, kd);
            if (outside(0, d)) continue;
            for (std::int64_t oh = 0; oh < g.output[1]; ++oh)
              for (std::int64_t kh = 0; kh < g.kernel[1]; ++kh) {
                const std::int64_t h = from(1, oh, kh);
                if (outside(1, h)) continue;
                const std::int64_t rowX = x + at(g.input, d, h, 0), rowW = w + at(g.kernel, kd, kh, 0),
                                   rowY = y + at(g.output, od, oh, 0);
                for (std::int64_t ow = 0; ow < columns; ++ow)
                  for (std::int64_t kw = 0; kw < taps; ++kw) {
                    const std::int64_t column = ow * stride - before + kw * dilation;
                    if (column >= 0 && column < width) tap(rowX + column, rowW + kw, rowY + ow);
                  }
              }
          }
      }
}

void fillWithBias(ReferenceTensor& y, const ReferenceTensor* bias) {
  if (!bias) return;
  const ops::AxisView view = ops::viewAlong(y.shape, 1);
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t c = 0; c < view.length; ++c)
      for (std::int64_t i = 0; i < view.inner; ++i)
        y.values[static_cast<std::size_t>((o * view.length + c) * view.inner + i)] =
            bias->values[static_cast<std::size_t>(c)];
}

TensorSpec specOf(const ReferenceTensor& tensor) {
  return ops::f32(tensor.shape);
}

void needFloats(ops::Specs inputs) {
  for (const TensorSpec& input : inputs)
    if (input.present) ops::needFloat("an input of a convolution", input);
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  needFloats(inputs);
  const ConvolutionGeometry g = geometryOfConvolution(inputs, attributes);
  if (inputs[2].present) ops::needShape("the bias", inputs[2], {g.outputChannels});
  return {ops::f32(g.outputShape())};
}

std::vector<TensorSpec> inferInputGradient(ops::Specs inputs, const Attributes& attributes) {
  needFloats(inputs);
  const ConvolutionGeometry g = geometryOfInputGradient(inputs, attributes);
  if (inputs[2].present) ops::needShape("the bias", inputs[2], {g.inputChannels});
  return {ops::f32(g.inputShape())};
}

std::vector<TensorSpec> inferWeightGradient(ops::Specs inputs, const Attributes& attributes) {
  needFloats(inputs);
  return {ops::f32(geometryOfWeightGradient(inputs, attributes).weightShape())};
}

Attributes with(Attributes attributes, const char* key, const Shape& shape, std::size_t from) {
  const std::vector<std::int64_t>& extents = shape.extents();
  return attributes.set(key,
                        std::vector<std::int64_t>(extents.begin() + static_cast<std::ptrdiff_t>(from), extents.end()));
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId x = arguments.inputs[0], w = arguments.inputs[1], dy = arguments.outputGradients[0];
  const Shape shapeX = builder.shape(x), shapeW = builder.shape(w);
  ops::Gradients gradients(3, kNoTensor);
  if (arguments.wanted[1])
    gradients[1] =
        builder.add("convolution_weight_gradient", {x, dy}, with(arguments.attributes, "weight_shape", shapeW, 0));
  if (arguments.wanted[2]) gradients[2] = builder.add("bias_gradient", {dy}, {{"axis", 1}});
  if (arguments.wanted[0])
    gradients[0] =
        builder.add("convolution_input_gradient", {dy, w}, with(arguments.attributes, "input_shape", shapeX, 2));
  return gradients;
}

// As the forward of Deconvolution: linear in the map it widens and in w, with the roles of input and output exchanged.
ops::Gradients gradientOfInputGradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId narrow = arguments.inputs[0], w = arguments.inputs[1], dwide = arguments.outputGradients[0];
  const Shape shapeW = builder.shape(w);
  ops::Gradients gradients(3, kNoTensor);
  if (arguments.wanted[0]) gradients[0] = builder.add("convolution", {dwide, w}, arguments.attributes);
  if (arguments.wanted[1])
    gradients[1] = builder.add("convolution_weight_gradient", {dwide, narrow},
                               with(arguments.attributes, "weight_shape", shapeW, 0));
  if (arguments.wanted[2]) gradients[2] = builder.add("bias_gradient", {dwide}, {{"axis", 1}});
  return gradients;
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  fillWithBias(outputs[0], inputs[2]);
  const double *x = inputs[0]->values.data(), *w = inputs[1]->values.data();
  double* y = outputs[0].values.data();
  forEachTap(convolutionGeometry(inputs[0]->shape, inputs[1]->shape, attributes),
             [&](std::int64_t ix, std::int64_t iw, std::int64_t iy) { y[iy] += x[ix] * w[iw]; });
}

void referenceInputGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  fillWithBias(outputs[0], inputs[2]);
  const double *dy = inputs[0]->values.data(), *w = inputs[1]->values.data();
  double* dx = outputs[0].values.data();
  forEachTap(convolutionGeometry(outputs[0].shape, inputs[1]->shape, attributes),
             [&](std::int64_t ix, std::int64_t iw, std::int64_t iy) { dx[ix] += dy[iy] * w[iw]; });
}

void referenceWeightGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const double *x = inputs[0]->values.data(), *dy = inputs[1]->values.data();
  double* dw = outputs[0].values.data();
  forEachTap(geometryOfWeightGradient(std::vector<TensorSpec>{specOf(*inputs[0]), specOf(*inputs[1])}, attributes),
             [&](std::int64_t ix, std::int64_t iw, std::int64_t iy) { dw[iw] += x[ix] * dy[iy]; });
}

double multiplyAdds(ops::Specs inputs, ops::Specs, const Attributes& attributes) {
  return geometryOfConvolution(inputs, attributes).multiplyAdds();
}
double multiplyAddsOfInputGradient(ops::Specs inputs, ops::Specs, const Attributes& attributes) {
  return geometryOfInputGradient(inputs, attributes).multiplyAdds();
}
double multiplyAddsOfWeightGradient(ops::Specs inputs, ops::Specs, const Attributes& attributes) {
  return geometryOfWeightGradient(inputs, attributes).multiplyAdds();
}

}  // namespace convolution_op

const OpDefinition& defineConvolutionOp() {
  using namespace convolution_op;
  static const OpDefinition op{.name = "convolution",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .multiplyAdds = multiplyAdds,
                               .signature = "x, w, b? -> y"};
  return op;
}

const OpDefinition& defineConvolutionInputGradientOp() {
  using namespace convolution_op;
  static const OpDefinition op{.name = "convolution_input_gradient",
                               .infer = inferInputGradient,
                               .gradient = gradientOfInputGradient,
                               .reference = referenceInputGradient,
                               .multiplyAdds = multiplyAddsOfInputGradient,
                               .signature = "dy, w, b? -> dx"};
  return op;
}

const OpDefinition& defineConvolutionWeightGradientOp() {
  using namespace convolution_op;
  static const OpDefinition op{.name = "convolution_weight_gradient",
                               .infer = inferWeightGradient,
                               .reference = referenceWeightGradient,
                               .multiplyAdds = multiplyAddsOfWeightGradient,
                               .signature = "x, dy -> dw"};
  return op;
}

}  // namespace loom
