#include "engine/optimizers/rules/rmsprop.h"

#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED void descend(const RmsPropRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<RmsPropRule>(c, range);
}
LOOM_VECTORISED void descend(const RmsPropMomentumRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<RmsPropMomentumRule>(c, range);
}

const OptimizerDefinition& defineRMSpropOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "RMSprop",
                .label = "RMSprop",
                .summary = "Divides each gradient by the root of a running mean of its squares.",
                .help = "g ← g + weight_decay · w\nv ← decay · v + (1 − decay) g²\nb ← momentum · b + g / (√v + ε)\n"
                        "w ← w − learning_rate · b\n"
                        "Tieleman and Hinton, Coursera lecture 6.5, 2012, as PyTorch writes it: v begins at 0 and ε "
                        "stands outside of the "
                        "root (PyTorch calls decay alpha; nnabla's default for it is 0.9). TensorFlow puts ε inside "
                        "and begins at 1.",
                .fields = {learningRateField(0.01),
                           shareField("decay", "Decay", "Memory of the mean of the squared gradients.", 0.99),
                           epsilonField(1e-8),
                           shareField("momentum", "Momentum", "Gathers the divided gradients; 0 leaves it out.", 0),
                           weightDecayField(0, kCoupledDecay)}},
      .make =
          [](const Values& values) {
            const double keep = values.real("decay"), epsilon = values.real("epsilon"),
                         momentum = values.real("momentum");
            return momentum > 0
                       ? makeOptimizer(RmsPropMomentumRule{.keep = keep, .epsilon = epsilon, .momentum = momentum},
                                       {"v", "momentum"})
                       : makeOptimizer(RmsPropRule{.keep = keep, .epsilon = epsilon}, {"v"});
          },
      .traits = {.rateScaling = RateScaling::squareRoot}};
  return definition;
}

}  // namespace loom
