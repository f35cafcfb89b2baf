#include "engine/optimizers/adam_family.h"

namespace loom {

const OptimizerDefinition& defineAdamWOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "AdamW",
                .label = "AdamW",
                .summary = "Adam whose weight decay does not pass through the gradient.",
                .help = "w ← w · (1 − learning_rate · weight_decay), and Adam's step without decay in the gradient:\n"
                        "m ← β₁ m + (1 − β₁) g;  v ← β₂ v + (1 − β₂) g²;  w ← w − learning_rate · m̂ / (√v̂ + ε)\n"
                        "Loshchilov and Hutter, ICLR 2019, as PyTorch writes it. nnabla's AdamW decays by "
                        "(learning_rate / its first value) · "
                        "weight_decay instead: at a rate of 0.001 that is a thousand times as much, so values must be "
                        "converted.",
                .fields = adamFields(
                    weightDecayField(0.01, "Each step multiplies the weights by 1 − learning_rate · weight_decay."))},
      .make = [](const Values& values) { return makeAdam(values, DecayPlace::weight); },
      .traits = {.rateScaling = RateScaling::squareRoot}};
  return definition;
}

}  // namespace loom
