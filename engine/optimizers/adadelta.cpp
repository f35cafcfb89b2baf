#include "engine/optimizers/rules/adadelta.h"

#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED void descend(const AdadeltaRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<AdadeltaRule>(c, range);
}

const OptimizerDefinition& defineAdadeltaOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "Adadelta",
                .label = "Adadelta",
                .summary = "Steps as long as the recent steps were: it needs no learning rate to begin with.",
                .help = "g ← g + weight_decay · w\nv ← ρ v + (1 − ρ) g²\nΔ = √(u + ε) / √(v + ε) · g;  "
                        "u ← ρ u + (1 − ρ) Δ²\nw ← w − learning_rate · Δ\n"
                        "It pays where nobody knows a rate: steps find their own length, slowly at first, for ε alone "
                        "begins them. Zeiler, arXiv 1212.5701, as PyTorch writes it.",
                .fields = {learningRateField(1, {1e-3, 10}),
                           shareField("decay", "Decay (ρ)", "The share of the mean squares that is kept.", 0.9),
                           {.key = "epsilon",
                            .label = "Epsilon",
                            .help = "Keeps the division finite and makes the first steps. It stands inside both roots.",
                            .type = FieldType::real,
                            .defaultValue = 1e-6,
                            .hard = Range{0, 1},
                            .comfortable = Range{1e-12, 1e-3}},
                           weightDecayField(0, kCoupledDecay)}},
      .make =
          [](const Values& values) {
            return makeOptimizer(AdadeltaRule{.keep = values.real("decay"), .epsilon = values.real("epsilon")},
                                 {"square_mean", "step_mean"});
          },
      .traits = {.rateScaling = RateScaling::squareRoot}};
  return definition;
}

}  // namespace loom
