#include <algorithm>
#include <cmath>

#include "engine/optimizers/rule.h"

namespace loom {
namespace lars_rule {

constexpr int kLanes = 16;  // sums side by side: a fixed order that still fills the widest registers

LOOM_VECTORISED void addSquares(const float* w, const float* g, std::int64_t count, double* weight, double* gradient) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      weight[lane] += static_cast<double>(w[i + lane]) * w[i + lane];
      gradient[lane] += static_cast<double>(g[i + lane]) * g[i + lane];
    }
  }
  for (; i < count; ++i) {
    weight[0] += static_cast<double>(w[i]) * w[i];
    gradient[0] += static_cast<double>(g[i]) * g[i];
  }
}

// v = keep v + take (scale g + decay w); w -= rate v
LOOM_VECTORISED void descend(float* __restrict w, const float* __restrict g, float* __restrict v, std::int64_t count,
                             float scale, float decay, float keep, float take, float rate) {
  for (std::int64_t i = 0; i < count; ++i) {
    v[i] = keep * v[i] + take * (scale * g[i] + decay * w[i]);
    w[i] -= rate * v[i];
  }
}

class Lars final : public Optimizer {
 public:
  explicit Lars(const Values& values)
      : m_momentum(static_cast<float>(values.real("momentum"))),
        m_coefficient(values.real("coefficient")),
        m_epsilon(values.real("epsilon")),
        m_clip(values.boolean("trust_clip")),
        m_inside(values.text("rate_placement") == "inside"),
        m_unscaled(unscaledOf(values)) {}

  std::span<const std::string> slots() const override {
    static const std::string names[] = {"momentum"};
    return names;
  }
  std::span<const std::string> unscaled() const override { return m_unscaled; }
  bool measures() const override { return true; }

  UpdateSums measure(const UpdateRange& range, const UpdateScalars& scalars) const override {
    double weight[kLanes] = {}, gradient[kLanes] = {};
    addSquares(range.weight, range.gradient, range.count, weight, gradient);
    UpdateSums sums;
    for (int lane = 0; lane < kLanes; ++lane) {
      sums.weight += weight[lane];
      sums.direction += gradient[lane];
    }
    sums.direction *= static_cast<double>(scalars.gradientScale) * scalars.gradientScale;
    return sums;
  }

  double tensorScale(const UpdateSums& sums, const UpdateScalars& scalars) const override {
    const double weight = std::sqrt(sums.weight), gradient = std::sqrt(sums.direction);
    if (weight < m_epsilon || gradient == 0) return 1;  // a tensor of zeros must be able to leave zero
    double below = gradient + static_cast<double>(scalars.weightDecay) * weight;
    if (below < m_epsilon) below += m_epsilon;
    const double ratio = m_coefficient * weight / below;
    return m_clip ? std::min(ratio / scalars.learningRate, 1.0) : ratio;
  }

  void update(const UpdateRange& range, const UpdateScalars& scalars) const override {
    const float rate = scalars.learningRate;
    descend(range.weight, range.gradient, range.slots[0], range.count, scalars.gradientScale, scalars.weightDecay,
            m_momentum, m_inside ? rate * scalars.tensorScale : scalars.tensorScale, m_inside ? 1 : rate);
  }

 private:
  float m_momentum;
  double m_coefficient, m_epsilon;
  bool m_clip, m_inside;
  std::vector<std::string> m_unscaled;
};

}  // namespace lars_rule

const OptimizerDefinition& defineLARSOptimizer() {
  using namespace lars_rule;
  static const OptimizerDefinition definition{
      .entry = {.id = "LARS",
                .label = "LARS",
                .aliases = {"LayerwiseAdaptiveRateScaling"},
                .relatives = {{"LARC",
                               "is LARS whose ratio is clipped and whose rate stands outside of the buffer: write "
                               "\"LARS\" with \"trust_clip\": true and \"rate_placement\": \"outside\""}},
                .summary = "Momentum whose step in each tensor is in proportion to the tensor's own size: for batches "
                           "of thousands.",
                .help =
                    "λ = coefficient · ‖w‖ / (‖g‖ + weight_decay · ‖w‖), for each tensor; 1 where ‖w‖ < ε or ‖g‖ = 0\n"
                    "v ← momentum · v + learning_rate · λ · (g + weight_decay · w)\nw ← w − v\n"
                    "You, Gitman, Ginsburg, arXiv 1708.03888; arithmetic of nnabla (a denominator below ε "
                    "gains ε). "
                    "g is the averaged gradient of the whole batch before the decay is added. The coefficient makes steps "
                    "small, so learning rates are large: 1 for usual batches, 2 to 30 for those of thousands, with a "
                    "polynomial schedule of power 2 and a warm-up. timm keeps the learning rate outside of the buffer.",
                .fields =
                    {learningRateField(1, {0.05, 100}),
                     shareField("momentum", "Momentum", "The share of the buffer that is kept from step to step.", 0.9),
                     {.key = "coefficient",
                      .label = "Trust coefficient",
                      .help = "The length of a step as a share of the weights' length, at learning rate 1.",
                      .type = FieldType::real,
                      .defaultValue = 0.001,
                      .hard = Range{0, 1000},
                      .comfortable = Range{1e-4, 1}},
                     epsilonField(1e-6),
                     weightDecayField(0, "Added to the gradient as weight_decay · w, and to the denominator of λ."),
                     {.key = "trust_clip",
                      .label = "Clip the ratio",
                      .help = "λ · learning_rate never exceeds the learning rate (LARC): min(λ / learning_rate, 1) "
                              "takes λ's place.",
                      .type = FieldType::boolean,
                      .defaultValue = false},
                     {.key = "rate_placement",
                      .label = "Place of the rate",
                      .help = "Where the learning rate stands; it matters when it changes.",
                      .type = FieldType::choice,
                      .defaultValue = "inside",
                      .choices = {{"inside", "Inside the buffer", "As the paper and nnabla: a change is felt later."},
                                  {"outside", "Outside", "As PyTorch's momentum and timm: a change is felt at once."}}},
                     unscaledField()}},
      .make = [](const Values& values) -> std::unique_ptr<Optimizer> { return std::make_unique<Lars>(values); }};
  return definition;
}

}  // namespace loom
