#include "engine/optimizers/rule.h"

namespace loom {
namespace sgd_rule {

LOOM_VECTORISED void descend(float* __restrict w, const float* __restrict g, std::int64_t count, float scale,
                             float decay, float rate) {
  for (std::int64_t i = 0; i < count; ++i) w[i] -= rate * (scale * g[i] + decay * w[i]);
}

class Sgd final : public Optimizer {
 public:
  std::span<const std::string> slots() const override { return {}; }
  void update(const UpdateRange& range, const UpdateScalars& scalars) const override {
    descend(range.weight, range.gradient, range.count, scalars.gradientScale, scalars.weightDecay,
            scalars.learningRate * scalars.tensorScale);
  }
};

}  // namespace sgd_rule

const OptimizerDefinition& defineSGDOptimizer() {
  using namespace sgd_rule;
  static const OptimizerDefinition definition{
      .entry = {.id = "SGD",
                .label = "SGD",
                .aliases = {"Sgd", "GradientDescent", "StochasticGradientDescent"},
                .summary = "Plain gradient descent: a step against the gradient.",
                .help = "g ← g + weight_decay · w\nw ← w − learning_rate · g\n"
                        "Robbins and Monro, \"A stochastic approximation method\", 1951. The same as PyTorch's SGD "
                        "without momentum and as "
                        "nnabla's Sgd. It keeps no state.",
                .fields = {learningRateField(0.01), weightDecayField(0, kCoupledDecay)}},
      .make = [](const Values&) -> std::unique_ptr<Optimizer> { return std::make_unique<Sgd>(); }};
  return definition;
}

}  // namespace loom
