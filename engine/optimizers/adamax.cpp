#include "engine/optimizers/rules/adamax.h"

#include "engine/optimizers/adam_family.h"
#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED void descend(const AdamaxRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<AdamaxRule>(c, range);
}

static std::vector<Field> adamaxFields() {
  std::vector<Field> fields = adamFields(weightDecayField(0, kCoupledDecay), 0.002);
  for (Field& field : fields)
    if (field.key == "epsilon") field.help = "Keeps the division finite. It is added to the gradient's size.";
  return fields;
}

const OptimizerDefinition& defineAdamaxOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "Adamax",
                .label = "Adamax",
                .summary = "Adam that divides by the largest recent gradient instead of the root of a mean square.",
                .help = "g ← g + weight_decay · w\nm ← β₁ m + (1 − β₁) g;  u ← max(β₂ u, |g| + ε)\n"
                        "w ← w − learning_rate / (1 − β₁ᵗ) · m / u\n"
                        "It pays where gradients are rare and large, as in embeddings: one of them cannot make a step "
                        "longer than the rate. Kingma and Ba, ICLR 2015, section 7.1, as PyTorch writes it.",
                .fields = adamaxFields()},
      .make =
          [](const Values& values) {
            return makeOptimizer(
                AdamaxRule{
                    .beta1 = values.real("beta1"), .beta2 = values.real("beta2"), .epsilon = values.real("epsilon")},
                {"m", "largest"});
          },
      .traits = {.rateScaling = RateScaling::squareRoot}};
  return definition;
}

}  // namespace loom
