// gru (Cho et al., 2014, in the form of cuDNN and PyTorch), rows of weights and biases in the order r, z, n:
//   r = sigmoid(W_r x + b_r + U_r h + bh_r), z likewise, u = U_n h + bh_n, n = tanh(W_n x + b_n + r u)
//   h_t = (1 - z) n + z h_(t-1), y_t = h_t; h begins at 0. `reverse`: from the last t to the first.
// `state` holds r, z, n, u of every t. Gradient: with dh at t,
//   dn = dh (1 - z) (1 - n^2), dz = dh (h_(t-1) - n) z (1 - z), du = dn r, dr = dn u r (1 - r)
//   input side a = (dr, dz, dn), hidden side k = (dr, dz, du): dx = W^T a, dh_(t-1) = dh z + U^T k, dW += a x^T, dU +=
//   k h_(t-1)^T
#include "engine/ops/recurrent.h"

namespace loom {
namespace gru_op {

constexpr std::int64_t kGates = 3, kState = 4;

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes&) {
  const ops::RecurrentExtents e = ops::recurrentExtents(inputs[0], inputs[1], inputs[2], kGates);
  for (std::size_t i : {3u, 4u})
    if (inputs[i].present) ops::needShape(i == 3 ? "b" : "bh", inputs[i], {kGates * e.hidden});
  return {ops::f32({e.batch, e.time, e.hidden}), ops::f32({e.batch, e.time, kState * e.hidden})};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const auto in = arguments.inputs;
  if (arguments.outputGradients[0] == kNoTensor) return ops::Gradients(5, kNoTensor);
  const auto gradients = builder.emit(
      "gru_gradient", {in[0], in[1], in[2], arguments.outputs[0], arguments.outputs[1], arguments.outputGradients[0]},
      arguments.attributes);
  return {gradients[0], gradients[1], gradients[2], gradients[3], gradients[4]};
}

std::vector<double> vectorOr0(const ReferenceTensor* tensor, std::int64_t length) {
  return tensor ? tensor->values : std::vector<double>(static_cast<std::size_t>(length), 0.0);
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const std::int64_t batch = inputs[0]->shape[0], time = inputs[0]->shape[1], channels = inputs[0]->shape[2],
                     hidden = inputs[2]->shape[1];
  for (std::int64_t n = 0; n < batch; ++n) {
    std::vector<double> h(static_cast<std::size_t>(hidden), 0.0);
    for (std::int64_t step = 0; step < time; ++step) {
      const std::int64_t row = n * time + ops::timeAt(step, time, attributes);
      std::vector<double> a = vectorOr0(inputs[3], kGates * hidden), k = vectorOr0(inputs[4], kGates * hidden);
      ops::addProduct(inputs[1]->values.data(), inputs[0]->values.data() + row * channels, a.data(), kGates * hidden,
                      channels);
      ops::addProduct(inputs[2]->values.data(), h.data(), k.data(), kGates * hidden, hidden);
      double* state = outputs[1].values.data() + row * kState * hidden;
      for (std::int64_t j = 0; j < hidden; ++j) {
        const auto v = static_cast<std::size_t>(j), H = static_cast<std::size_t>(hidden);
        const double r = ops::sigmoid(a[v] + k[v]), z = ops::sigmoid(a[H + v] + k[H + v]), u = k[2 * H + v];
        const double candidate = std::tanh(a[2 * H + v] + r * u);
        h[v] = (1 - z) * candidate + z * h[v];
        state[j] = r;
        state[hidden + j] = z;
        state[2 * hidden + j] = candidate;
        state[3 * hidden + j] = u;
      }
      std::copy(h.begin(), h.end(), outputs[0].values.begin() + row * hidden);
    }
  }
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes&) {
  const ops::RecurrentExtents e = ops::recurrentExtents(inputs[0], inputs[1], inputs[2], kGates);
  ops::needShape("y", inputs[3], {e.batch, e.time, e.hidden});
  ops::needShape("the state", inputs[4], {e.batch, e.time, kState * e.hidden});
  ops::needShape("dy", inputs[5], {e.batch, e.time, e.hidden});
  const TensorSpec bias = ops::f32({kGates * e.hidden});
  return {ops::f32(inputs[0].shape), ops::f32(inputs[1].shape), ops::f32(inputs[2].shape), bias, bias};
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const std::int64_t batch = inputs[0]->shape[0], time = inputs[0]->shape[1], channels = inputs[0]->shape[2],
                     hidden = inputs[2]->shape[1];
  const std::vector<double> zeros(static_cast<std::size_t>(hidden), 0.0);
  for (std::int64_t n = 0; n < batch; ++n) {
    std::vector<double> dh = zeros, a(static_cast<std::size_t>(kGates * hidden)), k = a;
    for (std::int64_t step = time; step-- > 0;) {
      const std::int64_t row = n * time + ops::timeAt(step, time, attributes);
      const double* state = inputs[4]->values.data() + row * kState * hidden;
      const double* hBefore =
          step > 0 ? inputs[3]->values.data() + (n * time + ops::timeAt(step - 1, time, attributes)) * hidden
                   : zeros.data();
      for (std::int64_t j = 0; j < hidden; ++j) {
        const auto v = static_cast<std::size_t>(j), H = static_cast<std::size_t>(hidden);
        const double r = state[j], z = state[hidden + j], candidate = state[2 * hidden + j], u = state[3 * hidden + j];
        const double dhHere = dh[v] + inputs[5]->values[static_cast<std::size_t>(row * hidden + j)];
        const double dn = dhHere * (1 - z) * (1 - candidate * candidate);
        a[v] = k[v] = dn * u * r * (1 - r);
        a[H + v] = k[H + v] = dhHere * (hBefore[j] - candidate) * z * (1 - z);
        a[2 * H + v] = dn;
        k[2 * H + v] = dn * r;
        dh[v] = dhHere * z;
      }
      ops::addTransposedProduct(inputs[2]->values.data(), k.data(), dh.data(), kGates * hidden, hidden);
      ops::addTransposedProduct(inputs[1]->values.data(), a.data(), outputs[0].values.data() + row * channels,
                                kGates * hidden, channels);
      ops::addOuterProduct(a.data(), inputs[0]->values.data() + row * channels, outputs[1].values.data(),
                           kGates * hidden, channels);
      ops::addOuterProduct(k.data(), hBefore, outputs[2].values.data(), kGates * hidden, hidden);
      for (std::size_t j = 0; j < a.size(); ++j) {
        outputs[3].values[j] += a[j];
        outputs[4].values[j] += k[j];
      }
    }
  }
}

double multiplyAdds(ops::Specs inputs, ops::Specs, const Attributes&) {
  return ops::recurrentMultiplyAdds(ops::recurrentExtents(inputs[0], inputs[1], inputs[2], kGates), kGates);
}
double multiplyAddsOfGradient(ops::Specs inputs, ops::Specs outputs, const Attributes& attributes) {
  return 2 * multiplyAdds(inputs, outputs, attributes);
}

}  // namespace gru_op

const OpDefinition& defineGruOp() {
  using namespace gru_op;
  static const OpDefinition op{.name = "gru",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .multiplyAdds = multiplyAdds,
                               .signature = "x, w_input, w_hidden, b?, bh? -> y, state"};
  return op;
}

const OpDefinition& defineGruGradientOp() {
  using namespace gru_op;
  static const OpDefinition op{.name = "gru_gradient",
                               .infer = inferGradient,
                               .reference = referenceGradient,
                               .multiplyAdds = multiplyAddsOfGradient,
                               .signature = "x, w_input, w_hidden, y, state, dy -> dx, dw_input, dw_hidden, db, dbh"};
  return op;
}

}  // namespace loom
