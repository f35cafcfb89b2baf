// local_response_normalization (Krizhevsky et al., 2012, with alpha divided by the window as PyTorch and Caffe do),
// over channels:
//   d_c = k + alpha / size * sum over the window of c of x_j^2, y_c = x_c d_c^-beta
// The window of c is c - size / 2 ... c + (size - 1) / 2, rounded down, within the channels. Gradient:
//   dx_i = dy_i d_i^-beta - 2 alpha beta / size x_i sum over c with i in their window of dy_c x_c d_c^(-beta - 1)
#include <cmath>

#include "engine/ops/support.h"

namespace loom {
namespace local_response_normalization_op {

struct Window {
  std::int64_t size;
  double alpha, beta, k;
  std::int64_t first(std::int64_t c) const { return std::max<std::int64_t>(0, c - size / 2); }
  std::int64_t last(std::int64_t c, std::int64_t channels) const { return std::min(channels - 1, c + (size - 1) / 2); }
};

Window windowOf(const Attributes& attributes) {
  return {attributes.integer("size", 5), attributes.real("alpha", 1e-4), attributes.real("beta", 0.75),
          attributes.real("k", 1.0)};
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needRank("the input", inputs[0], 2, 8);
  if (windowOf(attributes).size < 1)
    throwError(ErrorCode::badProject, "the window holds {} channels, but needs at least 1", windowOf(attributes).size);
  return ops::likeFirst(inputs, attributes);
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {builder.add("local_response_normalization_gradient", {arguments.inputs[0], arguments.outputGradients[0]},
                      arguments.attributes)};
}

// Calls pixel(at), where at(c) is the index of channel c of one pixel.
template <class Pixel>
void forEachPixel(const ops::AxisView& view, const Pixel& pixel) {
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i)
      pixel([&, o, i](std::int64_t c) { return static_cast<std::size_t>((o * view.length + c) * view.inner + i); });
}

template <class At>
double denominator(const Window& window, const std::vector<double>& x, const At& at, std::int64_t c,
                   std::int64_t channels) {
  double sum = 0;
  for (std::int64_t j = window.first(c); j <= window.last(c, channels); ++j) sum += x[at(j)] * x[at(j)];
  return window.k + window.alpha / static_cast<double>(window.size) * sum;
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const Window window = windowOf(attributes);
  const ops::AxisView view = ops::viewAlong(inputs[0]->shape, 1);
  const std::vector<double>& x = inputs[0]->values;
  forEachPixel(view, [&](const auto& at) {
    for (std::int64_t c = 0; c < view.length; ++c)
      outputs[0].values[at(c)] = x[at(c)] * std::pow(denominator(window, x, at, c, view.length), -window.beta);
  });
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  ops::needSameShape("x", inputs[0], "dy", inputs[1]);
  return infer(inputs, attributes);
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const Window window = windowOf(attributes);
  const ops::AxisView view = ops::viewAlong(inputs[0]->shape, 1);
  const std::vector<double>&x = inputs[0]->values, &dy = inputs[1]->values;
  std::vector<double>& dx = outputs[0].values;
  forEachPixel(view, [&](const auto& at) {
    for (std::int64_t c = 0; c < view.length; ++c) {
      const double d = denominator(window, x, at, c, view.length);
      dx[at(c)] += dy[at(c)] * std::pow(d, -window.beta);
      const double factor = 2 * window.alpha * window.beta / static_cast<double>(window.size) * dy[at(c)] * x[at(c)] *
                            std::pow(d, -window.beta - 1);
      for (std::int64_t i = window.first(c); i <= window.last(c, view.length); ++i) dx[at(i)] -= factor * x[at(i)];
    }
  });
}

}  // namespace local_response_normalization_op

const OpDefinition& defineLocalResponseNormalizationOp() {
  using namespace local_response_normalization_op;
  static const OpDefinition op{.name = "local_response_normalization",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x -> y"};
  return op;
}

const OpDefinition& defineLocalResponseNormalizationGradientOp() {
  using namespace local_response_normalization_op;
  static const OpDefinition op{.name = "local_response_normalization_gradient",
                               .infer = inferGradient,
                               .reference = referenceGradient,
                               .signature = "x, dy -> dx"};
  return op;
}

}  // namespace loom
