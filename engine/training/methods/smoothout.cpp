// SmoothOut: gradients at weights with noise, drawn anew for each shard, so that what is descended is the loss averaged
// over a neighbourhood.
#include <cmath>
#include <utility>

#include "engine/base/philox.h"
#include "engine/training/methods/method.h"

namespace loom {
namespace {

class SmoothOut final : public UpdateMethod {
 public:
  SmoothOut(const Values& values, const MethodWeights& weights)
      : m_radius(values.real("smoothout_radius")),
        m_scale(values.text("smoothout_scale")),
        m_fades(values.boolean("smoothout_fades")),
        m_alike(values.boolean("smoothout_alike")),
        m_weights(weights) {}

  void begin(std::int64_t step) override {
    m_step = step;
    m_logical = -1;
  }

  // Noise of a step is a function of (seed, weight, step, logical rank): the same however many processes share them.
  void beforeShard(int logicalRank) override {
    if (std::exchange(m_logical, logicalRank) == logicalRank) return;
    const bool first = !std::exchange(m_moved, true);
    m_kept.resize(m_weights.names.size());
    for (std::size_t t = 0; t < m_kept.size(); ++t) {
      ParameterStore::Entry& entry = m_weights.store.at(m_weights.names[t]);
      if (first) {
        m_kept[t].resize(static_cast<std::size_t>(entry.value.elements()));
        entry.value.read(m_kept[t]);
      }
      const std::vector<float>& kept = m_kept[t];
      draw(m_weights.names[t], kept.size());
      scale(kept, entry.parameter.shape);
      changeTensor(entry.value, [&](std::span<float> w) {
        for (std::size_t i = 0; i < w.size(); ++i) w[i] = kept[i] + m_noise[i];
      });
    }
  }

  void gradientsDone() override {
    if (!std::exchange(m_moved, false)) return;
    for (std::size_t t = 0; t < m_kept.size(); ++t) m_weights.store.at(m_weights.names[t]).value.write(m_kept[t]);
  }

 private:
  // Uniform in [-1, 1).
  void draw(const std::string& name, std::size_t count) {
    const Philox random(m_weights.seed, hashName("smoothout/" + name));
    const std::uint64_t high =
        static_cast<std::uint64_t>(m_step) << 20 | static_cast<std::uint64_t>(m_alike ? 0 : m_logical + 1);
    m_noise.resize(count);
    Philox::Block block{};
    for (std::size_t i = 0; i < count; ++i) {
      if (i % 4 == 0) block = random(i / 4, high);
      m_noise[i] = 2 * Philox::toUniform(block[i % 4]) - 1;
    }
  }

  void scale(const std::vector<float>& kept, const Shape& shape) {
    const double radius = m_radius * (m_fades ? std::pow(1 + static_cast<double>(m_step), -0.55 / 2) : 1);
    const auto factor = static_cast<float>(radius);
    if (m_scale == "filter") {  // of an output: the first axis; a vector is one
      const std::size_t filters = shape.rank() > 1 ? static_cast<std::size_t>(shape[0]) : 1,
                        size = kept.size() / filters;
      for (std::size_t f = 0; f < filters; ++f) scaleFilter(kept, f * size, size, radius);
      return;
    }
    for (std::size_t i = 0; i < kept.size(); ++i)
      m_noise[i] *= m_scale == "weight" ? factor * std::abs(kept[i]) : factor;
  }

  void scaleFilter(const std::vector<float>& kept, std::size_t first, std::size_t size, double radius) {
    double noise = 0, weights = 0;
    for (std::size_t i = first; i < first + size; ++i) {
      noise += static_cast<double>(m_noise[i]) * m_noise[i];
      weights += static_cast<double>(kept[i]) * kept[i];
    }
    const double length = std::sqrt(noise);
    const auto factor = static_cast<float>(length < 1e-6 ? 0 : radius * std::sqrt(weights) / length);
    for (std::size_t i = first; i < first + size; ++i) m_noise[i] *= factor;
  }

  double m_radius;
  std::string m_scale;
  bool m_fades, m_alike;
  MethodWeights m_weights;
  std::int64_t m_step = 0;
  int m_logical = -1;
  std::vector<std::vector<float>> m_kept;  // the weights, while they are moved
  std::vector<float> m_noise;              // of one tensor
  bool m_moved = false;
};

}  // namespace

const MethodDefinition& defineSmoothOutMethod() {
  static const MethodDefinition definition{
      .entry =
          {.id = "smoothout",
           .label = "SmoothOut",
           .summary = "With noise on the weights: descends the loss of a neighbourhood, which helps very large batches "
                      "(above 64K in Sony's runs) out of sharp minima, at no more than the noise's own cost.",
           .help = "w ← w + a · noise; gradient there; w restored; step with that gradient. Wen et al. 2018. Noise is "
                   "uniform in [−1, 1), drawn anew for each rank's part of a step.",
           .fields =
               {{.key = "smoothout_radius",
                 .label = "Radius",
                 .help = "a, how far the noise goes.",
                 .type = FieldType::real,
                 .defaultValue = 0.1,
                 .hard = Range{0, 100},
                 .comfortable = Range{0.0001, 1}},
                {.key = "smoothout_scale",
                 .label = "Noise goes by",
                 .help = "What the noise is measured by.",
                 .type = FieldType::choice,
                 .defaultValue = "filter",
                 .choices = {{"none", "Nothing", "The same for all weights."},
                             {"weight", "Each weight", "In proportion to each weight's magnitude."},
                             {"filter", "Each output", "As long as the weights of its output (AdaSmoothOut)."}}},
                {.key = "smoothout_fades",
                 .label = "Fades",
                 .help = "The noise grows smaller with the steps t, by (1 + t)^−0.275.",
                 .type = FieldType::boolean,
                 .defaultValue = false},
                {.key = "smoothout_alike",
                 .label = "Alike on all ranks",
                 .help = "All ranks have the same noise in a step; otherwise each its own, so that the step is a mean "
                         "over as many draws.",
                 .type = FieldType::boolean,
                 .defaultValue = false}}},
      .place = MethodPlace::perturbation,
      .cost = [](const Json&) { return MethodCost{.copies = 1}; },
      .make = [](const Values& values, const MethodWeights& weights) -> std::unique_ptr<UpdateMethod> {
        return std::make_unique<SmoothOut>(values, weights);
      }};
  return definition;
}

}  // namespace loom
