// lstm (Hochreiter and Schmidhuber, 1997, with forget gate), rows of weights and bias in the order i, f, g, o:
//   a = W x_t + U h_(t-1) + b, i = sigmoid(a_i), f = sigmoid(a_f), g = tanh(a_g), o = sigmoid(a_o)
//   c_t = f c_(t-1) + i g, h_t = o tanh(c_t), y_t = h_t; h and c begin at h0 and c0, or at 0. `reverse`: from the last
//   t to the first.
// `state` holds i, f, g, o, c of every t for the gradient.
#include "engine/ops/recurrent.h"

namespace loom {
namespace lstm_op {

constexpr std::int64_t kGates = 4, kState = 5;

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes&) {
  const ops::RecurrentExtents e = ops::recurrentExtents(inputs[0], inputs[1], inputs[2], kGates);
  if (inputs[3].present) ops::needShape("the bias", inputs[3], {kGates * e.hidden});
  if (inputs[4].present) ops::needShape("h0", inputs[4], {e.batch, e.hidden});
  if (inputs[5].present) ops::needShape("c0", inputs[5], {e.batch, e.hidden});
  return {ops::f32({e.batch, e.time, e.hidden}), ops::f32({e.batch, e.time, kState * e.hidden})};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const auto in = arguments.inputs;
  if (arguments.outputGradients[0] == kNoTensor) return ops::Gradients(6, kNoTensor);
  const auto gradients = builder.emit(
      "lstm_gradient",
      {in[0], in[1], in[2], arguments.outputs[0], arguments.outputs[1], arguments.outputGradients[0], in[4], in[5]},
      arguments.attributes);
  return {gradients[0], gradients[1], gradients[2], gradients[3], gradients[4], gradients[5]};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const std::int64_t batch = inputs[0]->shape[0], time = inputs[0]->shape[1], channels = inputs[0]->shape[2],
                     hidden = inputs[2]->shape[1];
  for (std::int64_t n = 0; n < batch; ++n) {
    std::vector<double> h(static_cast<std::size_t>(hidden), 0.0), c = h, a(static_cast<std::size_t>(kGates * hidden));
    if (inputs[4]) std::copy_n(inputs[4]->values.begin() + n * hidden, hidden, h.begin());
    if (inputs[5]) std::copy_n(inputs[5]->values.begin() + n * hidden, hidden, c.begin());
    for (std::int64_t step = 0; step < time; ++step) {
      const std::int64_t row = n * time + ops::timeAt(step, time, attributes);
      if (inputs[3])
        a = inputs[3]->values;
      else
        std::fill(a.begin(), a.end(), 0.0);
      ops::addProduct(inputs[1]->values.data(), inputs[0]->values.data() + row * channels, a.data(), kGates * hidden,
                      channels);
      ops::addProduct(inputs[2]->values.data(), h.data(), a.data(), kGates * hidden, hidden);
      double* state = outputs[1].values.data() + row * kState * hidden;
      for (std::int64_t j = 0; j < hidden; ++j) {
        const auto u = static_cast<std::size_t>(j), H = static_cast<std::size_t>(hidden);
        const double i = ops::sigmoid(a[u]), f = ops::sigmoid(a[H + u]), g = std::tanh(a[2 * H + u]),
                     o = ops::sigmoid(a[3 * H + u]);
        c[u] = f * c[u] + i * g;
        h[u] = o * std::tanh(c[u]);
        state[j] = i;
        state[hidden + j] = f;
        state[2 * hidden + j] = g;
        state[3 * hidden + j] = o;
        state[4 * hidden + j] = c[u];
      }
      std::copy(h.begin(), h.end(), outputs[0].values.begin() + row * hidden);
    }
  }
}

double multiplyAdds(ops::Specs inputs, ops::Specs, const Attributes&) {
  return ops::recurrentMultiplyAdds(ops::recurrentExtents(inputs[0], inputs[1], inputs[2], kGates), kGates);
}

}  // namespace lstm_op

const OpDefinition& defineLstmOp() {
  using namespace lstm_op;
  static const OpDefinition op{.name = "lstm",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .multiplyAdds = multiplyAdds,
                               .signature = "x, w_input, w_hidden, b?, h0?, c0? -> y, state"};
  return op;
}

}  // namespace loom
