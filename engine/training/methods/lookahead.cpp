// Lookahead: the rule explores with fast weights, and every few steps slow ones follow a part of the way.
#include "engine/training/methods/averages.h"

namespace loom {
namespace {

constexpr const char* kSlow = "slow";

class Lookahead final : public UpdateMethod {
 public:
  Lookahead(const Values& values, const MethodWeights& weights)
      : m_steps(values.integer("lookahead_steps")),
        m_share(static_cast<float>(values.real("lookahead_share"))),
        m_slot(methodSlot(kSlow, weights.update)),
        m_weights(weights) {
    for (const std::string& name : weights.names) weights.store.slot(name, m_slot);
  }

  void updated(const MethodProgress& progress) override {
    if (progress.updates % m_steps != 0) return;
    for (const std::string& name : m_weights.names) {
      ParameterStore::Entry& entry = m_weights.store.at(name);
      StoredTensor& slow = entry.slots.find(m_slot)->second;
      const SeenTensor fast(entry.value);
      changeTensor(slow, [&](std::span<float> s) {
        for (std::size_t i = 0; i < s.size(); ++i) s[i] += m_share * ((*fast)[i] - s[i]);
      });
      entry.value.copyFrom(slow);
    }
  }

  std::optional<EvaluatedFrom> evaluated() const override { return EvaluatedFrom{.slot = m_slot}; }

 private:
  std::int64_t m_steps;
  float m_share;
  std::string m_slot;
  MethodWeights m_weights;
};

}  // namespace

const MethodDefinition& defineLookaheadMethod() {
  static const MethodDefinition definition{
      .entry = {.id = "lookahead",
                .label = "Lookahead",
                .summary =
                    "Slow weights follow the rule's a part of the way, and are evaluated: calms a rule whose rate is "
                    "high, for a number a weight.",
                .help = "Every k updates slow ← slow + α (fast − slow), then fast ← slow. Zhang et al. 2019. What is "
                        "evaluated and left are the slow weights; the rule's own state goes on.",
                .fields = {{.key = "lookahead_steps",
                            .label = "Every",
                            .help = "k: updates between two steps of the slow weights.",
                            .type = FieldType::integer,
                            .defaultValue = 5,
                            .hard = Range{1, 1e6},
                            .comfortable = Range{2, 100},
                            .unit = "steps"},
                           {.key = "lookahead_share",
                            .label = "Share",
                            .help = "α: how much of the way they go.",
                            .type = FieldType::real,
                            .defaultValue = 0.5,
                            .hard = Range{0.001, 1},
                            .comfortable = Range{0.1, 0.9}}}},
      .place = MethodPlace::afterwards,
      .slots = {kSlow},
      .keeps = "Lookahead's slow weights",
      .slotsBeginAsWeights = true,
      .cost = [](const Json&) { return MethodCost{.slots = 1}; },
      .refuse =
          [](const MethodCompany& company) {
            return refuseSecondAverage(company, "Lookahead evaluates its slow weights");
          },
      .make = [](const Values& values, const MethodWeights& weights) -> std::unique_ptr<UpdateMethod> {
        return std::make_unique<Lookahead>(values, weights);
      }};
  return definition;
}

}  // namespace loom
