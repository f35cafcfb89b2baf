// Stochastic weight averaging: the equal mean of the weights behind the last epochs.
#include <algorithm>
#include <cmath>

#include "engine/training/methods/averages.h"

namespace loom {
namespace {

constexpr const char* kMean = "mean";
constexpr double kWholeEpoch = 1e-9;  // tolerance for fractions of epochs that were added up

class Swa final : public UpdateMethod {
 public:
  Swa(const Values& values, const MethodWeights& weights)
      : m_every(values.real("swa_every")),
        m_next(std::max(values.real("swa_from") * weights.epochs, kWholeEpoch)),
        m_slot(methodSlot(kMean, weights.update)),
        m_weights(weights) {
    for (const std::string& name : weights.names) weights.store.slot(name, m_slot);
  }

  void updated(const MethodProgress& progress) override {
    if (progress.epoch + kWholeEpoch < m_next) return;
    while (m_next <= progress.epoch + kWholeEpoch) m_next += m_every;
    const float take = 1.0f / static_cast<float>(++m_taken);
    for (const std::string& name : m_weights.names) {
      ParameterStore::Entry& entry = m_weights.store.at(name);
      StoredTensor& mean = entry.slots.find(m_slot)->second;
      if (m_taken == 1) {
        mean.copyFrom(entry.value);
        continue;
      }
      const SeenTensor weight(entry.value);
      changeTensor(mean, [&](std::span<float> m) {
        for (std::size_t i = 0; i < m.size(); ++i) m[i] += take * ((*weight)[i] - m[i]);
      });
    }
  }

  // Before the first is taken, the weights themselves.
  std::optional<EvaluatedFrom> evaluated() const override {
    return m_taken > 0 ? std::optional(EvaluatedFrom{.slot = m_slot}) : std::nullopt;
  }

  // Where the next is due follows from the settings until the first was taken.
  Json state() const override { return m_taken > 0 ? Json{{"taken", m_taken}, {"next", m_next}} : Json(); }
  void restore(const Json& state) override {
    m_taken = state.at("taken").get<std::int64_t>();
    m_next = state.at("next").get<double>();
  }

 private:
  double m_every, m_next;
  std::int64_t m_taken = 0;
  std::string m_slot;
  MethodWeights m_weights;
};

}  // namespace

const MethodDefinition& defineSWAMethod() {
  static const MethodDefinition definition{
      .entry = {.id = "swa",
                .label = "SWA",
                .summary = "The mean of the weights behind the last epochs is evaluated: half a point and more where "
                           "the rate stays up at the end, for a number a weight.",
                .help = "w̄ = the equal mean of the weights at the end of each epoch from a share of the run on. "
                        "Izmailov et al. 2018. Training takes no notice of it; batch statistics are taken anew for w̄. "
                        "It wants a rate that does not fall to nothing there.",
                .fields = {{.key = "swa_from",
                            .label = "From",
                            .help = "The share of the run behind which weights are taken into the mean.",
                            .type = FieldType::real,
                            .defaultValue = 0.75,
                            .hard = Range{0, 1},
                            .comfortable = Range{0.3, 0.95}},
                           {.key = "swa_every",
                            .label = "Every",
                            .help = "How often they are.",
                            .type = FieldType::real,
                            .defaultValue = 1,
                            .hard = Range{1e-6, 1e6},
                            .comfortable = Range{0.01, 10},
                            .unit = "epochs"}}},
      .place = MethodPlace::afterwards,
      .slots = {kMean},
      .keeps = "SWA's means of the weights",
      .cost = [](const Json&) { return MethodCost{.slots = 1}; },
      .refuse =
          [](const MethodCompany& company) {
            return refuseSecondAverage(company, "SWA evaluates the mean of the weights");
          },
      .make = [](const Values& values, const MethodWeights& weights) -> std::unique_ptr<UpdateMethod> {
        return std::make_unique<Swa>(values, weights);
      }};
  return definition;
}

}  // namespace loom
