#include "engine/optimizers/adam_rule.h"

#include <cmath>

namespace loom {
namespace {

struct Constants {
  float scale, coupledDecay, keepWeight, rate, beta1, take1, beta2, take2, inverseRoot, epsilon;
};

LOOM_VECTORISED void descend(float* __restrict w, const float* __restrict g, float* __restrict m, float* __restrict v,
                             std::int64_t count, const Constants& given) {
  const Constants c = given;
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = c.scale * g[i] + c.coupledDecay * w[i];
    m[i] = c.beta1 * m[i] + c.take1 * gradient;
    v[i] = c.beta2 * v[i] + c.take2 * gradient * gradient;
    w[i] = c.keepWeight * w[i] - c.rate * m[i] / (std::sqrt(v[i]) * c.inverseRoot + c.epsilon);
  }
}

class AdamRule final : public Optimizer {
 public:
  AdamRule(const Values& values, DecayPlace place)
      : m_beta1(values.real("beta1")),
        m_beta2(values.real("beta2")),
        m_epsilon(values.real("epsilon")),
        m_place(place) {}
  std::span<const std::string> slots() const override {
    static const std::string names[] = {"m", "v"};
    return names;
  }
  void update(const UpdateRange& range, const UpdateScalars& scalars) const override {
    const double steps = static_cast<double>(scalars.step);
    const double rate = static_cast<double>(scalars.learningRate) * scalars.tensorScale;
    const bool coupled = m_place == DecayPlace::gradient;
    descend(range.weight, range.gradient, range.slots[0], range.slots[1], range.count,
            {.scale = scalars.gradientScale,
             .coupledDecay = coupled ? scalars.weightDecay : 0,
             .keepWeight = coupled ? 1 : static_cast<float>(1 - rate * scalars.weightDecay),
             .rate = static_cast<float>(rate / (1 - std::pow(m_beta1, steps))),
             .beta1 = static_cast<float>(m_beta1),
             .take1 = static_cast<float>(1 - m_beta1),
             .beta2 = static_cast<float>(m_beta2),
             .take2 = static_cast<float>(1 - m_beta2),
             .inverseRoot = static_cast<float>(1 / std::sqrt(1 - std::pow(m_beta2, steps))),
             .epsilon = static_cast<float>(m_epsilon)});
  }

 private:
  double m_beta1, m_beta2, m_epsilon;
  DecayPlace m_place;
};

}  // namespace

std::unique_ptr<Optimizer> makeAdamRule(const Values& values, DecayPlace place) {
  return std::make_unique<AdamRule>(values, place);
}

std::vector<Field> adamFields(Field weightDecay) {
  // A beta of 1 would divide by zero in the bias correction.
  Field beta1 = shareField("beta1", "Beta 1", "Memory of the mean of the gradients.", 0.9);
  Field beta2 = shareField("beta2", "Beta 2", "Memory of the mean of their squares.", 0.999);
  beta1.hard = beta2.hard = Range{0, 0.9999999};
  return {learningRateField(0.001), beta1, beta2, epsilonField(1e-8), std::move(weightDecay)};
}

}  // namespace loom
