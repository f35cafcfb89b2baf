#include "engine/optimizers/adam_family.h"

namespace loom {

const OptimizerDefinition& defineAdamOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "Adam",
                .label = "Adam",
                .summary = "Steps of about the learning rate in every weight, whatever the size of its gradient.",
                .help = "g ← g + weight_decay · w\nm ← β₁ m + (1 − β₁) g;  v ← β₂ v + (1 − β₂) g²\n"
                        "w ← w − learning_rate · m̂ / (√v̂ + ε)  with  m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ)\n"
                        "Kingma and Ba, ICLR 2015, as PyTorch places ε: outside of the root, after the bias "
                        "correction. nnabla and "
                        "TensorFlow 1 add it to √v before the correction, which differs where gradients are small.",
                .fields = adamFields(weightDecayField(0, kCoupledDecay))},
      .make = [](const Values& values) { return makeAdam(values, DecayPlace::gradient); },
      .traits = {.rateScaling = RateScaling::squareRoot}};
  return definition;
}

}  // namespace loom
