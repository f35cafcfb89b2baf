#include "engine/optimizers/rules/nadam.h"

#include "engine/optimizers/adam_family.h"
#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED void descend(const NAdamRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<NAdamRule>(c, range);
}

static std::vector<Field> nadamFields() {
  std::vector<Field> fields = adamFields(weightDecayField(0, kDecayByPlace), 0.002);
  fields.push_back({.key = "momentum_decay",
                    .label = "Momentum decay",
                    .help = "How fast μ rises from half of β₁ to β₁: 0.004 takes some ten thousand steps; 0 leaves it "
                            "at the half.",
                    .type = FieldType::real,
                    .defaultValue = 0.004,
                    .hard = Range{0, 100},
                    .comfortable = Range{0, 1}});
  fields.push_back(decoupledField());
  return fields;
}

const OptimizerDefinition& defineNAdamOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "NAdam",
                .label = "NAdam",
                .relatives = {{"NadamW", "is NAdam with decoupled decay: write \"NAdam\" with \"decoupled\": true"}},
                .summary = "Adam with Nesterov's look ahead: the newest gradient counts at once.",
                .help =
                    "m ← β₁ m + (1 − β₁) g;  v ← β₂ v + (1 − β₂) g²;  μₜ = β₁ (1 − ½ · 0.96 ^ (t · ψ)),  "
                    "Pₜ = μ₁ ⋯ μₜ,  ψ the momentum decay\n"
                    "w ← w − learning_rate · ((1 − μₜ) / (1 − Pₜ) · g + μₜ₊₁ / (1 − Pₜ₊₁) · m) / (√v̂ + ε)\n"
                    "It pays in short runs and at large batches, where Adam's mean answers too late; with decoupled "
                    "decay (NadamW) it was AlgoPerf's strongest baseline. Dozat, ICLR workshop 2016, as PyTorch "
                    "writes it.",
                .fields = nadamFields()},
      .make =
          [](const Values& values) {
            return makeOptimizer(NAdamRule{.beta1 = values.real("beta1"),
                                           .beta2 = values.real("beta2"),
                                           .epsilon = values.real("epsilon"),
                                           .momentumDecay = values.real("momentum_decay"),
                                           .place = decayPlaceOf(values)},
                                 {"m", "v"});
          },
      .traits = {.rateScaling = RateScaling::squareRoot}};
  return definition;
}

}  // namespace loom
