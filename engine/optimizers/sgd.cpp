#include "engine/optimizers/rules/sgd.h"

#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED void descend(const SgdRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<SgdRule>(c, range);
}

const OptimizerDefinition& defineSGDOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "SGD",
                .label = "SGD",
                .aliases = {"Sgd", "GradientDescent", "StochasticGradientDescent"},
                .summary = "Plain gradient descent: a step against the gradient.",
                .help = "g ← g + weight_decay · w\nw ← w − learning_rate · g\n"
                        "Robbins and Monro, \"A stochastic approximation method\", 1951. The same as PyTorch's SGD "
                        "without momentum and as "
                        "nnabla's Sgd. It keeps no state.",
                .fields = {learningRateField(0.01), weightDecayField(0, kCoupledDecay)}},
      .make = [](const Values&) { return makeOptimizer(SgdRule{}, {}); }};
  return definition;
}

}  // namespace loom
