#include "engine/optimizers/rules/momentum.h"

#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED void descend(const MomentumRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<MomentumRule>(c, range);
}

const OptimizerDefinition& defineMomentumOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "Momentum",
                .label = "Momentum",
                .aliases = {"SGDMomentum", "HeavyBall"},
                .summary = "Gradient descent that gathers speed along directions on which the gradients agree.",
                .help = "g ← g + weight_decay · w\nb ← momentum · b + (1 − dampening) · g  (b = g at the first step)\n"
                        "w ← w − learning_rate · b\n"
                        "Polyak, 1964; the convention of PyTorch: the learning rate stands outside of the buffer. "
                        "nnabla, Chainer and Caffe "
                        "keep v = learning_rate · b instead, which is the same until the learning rate changes and "
                        "then reacts later.",
                .fields = {learningRateField(0.01),
                           shareField("momentum", "Momentum", "The share of the buffer that is kept from step to step.",
                                      0.9),
                           shareField("dampening", "Dampening", "Weakens what a new gradient adds to the buffer.", 0),
                           weightDecayField(0, kCoupledDecay)}},
      .make = [](const Values& values) {
        return makeOptimizer(MomentumRule{.momentum = values.real("momentum"), .dampening = values.real("dampening")},
                             {"momentum"});
      }};
  return definition;
}

}  // namespace loom
