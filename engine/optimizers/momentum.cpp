#include "engine/optimizers/rule.h"

namespace loom {
namespace momentum_rule {

LOOM_VECTORISED void descend(float* __restrict w, const float* __restrict g, float* __restrict b, std::int64_t count,
                             float scale, float decay, float rate, float keep, float take) {
  for (std::int64_t i = 0; i < count; ++i) {
    b[i] = keep * b[i] + take * (scale * g[i] + decay * w[i]);
    w[i] -= rate * b[i];
  }
}

class Momentum final : public Optimizer {
 public:
  explicit Momentum(const Values& values)
      : m_momentum(static_cast<float>(values.real("momentum"))),
        m_take(static_cast<float>(1 - values.real("dampening"))) {}
  std::span<const std::string> slots() const override {
    static const std::string names[] = {"momentum"};
    return names;
  }
  void update(const UpdateRange& range, const UpdateScalars& scalars) const override {
    const bool first = scalars.step == 1;  // the first buffer is a copy of the gradient, not (1 - dampening) of it
    descend(range.weight, range.gradient, range.slots[0], range.count, scalars.gradientScale, scalars.weightDecay,
            scalars.learningRate * scalars.tensorScale, first ? 0 : m_momentum, first ? 1 : m_take);
  }

 private:
  float m_momentum, m_take;
};

}  // namespace momentum_rule

const OptimizerDefinition& defineMomentumOptimizer() {
  using namespace momentum_rule;
  static const OptimizerDefinition definition{
      .entry = {.id = "Momentum",
                .label = "Momentum",
                .aliases = {"SGDMomentum", "HeavyBall"},
                .summary = "Gradient descent that gathers speed along directions on which the gradients agree.",
                .help = "g ← g + weight_decay · w\nb ← momentum · b + (1 − dampening) · g  (b = g at the first step)\n"
                        "w ← w − learning_rate · b\n"
                        "Polyak, 1964; the convention of PyTorch: the learning rate stands outside of the buffer. "
                        "nnabla, Chainer and Caffe "
                        "keep v = learning_rate · b instead, which is the same until the learning rate changes and "
                        "then reacts later.",
                .fields = {learningRateField(0.01),
                           shareField("momentum", "Momentum", "The share of the buffer that is kept from step to step.",
                                      0.9),
                           shareField("dampening", "Dampening", "Weakens what a new gradient adds to the buffer.", 0),
                           weightDecayField(0, kCoupledDecay)}},
      .make = [](const Values& values) -> std::unique_ptr<Optimizer> { return std::make_unique<Momentum>(values); }};
  return definition;
}

}  // namespace loom
