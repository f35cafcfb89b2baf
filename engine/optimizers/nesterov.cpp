#include "engine/optimizers/rule.h"

namespace loom {
namespace nesterov_rule {

LOOM_VECTORISED void descend(float* __restrict w, const float* __restrict g, float* __restrict b, std::int64_t count,
                             float scale, float decay, float rate, float momentum) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = scale * g[i] + decay * w[i];
    b[i] = momentum * b[i] + gradient;
    w[i] -= rate * (gradient + momentum * b[i]);
  }
}

class Nesterov final : public Optimizer {
 public:
  explicit Nesterov(const Values& values) : m_momentum(static_cast<float>(values.real("momentum"))) {}
  std::span<const std::string> slots() const override {
    static const std::string names[] = {"momentum"};
    return names;
  }
  void update(const UpdateRange& range, const UpdateScalars& scalars) const override {
    descend(range.weight, range.gradient, range.slots[0], range.count, scalars.gradientScale, scalars.weightDecay,
            scalars.learningRate * scalars.tensorScale, m_momentum);
  }

 private:
  float m_momentum;
};

}  // namespace nesterov_rule

const OptimizerDefinition& defineNesterovOptimizer() {
  using namespace nesterov_rule;
  static const OptimizerDefinition definition{
      .entry = {.id = "Nesterov",
                .label = "Nesterov",
                .aliases = {"NAG", "NesterovMomentum"},
                .summary =
                    "Momentum that looks ahead: the gradient counts as if the buffer's next move were already made.",
                .help = "g ← g + weight_decay · w\nb ← momentum · b + g\nw ← w − learning_rate · (g + momentum · b)\n"
                        "Nesterov, 1983, in the form of Sutskever et al., ICML 2013, as PyTorch writes it: the "
                        "learning rate stands outside "
                        "of the buffer. nnabla agrees while the learning rate is constant.",
                .fields = {learningRateField(0.01),
                           shareField("momentum", "Momentum", "The share of the buffer that is kept from step to step.",
                                      0.9),
                           weightDecayField(0, kCoupledDecay)}},
      .make = [](const Values& values) -> std::unique_ptr<Optimizer> { return std::make_unique<Nesterov>(values); }};
  return definition;
}

}  // namespace loom
