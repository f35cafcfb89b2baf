// lstm_gradient: back through time (Werbos, 1990). With dh = dy_t + what came back from t + 1, and dc likewise:
//   do = dh tanh(c), dc += dh o (1 - tanh(c)^2), di = dc g, dg = dc i, df = dc c_(t-1); dc_(t-1) = dc f
//   da = (di i (1 - i), df f (1 - f), dg (1 - g^2), do o (1 - o)); dx = W^T da, dh_(t-1) = U^T da, dW += da x^T, dU +=
//   da h_(t-1)^T, db += da
#include "engine/ops/recurrent.h"

namespace loom {
namespace lstm_gradient_op {

constexpr std::int64_t kGates = 4, kState = 5;

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes&) {
  const ops::RecurrentExtents e = ops::recurrentExtents(inputs[0], inputs[1], inputs[2], kGates);
  ops::needShape("y", inputs[3], {e.batch, e.time, e.hidden});
  ops::needShape("the state", inputs[4], {e.batch, e.time, kState * e.hidden});
  ops::needShape("dy", inputs[5], {e.batch, e.time, e.hidden});
  for (std::size_t i : {6u, 7u})
    if (inputs[i].present) ops::needShape(i == 6 ? "h0" : "c0", inputs[i], {e.batch, e.hidden});
  const TensorSpec initial = ops::f32({e.batch, e.hidden});
  return {ops::f32(inputs[0].shape),
          ops::f32(inputs[1].shape),
          ops::f32(inputs[2].shape),
          ops::f32({kGates * e.hidden}),
          initial,
          initial};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const std::int64_t batch = inputs[0]->shape[0], time = inputs[0]->shape[1], channels = inputs[0]->shape[2],
                     hidden = inputs[2]->shape[1];
  const double *wInput = inputs[1]->values.data(), *wHidden = inputs[2]->values.data();
  const std::vector<double> zeros(static_cast<std::size_t>(hidden), 0.0);
  for (std::int64_t n = 0; n < batch; ++n) {
    const double* h0 = inputs[6] ? inputs[6]->values.data() + n * hidden : zeros.data();
    const double* c0 = inputs[7] ? inputs[7]->values.data() + n * hidden : zeros.data();
    std::vector<double> dh = zeros, dc = zeros, da(static_cast<std::size_t>(kGates * hidden));
    for (std::int64_t step = time; step-- > 0;) {
      const std::int64_t row = n * time + ops::timeAt(step, time, attributes);
      const std::int64_t earlier = n * time + ops::timeAt(step - 1, time, attributes);
      const double* state = inputs[4]->values.data() + row * kState * hidden;
      const double* cBefore = step > 0 ? inputs[4]->values.data() + earlier * kState * hidden + 4 * hidden : c0;
      const double* hBefore = step > 0 ? inputs[3]->values.data() + earlier * hidden : h0;
      for (std::int64_t j = 0; j < hidden; ++j) {
        const auto u = static_cast<std::size_t>(j), H = static_cast<std::size_t>(hidden);
        const double i = state[j], f = state[hidden + j], g = state[2 * hidden + j], o = state[3 * hidden + j];
        const double tanhC = std::tanh(state[4 * hidden + j]);
        const double dhHere = dh[u] + inputs[5]->values[static_cast<std::size_t>(row * hidden + j)];
        const double dcHere = dc[u] + dhHere * o * (1 - tanhC * tanhC);
        da[u] = dcHere * g * i * (1 - i);
        da[H + u] = dcHere * cBefore[j] * f * (1 - f);
        da[2 * H + u] = dcHere * i * (1 - g * g);
        da[3 * H + u] = dhHere * tanhC * o * (1 - o);
        dc[u] = dcHere * f;
      }
      std::fill(dh.begin(), dh.end(), 0.0);
      ops::addTransposedProduct(wHidden, da.data(), dh.data(), kGates * hidden, hidden);
      ops::addTransposedProduct(wInput, da.data(), outputs[0].values.data() + row * channels, kGates * hidden,
                                channels);
      ops::addOuterProduct(da.data(), inputs[0]->values.data() + row * channels, outputs[1].values.data(),
                           kGates * hidden, channels);
      ops::addOuterProduct(da.data(), hBefore, outputs[2].values.data(), kGates * hidden, hidden);
      for (std::size_t j = 0; j < da.size(); ++j) outputs[3].values[j] += da[j];
    }
    std::copy(dh.begin(), dh.end(), outputs[4].values.begin() + n * hidden);
    std::copy(dc.begin(), dc.end(), outputs[5].values.begin() + n * hidden);
  }
}

double multiplyAdds(ops::Specs inputs, ops::Specs, const Attributes&) {
  return 2 * ops::recurrentMultiplyAdds(ops::recurrentExtents(inputs[0], inputs[1], inputs[2], kGates), kGates);
}

}  // namespace lstm_gradient_op

const OpDefinition& defineLstmGradientOp() {
  using namespace lstm_gradient_op;
  static const OpDefinition op{
      .name = "lstm_gradient",
      .infer = infer,
      .reference = reference,
      .multiplyAdds = multiplyAdds,
      .signature = "x, w_input, w_hidden, y, state, dy, h0?, c0? -> dx, dw_input, dw_hidden, db, dh0, dc0"};
  return op;
}

}  // namespace loom
