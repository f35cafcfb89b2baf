#include <cmath>

#include "engine/optimizers/rule.h"

namespace loom {
namespace rmsprop_rule {

struct Constants {
  float scale, decay, rate, keep, take, epsilon, momentum;
};

LOOM_VECTORISED void descend(float* __restrict w, const float* __restrict g, float* __restrict v, std::int64_t count,
                             const Constants& given) {
  const Constants c = given;
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = c.scale * g[i] + c.decay * w[i];
    v[i] = c.keep * v[i] + c.take * gradient * gradient;
    w[i] -= c.rate * gradient / (std::sqrt(v[i]) + c.epsilon);
  }
}

LOOM_VECTORISED void descendWithMomentum(float* __restrict w, const float* __restrict g, float* __restrict v,
                                         float* __restrict b, std::int64_t count, const Constants& given) {
  const Constants c = given;
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = c.scale * g[i] + c.decay * w[i];
    v[i] = c.keep * v[i] + c.take * gradient * gradient;
    b[i] = c.momentum * b[i] + gradient / (std::sqrt(v[i]) + c.epsilon);
    w[i] -= c.rate * b[i];
  }
}

class RmsProp final : public Optimizer {
 public:
  explicit RmsProp(const Values& values)
      : m_keep(values.real("decay")), m_epsilon(values.real("epsilon")), m_momentum(values.real("momentum")) {}
  std::span<const std::string> slots() const override {
    static const std::string names[] = {"v", "momentum"};
    return {names, m_momentum > 0 ? std::size_t{2} : std::size_t{1}};
  }
  void update(const UpdateRange& range, const UpdateScalars& scalars) const override {
    const Constants constants{.scale = scalars.gradientScale,
                              .decay = scalars.weightDecay,
                              .rate = scalars.learningRate * scalars.tensorScale,
                              .keep = static_cast<float>(m_keep),
                              .take = static_cast<float>(1 - m_keep),
                              .epsilon = static_cast<float>(m_epsilon),
                              .momentum = static_cast<float>(m_momentum)};
    if (m_momentum > 0)
      descendWithMomentum(range.weight, range.gradient, range.slots[0], range.slots[1], range.count, constants);
    else
      descend(range.weight, range.gradient, range.slots[0], range.count, constants);
  }

 private:
  double m_keep, m_epsilon, m_momentum;
};

}  // namespace rmsprop_rule

const OptimizerDefinition& defineRMSpropOptimizer() {
  using namespace rmsprop_rule;
  static const OptimizerDefinition definition{
      .entry = {.id = "RMSprop",
                .label = "RMSprop",
                .summary = "Divides each gradient by the root of a running mean of its squares.",
                .help = "g ← g + weight_decay · w\nv ← decay · v + (1 − decay) g²\nb ← momentum · b + g / (√v + ε)\n"
                        "w ← w − learning_rate · b\n"
                        "Tieleman and Hinton, Coursera lecture 6.5, 2012, as PyTorch writes it: v begins at 0 and ε "
                        "stands outside of the "
                        "root (PyTorch calls decay alpha; nnabla's default for it is 0.9). TensorFlow puts ε inside "
                        "and begins at 1.",
                .fields = {learningRateField(0.01),
                           shareField("decay", "Decay", "Memory of the mean of the squared gradients.", 0.99),
                           epsilonField(1e-8),
                           shareField("momentum", "Momentum", "Gathers the divided gradients; 0 leaves it out.", 0),
                           weightDecayField(0, kCoupledDecay)}},
      .make = [](const Values& values) -> std::unique_ptr<Optimizer> { return std::make_unique<RmsProp>(values); }};
  return definition;
}

}  // namespace loom
