#include "engine/optimizers/rules/radam.h"

#include "engine/optimizers/adam_family.h"
#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED void descend(const RAdamRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<RAdamRule>(c, range);
}

static std::vector<Field> radamFields() {
  std::vector<Field> fields = adamFields(weightDecayField(0, kDecayByPlace));
  fields.push_back(decoupledField());
  return fields;
}

const OptimizerDefinition& defineRAdamOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "RAdam",
                .label = "RAdam",
                .aliases = {"RectifiedAdam"},
                .summary = "Adam that trusts its mean square only once it has seen enough gradients: a warm-up of its "
                           "own.",
                .help = "m ← β₁ m + (1 − β₁) g;  v ← β₂ v + (1 − β₂) g²;  R = 2 / (1 − β₂) − 1,  "
                        "r = R − 2 t β₂ᵗ / (1 − β₂ᵗ)\n"
                        "r > 5:  w ← w − learning_rate · m̂ · √((r−4)(r−2)R / ((R−4)(R−2)r)) · √(1 − β₂ᵗ) / (√v + ε)\n"
                        "else:  w ← w − learning_rate · m̂\n"
                        "It pays where Adam needs a warm-up and nobody wants to choose one; beside a warm-up it gains "
                        "nothing. Liu et al., ICLR 2020, as PyTorch writes it: ε stands before the bias correction.",
                .fields = radamFields()},
      .make =
          [](const Values& values) {
            return makeOptimizer(RAdamRule{.beta1 = values.real("beta1"),
                                           .beta2 = values.real("beta2"),
                                           .epsilon = values.real("epsilon"),
                                           .place = decayPlaceOf(values)},
                                 {"m", "v"});
          },
      .traits = {.rateScaling = RateScaling::squareRoot}};
  return definition;
}

}  // namespace loom
