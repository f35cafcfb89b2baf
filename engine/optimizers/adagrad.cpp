#include <cmath>

#include "engine/optimizers/rule.h"

namespace loom {
namespace adagrad_rule {

LOOM_VECTORISED void descend(float* __restrict w, const float* __restrict g, float* __restrict v, std::int64_t count,
                             float scale, float decay, float rate, float epsilon, float initial) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = scale * g[i] + decay * w[i];
    v[i] += initial + gradient * gradient;
    w[i] -= rate * gradient / (std::sqrt(v[i]) + epsilon);
  }
}

class Adagrad final : public Optimizer {
 public:
  explicit Adagrad(const Values& values)
      : m_epsilon(static_cast<float>(values.real("epsilon"))),
        m_initial(static_cast<float>(values.real("initial_sum"))) {}
  std::span<const std::string> slots() const override {
    static const std::string names[] = {"sum"};
    return names;
  }
  void update(const UpdateRange& range, const UpdateScalars& scalars) const override {
    descend(range.weight, range.gradient, range.slots[0], range.count, scalars.gradientScale, scalars.weightDecay,
            scalars.learningRate * scalars.tensorScale, m_epsilon, scalars.step == 1 ? m_initial : 0);
  }

 private:
  float m_epsilon, m_initial;
};

}  // namespace adagrad_rule

const OptimizerDefinition& defineAdagradOptimizer() {
  using namespace adagrad_rule;
  static const OptimizerDefinition definition{
      .entry = {.id = "Adagrad",
                .label = "Adagrad",
                .aliases = {"AdaGrad"},
                .summary = "Steps that shrink with all the gradients a weight has seen: rare features keep learning.",
                .help = "g ← g + weight_decay · w\ns ← s + g²\nw ← w − learning_rate · g / (√s + ε)\n"
                        "Duchi, Hazan and Singer, JMLR 2011, as PyTorch writes it: ε stands outside of the root.",
                .fields = {learningRateField(0.01), epsilonField(1e-10),
                           Field{.key = "initial_sum",
                                 .label = "Initial sum",
                                 .help = "What s begins with; more than 0 keeps the first steps small.",
                                 .type = FieldType::real,
                                 .defaultValue = 0.0,
                                 .hard = Range{0, 1e6},
                                 .comfortable = Range{0, 10}},
                           weightDecayField(0, kCoupledDecay)}},
      .make = [](const Values& values) -> std::unique_ptr<Optimizer> { return std::make_unique<Adagrad>(values); }};
  return definition;
}

}  // namespace loom
