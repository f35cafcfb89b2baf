#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/optimizers/rule.h"

namespace loom {
namespace lamb_rule {

constexpr int kLanes = 16;  // sums side by side: a fixed order that still fills the widest registers

struct Constants {
  float scale, decay, rate, beta1, take1, beta2, take2, correction1, correction2, epsilon;
};

// The direction of one element, for both passes.
inline __attribute__((always_inline)) float direction(float w, float m, float v, const Constants& c) {
  return c.correction1 * m / (std::sqrt(v) * c.correction2 + c.epsilon) + c.decay * w;
}

LOOM_VECTORISED void gather(const float* __restrict w, const float* __restrict g, float* __restrict m,
                            float* __restrict v, std::int64_t count, const Constants& given, double* weight,
                            double* towards) {
  const Constants c = given;
  const auto one = [&](std::int64_t i, int lane) __attribute__((always_inline)) {
    const float gradient = c.scale * g[i];
    m[i] = c.beta1 * m[i] + c.take1 * gradient;
    v[i] = c.beta2 * v[i] + c.take2 * gradient * gradient;
    const float u = direction(w[i], m[i], v[i], c);
    weight[lane] += static_cast<double>(w[i]) * w[i];
    towards[lane] += static_cast<double>(u) * u;
  };
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) one(i + lane, lane);
  for (; i < count; ++i) one(i, 0);
}

LOOM_VECTORISED void descend(float* __restrict w, const float* __restrict m, const float* __restrict v,
                             std::int64_t count, const Constants& given) {
  const Constants c = given;
  for (std::int64_t i = 0; i < count; ++i) w[i] -= c.rate * direction(w[i], m[i], v[i], c);
}

constexpr const char* kCorrected =
    "is LAMB with bias correction, lengths without bounds and gradients that are scaled to a norm of at most 1 first: "
    "write \"LAMB\" with \"bias_correction\": true and \"gamma_high\": 1e12, and \"clip_norm\": 1 in training";

class Lamb final : public Optimizer {
 public:
  explicit Lamb(const Values& values)
      : m_beta1(values.real("beta1")),
        m_beta2(values.real("beta2")),
        m_epsilon(values.real("epsilon")),
        m_low(values.real("gamma_low")),
        m_high(values.real("gamma_high")),
        m_corrected(values.boolean("bias_correction")),
        m_unscaled(unscaledOf(values)) {}

  std::span<const std::string> slots() const override {
    static const std::string names[] = {"m", "v"};
    return names;
  }
  std::span<const std::string> unscaled() const override { return m_unscaled; }
  bool measures() const override { return true; }

  UpdateSums measure(const UpdateRange& range, const UpdateScalars& scalars) const override {
    double weight[kLanes] = {}, towards[kLanes] = {};
    gather(range.weight, range.gradient, range.slots[0], range.slots[1], range.count, constants(scalars), weight,
           towards);
    UpdateSums sums;
    for (int lane = 0; lane < kLanes; ++lane) {
      sums.weight += weight[lane];
      sums.direction += towards[lane];
    }
    return sums;
  }

  double tensorScale(const UpdateSums& sums, const UpdateScalars&) const override {
    const double weight = std::clamp(std::sqrt(sums.weight), m_low, m_high), length = std::sqrt(sums.direction);
    return sums.weight == 0 || length <= m_epsilon ? 1 : weight / length;
  }

  void update(const UpdateRange& range, const UpdateScalars& scalars) const override {
    descend(range.weight, range.slots[0], range.slots[1], range.count, constants(scalars));
  }

 private:
  Constants constants(const UpdateScalars& scalars) const {
    const double steps = static_cast<double>(scalars.step);
    return {.scale = scalars.gradientScale,
            .decay = scalars.weightDecay,
            .rate = scalars.learningRate * scalars.tensorScale,
            .beta1 = static_cast<float>(m_beta1),
            .take1 = static_cast<float>(1 - m_beta1),
            .beta2 = static_cast<float>(m_beta2),
            .take2 = static_cast<float>(1 - m_beta2),
            .correction1 = m_corrected ? static_cast<float>(1 / (1 - std::pow(m_beta1, steps))) : 1,
            .correction2 = m_corrected ? static_cast<float>(1 / std::sqrt(1 - std::pow(m_beta2, steps))) : 1,
            .epsilon = static_cast<float>(m_epsilon)};
  }

  double m_beta1, m_beta2, m_epsilon, m_low, m_high;
  bool m_corrected;
  std::vector<std::string> m_unscaled;
};

}  // namespace lamb_rule

const OptimizerDefinition& defineLAMBOptimizer() {
  using namespace lamb_rule;
  static const OptimizerDefinition definition{
      .entry =
          {.id = "LAMB",
           .label = "LAMB",
           .relatives = {{"NVLAMB", kCorrected}, {"FusedLAMB", kCorrected}},
           .summary =
               "Adam whose step in each tensor is in proportion to the tensor's own size: for batches of thousands.",
           .help =
               "m ← β₁ m + (1 − β₁) g;  v ← β₂ v + (1 − β₂) g²\n"
               "u = m / (√v + ε) + weight_decay · w, with m / (1 − β₁ᵗ) and v / (1 − β₂ᵗ) in their places under bias "
               "correction\n"
               "w ← w − learning_rate · φ(‖w‖) / ‖u‖ · u, for each tensor, φ = ‖w‖ between the two bounds; the ratio "
               "is 1 "
               "where ‖w‖ = 0 or ‖u‖ ≤ ε\n"
               "You et al., arXiv 1904.00962, third version (no bias correction) and defaults of nnabla. apex, timm "
               "and "
               "TensorFlow correct the bias and bound nothing; DeepSpeed corrects the step's length only.",
           .fields = {learningRateField(0.001),
                      shareField("beta1", "β₁", "The share of the mean gradient that is kept from step to step.", 0.9),
                      shareField("beta2", "β₂", "The share of the mean squared gradient that is kept.", 0.999),
                      epsilonField(1e-6),
                      weightDecayField(0.01, "Added to the direction as weight_decay · w, beside the gradient's part."),
                      {.key = "bias_correction",
                       .label = "Bias correction",
                       .help = "Makes up for the zeros with which the means begin, as Adam does.",
                       .type = FieldType::boolean,
                       .defaultValue = false},
                      {.key = "gamma_low",
                       .label = "Least length",
                       .help = "A tensor counts at least as if it were so long.",
                       .type = FieldType::real,
                       .defaultValue = 0.0,
                       .hard = Range{0, 1e6}},
                      {.key = "gamma_high",
                       .label = "Greatest length",
                       .help = "A tensor counts at most as if it were so long.",
                       .type = FieldType::real,
                       .defaultValue = 10.0,
                       .hard = Range{1e-6, 1e12}},
                      unscaledField()}},
      .make = [](const Values& values) -> std::unique_ptr<Optimizer> {
        if (values.real("gamma_low") > values.real("gamma_high"))
          throwError(ErrorCode::badProject, "LAMB: the least length {} is above the greatest, {}",
                     values.real("gamma_low"), values.real("gamma_high"));
        if (values.boolean("bias_correction"))
          for (const char* key : {"beta1", "beta2"})
            if (values.real(key) == 1)
              throwError(ErrorCode::badProject,
                         "LAMB: {} is 1, and the bias correction divides by 1 - {} to the power of the step, which is "
                         "0 then: take a smaller one, or \"bias_correction\": false",
                         key, key);
        return std::make_unique<Lamb>(values);
      }};
  return definition;
}

}  // namespace loom
