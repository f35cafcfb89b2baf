// Sharpness-aware minimisation: the gradient is taken where the loss within a small ball is about highest.
#include <cmath>
#include <utility>

#include "engine/training/methods/method.h"

namespace loom {
namespace {

class Sam final : public UpdateMethod {
 public:
  Sam(const Values& values, const MethodWeights& weights)
      : m_radius(values.real("sam_radius")), m_adaptive(values.boolean("sam_adaptive")), m_weights(weights) {}

  // The norm is over all weights, summed in double and in their order.
  bool again() override {
    double sum = 0;
    for (const std::string& name : m_weights.names) {
      const ParameterStore::Entry& entry = m_weights.store.at(name);
      const SeenTensor weight(entry.value), gradient(entry.gradient);
      for (std::size_t i = 0; i < (*gradient).size(); ++i) {
        const double part = m_adaptive ? std::abs((*weight)[i]) * static_cast<double>((*gradient)[i]) : (*gradient)[i];
        sum += part * part;
      }
    }
    const double norm = std::sqrt(sum);
    if (!std::isfinite(norm) || norm == 0) return false;  // the update finds out, or there is no direction
    climb(m_radius / norm);
    return m_moved = true;
  }

  void gradientsDone() override {
    if (!std::exchange(m_moved, false)) return;
    for (std::size_t i = 0; i < m_kept.size(); ++i) m_weights.store.at(m_weights.names[i]).value.write(m_kept[i]);
  }

 private:
  void climb(double scale) {
    m_kept.resize(m_weights.names.size());
    const auto factor = static_cast<float>(scale);
    for (std::size_t t = 0; t < m_kept.size(); ++t) {
      ParameterStore::Entry& entry = m_weights.store.at(m_weights.names[t]);
      m_kept[t].resize(static_cast<std::size_t>(entry.value.elements()));
      entry.value.read(m_kept[t]);
      const SeenTensor gradient(entry.gradient);
      changeTensor(entry.value, [&](std::span<float> w) {
        const std::span<const float> g = *gradient;
        if (m_adaptive)
          for (std::size_t i = 0; i < w.size(); ++i) w[i] += factor * w[i] * w[i] * g[i];
        else
          for (std::size_t i = 0; i < w.size(); ++i) w[i] += factor * g[i];
      });
    }
  }

  double m_radius;
  bool m_adaptive;
  MethodWeights m_weights;
  std::vector<std::vector<float>> m_kept;  // the weights, while they are moved
  bool m_moved = false;
};

std::optional<MethodRefusal> refuse(const MethodCompany& company) {
  if (company.has("gradients", "delayed"))
    return MethodRefusal{
        "SAM takes a step's gradient where its own gradient leads, but delayed gradients come a step later; set "
        "gradients to synchronous, or perturbation to none",
        "gradients", "synchronous"};
  return std::nullopt;
}

}  // namespace

const MethodDefinition& defineSAMMethod() {
  static const MethodDefinition definition{
      .entry = {.id = "sam",
                .label = "SAM",
                .summary = "Where the loss nearby is highest: finds flat minima, at twice the work a step. Pays where "
                           "a network learns its training set by heart, and for very large batches.",
                .help = "e = ρ g / ‖g‖ over all weights, or with adaptive ρ w² g / ‖|w| g‖; the step applies the "
                        "gradient at w + e to w.\nForet et al. 2020; Kwon et al. 2021. Running statistics, loss and "
                        "metrics are those at w.",
                .fields = {{.key = "sam_radius",
                            .label = "Radius",
                            .help = "ρ, how far from the weights the gradient is taken: 0.05 is usual, with adaptive "
                                    "ten times as much and more.",
                            .type = FieldType::real,
                            .defaultValue = 0.05,
                            .hard = Range{0, 100},
                            .comfortable = Range{0.001, 2}},
                           {.key = "sam_adaptive",
                            .label = "Adaptive",
                            .help = "Each weight moves in proportion to its square, so that the radius means the same "
                                    "whatever the weights' scale.",
                            .type = FieldType::boolean,
                            .defaultValue = false}}},
      .place = MethodPlace::perturbation,
      .cost = [](const Json&) { return MethodCost{.copies = 1, .computes = 2}; },
      .refuse = refuse,
      .make = [](const Values& values, const MethodWeights& weights) -> std::unique_ptr<UpdateMethod> {
        return std::make_unique<Sam>(values, weights);
      }};
  return definition;
}

}  // namespace loom
